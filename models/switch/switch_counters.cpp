// What a switch tells about itself between windows.
#include <algorithm>
#include <bit>

#include "models/switch/switch.hpp"
#include "sim/engine.hpp"

namespace simverbs::fabric {

using sim::ByteCount;
using wire::Packet;

const Switch::Queue* Switch::find_queue(PortIndex port, uint32_t priority) const noexcept {
    if (dense_[priority] == kUnused) return nullptr;
    return &queues_[port * priorities_in_use_ + dense_[priority]];
}

PortCounters Switch::counters(PortIndex port) const {
    const Port& p = ports_[port];
    const PortExtras& e = extras_[port];
    PortCounters c;
    c.rx_packets = p.rx_packets;
    c.rx_bytes = p.rx_bytes;
    c.tx_packets = p.tx_packets;
    c.tx_bytes = p.tx_bytes;
    c.drops_full = p.drops_full;
    c.drops_headroom = e.drops_headroom;
    c.drops_ttl = p.drops_ttl;
    c.drops_no_route = p.drops_no_route;
    c.drops_watchdog = e.drops_watchdog;
    c.trimmed = e.trimmed;
    c.marked = e.marked;
    for (uint32_t d = 0; d < priorities_in_use_; ++d)
        c.max_queue_bytes =
            std::max(c.max_queue_bytes, static_cast<uint64_t>(queues_[port * priorities_in_use_ + d].max_bytes));
    c.pauses_sent = e.pauses_sent;
    c.pauses_received = e.pauses_received;
    c.watchdog_events = e.watchdog_events;
    c.paused_time = e.paused_time;
    for (uint32_t rest = p.egress.blocked; rest != 0; rest &= rest - 1)
        c.paused_time += engine().frontier() - e.paused_since[static_cast<size_t>(std::countr_zero(rest))];
    return c;
}

uint64_t Switch::storm_frames(PortIndex port, uint32_t priority) const noexcept {
    uint64_t frames = 0;
    for (const StormAt& s : storms_)
        if (s.port == port && s.storm.priority() == priority) frames += s.storm.frames();
    return frames;
}

ByteCount Switch::queue_bytes(PortIndex port, uint32_t priority) const {
    const Queue* q = find_queue(port, priority);
    return q != nullptr ? q->bytes : 0;
}

bool Switch::holds_from(PortIndex port, uint32_t priority, PortIndex in, uint32_t in_priority) const {
    const Queue* q = find_queue(port, priority);
    if (q == nullptr) return false;
    for (uint32_t i = 0; i < q->packets.size(); ++i) {
        const Packet& packet = q->packets.at(i);
        if (ingress_of(packet) != in) continue;
        if ((credits_ ? ingress_vl(in, packet) : priority) == in_priority) return true;
    }
    return false;
}

ByteCount Switch::headroom_bytes(PortIndex port, uint32_t priority) const noexcept {
    return dense_[priority] == kUnused ? 0 : buffer_.headroom(port, dense_[priority]);
}

ByteCount Switch::max_headroom_bytes(PortIndex port, uint32_t priority) const noexcept {
    return dense_[priority] == kUnused ? 0 : buffer_.max_headroom_wanted(port, dense_[priority]);
}

size_t Switch::memory() const noexcept {
    size_t sum = sizeof *this + port_count_ * (sizeof(Port) + sizeof(PortExtras)) + queues_.capacity() * sizeof(Queue) +
                 table_.memory() + flowlets_.capacity() * sizeof(FlowletEntry);
    for (const Queue& q : queues_) sum += q.packets.capacity() * sizeof(Packet);
    return sum;
}

uint32_t Switch::pausing(PortIndex port) const noexcept {
    return extras_[port].pausing;
}

}  // namespace simverbs::fabric
