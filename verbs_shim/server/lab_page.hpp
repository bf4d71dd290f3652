// The lab page and the arenas: shared memory between the server and the programs.
#pragma once

#include <cstdint>
#include <memory>

#include "verbs_shim/protocol/shared_layout.hpp"
#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

/// Anonymous shared memory, mapped here; the fd goes to the programs. Gone when the last holder closes it.
class SharedMemory {
  public:
    /// Throws std::runtime_error if there is no memory for it.
    SharedMemory(const char* name, uint64_t bytes);
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] uint8_t* data() const noexcept { return data_; }
    [[nodiscard]] uint64_t size() const noexcept { return size_; }

  private:
    UniqueFd fd_;
    uint8_t* data_ = nullptr;
    uint64_t size_ = 0;
};

/// The one LabShared of a lab.
class LabPage {
  public:
    LabPage();
    [[nodiscard]] protocol::LabShared& operator*() const noexcept { return *shared_; }
    [[nodiscard]] protocol::LabShared* operator->() const noexcept { return shared_; }
    [[nodiscard]] int fd() const noexcept { return memory_.fd(); }

  private:
    SharedMemory memory_;
    protocol::LabShared* shared_;
};

}  // namespace simverbs::server
