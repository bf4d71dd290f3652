#include "verbs_shim/server/arena.hpp"

#include <fcntl.h>

#include <bit>
#include <cstring>
#include <new>

namespace simverbs::server {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t page_up(uint64_t n) noexcept {
    return (n + kPage - 1) / kPage * kPage;
}
constexpr uint64_t kFirst = page_up(sizeof(protocol::ArenaHeader));
constexpr uint64_t kLargestStride = 65536;
constexpr uint64_t kMostSlots = 1U << 26;

}  // namespace

Arena::Arena()
    : memory_("simverbs-arena", protocol::kArenaBytes),
      header_(std::launder(reinterpret_cast<protocol::ArenaHeader*>(memory_.data()))),
      free_(protocol::kArenaBytes - kFirst, kPage) {}

std::optional<Ring> Arena::allocate(uint64_t entries, uint64_t bytes) {
    const uint64_t stride = (bytes + 15) / 16 * 16;
    if (entries > kMostSlots || stride > kLargestStride) return std::nullopt;
    const uint64_t capacity = std::bit_ceil(entries == 0 ? uint64_t{1} : entries);
    const uint64_t need = page_up(sizeof(protocol::RingHeader) + capacity * stride);
    const auto place = free_.take(need);
    if (!place) return std::nullopt;
    const uint64_t offset = kFirst + *place;
    used_[offset] = need;
    Ring ring;
    ring.header = std::launder(reinterpret_cast<protocol::RingHeader*>(memory_.data() + offset));
    ring.slots = memory_.data() + offset + sizeof(protocol::RingHeader);
    ring.capacity = static_cast<uint32_t>(capacity);
    ring.stride = static_cast<uint32_t>(stride);
    ring.offset = offset;
    ring.header->produced.store(0);
    ring.header->consumed.store(0);
    ring.header->state.store(0);
    ring.header->aux.store(0);
    ring.header->capacity = ring.capacity;
    ring.header->stride = ring.stride;
    return ring;
}

void Arena::release(const Ring& ring) {
    const auto it = used_.find(ring.offset);
    if (it == used_.end()) return;
    const auto [offset, bytes] = *it;
    used_.erase(it);
    ::fallocate(memory_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes));
    free_.give(offset - kFirst, bytes);
}

}  // namespace simverbs::server
