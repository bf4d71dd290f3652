// What a switch tells about itself between windows.
#include <algorithm>

#include "models/switch/switch.hpp"

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
    c.drops_full = e.drops_full;
    c.drops_headroom = e.drops_headroom;
    c.drops_ttl = e.drops_ttl;
    c.drops_no_route = e.drops_no_route;
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
    return c;
}

ByteCount Switch::queue_bytes(PortIndex port, uint32_t priority) const {
    const Queue* q = find_queue(port, priority);
    return q != nullptr ? q->bytes : 0;
}

uint64_t Switch::ingresses_of(PortIndex port, uint32_t priority) const {
    const Queue* q = find_queue(port, priority);
    if (q == nullptr) return 0;
    uint64_t ports = 0;
    q->packets.for_each([&](const Packet& p) { ports |= uint64_t{1} << std::min(ingress_of(p), 63U); });
    return ports;
}

size_t Switch::memory() const noexcept {
    size_t extras = 0;
    for (PortIndex i = 0; i < port_count_; ++i)
        extras += (extras_[i].pauses ? sizeof(PauseTimes) : 0) + (extras_[i].round_robin ? sizeof(RoundRobin) : 0) +
                  (extras_[i].credits ? sizeof(link::Credits) : 0);
    return sizeof *this + extras + port_count_ * (sizeof(Port) + sizeof(PortExtras)) +
           queues_.capacity() * sizeof(Queue) + buffer_.memory() + table_.memory() +
           flowlets_.capacity() * sizeof(FlowletEntry);
}

uint32_t Switch::pausing(PortIndex port) const noexcept {
    return extras_[port].pausing;
}

}  // namespace simverbs::fabric
