// This process's mappings, read from the kernel without allocating.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::memory {

inline constexpr uintptr_t kPage = 4096;

/// A line of /proc/self/maps.
struct Mapping {
    uintptr_t begin = 0, end = 0;
    int protection = 0;   ///< PROT_*
    bool shared = false;  ///< MAP_SHARED
    bool named = false;   ///< a file, [heap], [stack], …
    uint64_t offset = 0;  ///< in the file
    uint64_t device = 0;  ///< as in stat()
    uint64_t inode = 0;
};

/// Goes through the mappings in the order of their addresses. Mappings may be changed meanwhile.
class OwnMaps {
  public:
    OwnMaps();
    ~OwnMaps();
    OwnMaps(const OwnMaps&) = delete;
    OwnMaps& operator=(const OwnMaps&) = delete;

    /// False at the end, and if the kernel does not tell.
    bool next(Mapping& out);

  private:
    int get();
    uint64_t number(unsigned base, int& stopped_at);

    int fd_;
    size_t used_ = 0, filled_ = 0;
    char buffer_[kPage];
};

}  // namespace simverbs::client::memory
