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
    if (e.losses) {
        c.drops_full = e.losses->full;
        c.drops_headroom = e.losses->headroom;
        c.drops_ttl = e.losses->ttl;
        c.drops_no_route = e.losses->no_route;
        c.drops_watchdog = e.losses->watchdog;
        c.trimmed = e.losses->trimmed;
        c.watchdog_events = e.losses->watchdog_events;
    }
    c.marked = e.marked;
    for (uint32_t d = 0; d < priorities_in_use_; ++d)
        c.max_queue_bytes =
            std::max(c.max_queue_bytes, static_cast<uint64_t>(queues_[port * priorities_in_use_ + d].max_bytes));
    c.pauses_sent = e.pauses_sent;
    c.pauses_received = e.pauses_received;
    c.paused_time = e.paused_time;
    for (const PauseTimes& times : e.pauses)
        if (((p.egress.blocked >> times.priority) & 1) != 0) c.paused_time += engine().frontier() - times.paused_since;
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
    bool found = false;
    if (q == nullptr) return found;
    q->packets.for_each([&](PacketRuns::Run run) {
        const Packet& p = runs_.front(run);
        found = found || (ingress_of(p) == in && (credits_ ? ingress_vl(in, p) : priority) == in_priority);
    });
    return found;
}

ByteCount Switch::headroom_bytes(PortIndex port, uint32_t priority) const noexcept {
    return dense_[priority] == kUnused ? 0 : buffer_.headroom(port, dense_[priority]);
}

ByteCount Switch::max_headroom_bytes(PortIndex port, uint32_t priority) const noexcept {
    return dense_[priority] == kUnused ? 0 : buffer_.max_headroom_wanted(port, dense_[priority]);
}

size_t Switch::memory() const noexcept {
    size_t extras = 0;
    for (PortIndex i = 0; i < port_count_; ++i)
        extras += extras_[i].pauses.capacity() * sizeof(PauseTimes) + (extras_[i].red ? sizeof(ecn::RedParams) : 0) +
                  (extras_[i].losses ? sizeof(Losses) : 0) + (extras_[i].round_robin ? sizeof(RoundRobin) : 0) +
                  (extras_[i].credits ? sizeof(link::Credits) : 0);
    return sizeof *this + extras + port_count_ * (sizeof(Port) + sizeof(PortExtras)) +
           queues_.capacity() * sizeof(Queue) + stored_.capacity() * sizeof(Stored) + buffer_.memory() +
           runs_.memory() + table_.memory() + flowlets_.capacity() * sizeof(FlowletEntry);
}

uint32_t Switch::pausing(PortIndex port) const noexcept {
    return extras_[port].pausing;
}

}  // namespace simverbs::fabric
