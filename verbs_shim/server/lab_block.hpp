// What a lab owns on this machine while it lives: a block of loopback addresses and a private folder.
#pragma once

#include <cstdint>
#include <string>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

/// Block L of 127.L.0.0/16 and a private folder, both locked by one file: when the owner dies, however it dies, the
/// lock is free, and the next lab of this user removes what was left.
class LabBlock {
  public:
    static constexpr uint32_t kFirst = 16;
    static constexpr uint32_t kLast = 254;

    /// Takes the first free block from `preferred` on (0: from 16). Throws std::runtime_error if all are taken or
    /// the folder cannot be made.
    explicit LabBlock(uint32_t preferred = 0);
    LabBlock(const LabBlock&) = delete;
    LabBlock& operator=(const LabBlock&) = delete;
    ~LabBlock();

    [[nodiscard]] uint32_t block() const noexcept { return block_; }
    /// Absolute and short enough for a socket address.
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
    /// Where all labs of this user keep their folders and locks.
    [[nodiscard]] static std::string base_folder();

  private:
    bool try_block(uint32_t block);

    UniqueFd lock_;
    uint32_t block_ = 0;
    std::string folder_;
    std::string lock_path_;
};

/// Where the libraries lie that programs of a host with GPUs see instead of NVIDIA's, given a file of the lab's folder
/// (its control socket). A link that exists for those hosts alone.
[[nodiscard]] inline std::string gpu_library_link(const std::string& file, const std::string& host) {
    return file.substr(0, file.rfind('/') + 1) + "gpus/" + host;
}

}  // namespace simverbs::server
