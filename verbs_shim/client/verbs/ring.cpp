#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

bool attach_ring(const protocol::RingRef& ref, Ring& ring) noexcept {
    if (ref.capacity == 0) return true;  // a QP without this queue
    const bool power_of_two = (ref.capacity & (ref.capacity - 1)) == 0;
    const uint64_t bytes = sizeof(protocol::RingHeader) + uint64_t{ref.capacity} * ref.stride;
    if (!power_of_two || ref.stride % 16 != 0 || ref.stride == 0) return false;
    if (ref.offset % 64 != 0 || ref.offset > protocol::kArenaBytes || bytes > protocol::kArenaBytes - ref.offset) {
        return false;
    }
    uint8_t* const base = connection::arena() + ref.offset;
    ring.header = reinterpret_cast<protocol::RingHeader*>(base);
    ring.slots = base + sizeof(protocol::RingHeader);
    ring.mask = ref.capacity - 1;
    ring.stride = ref.stride;
    return true;
}

}  // namespace simverbs::client::verbs
