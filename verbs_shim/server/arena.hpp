// A process's arena: where its rings lie, and who uses which part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "verbs_shim/protocol/shared_layout.hpp"
#include "verbs_shim/server/lab_page.hpp"
#include "verbs_shim/server/range_allocator.hpp"

namespace simverbs::server {

/// The server's view of one ring. What the process writes into the header is never trusted: capacity and stride are
/// our copy.
struct Ring {
    protocol::RingHeader* header = nullptr;
    uint8_t* slots = nullptr;
    uint32_t capacity = 0;
    uint32_t stride = 0;
    uint64_t offset = 0;

    [[nodiscard]] bool valid() const noexcept { return header != nullptr; }
    [[nodiscard]] uint8_t* slot(uint32_t index) const noexcept {
        return slots + uint64_t{index & (capacity - 1)} * stride;
    }
    [[nodiscard]] protocol::RingRef ref() const noexcept { return {offset, capacity, stride}; }
};

class Arena {
  public:
    Arena();

    [[nodiscard]] int fd() const noexcept { return memory_.fd(); }
    [[nodiscard]] protocol::ArenaHeader& header() const noexcept { return *header_; }

    /// A ring of at least `entries` slots (rounded up to a power of two) of at least `bytes` each; nullopt if the
    /// arena is full.
    std::optional<Ring> allocate(uint64_t entries, uint64_t bytes);
    void release(const Ring& ring);

  private:
    SharedMemory memory_;
    protocol::ArenaHeader* header_;
    RangeAllocator free_;                ///< of what follows the header's pages
    std::map<uint64_t, uint64_t> used_;  ///< offset → bytes
};

}  // namespace simverbs::server
