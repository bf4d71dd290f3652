#include "models/switch/switch.hpp"

#include <algorithm>
#include <bit>

#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/rng.hpp"

namespace simverbs::fabric {

using sim::EventPhase;
using sim::LocalQueue;
using sim::SimTime;
using wire::Packet;

// The helpers below run once a packet: without this, g++ -O2 calls each of them.
#define HOT_INLINE [[gnu::always_inline]] inline

Switch::Switch(const SwitchConfig& config, wire::PacketPool* pool)
    : config_(config),
      pool_(pool),
      table_(sim::draw_u64(config.seed, sim::component_id(config.path), sim::DrawPurpose::Ecmp, 0)),
      port_count_(config.ports),
      ports_(new Port[config.ports]) {
    SIM_CHECK(2 * config.ports <= sim::kMaxLocalSources, config.ports);
    dense_.fill(kUnused);
    set_hot_memory(ports_.get(), config.ports, sizeof(Port));
}

Switch::~Switch() = default;

void Switch::attach_port(PortIndex port, const link::PortWiring& wiring) {
    SIM_CHECK(port < port_count_ && !ports_[port].ingress.wired(), port);
    // Frames keep their tags from port to port, so a packet takes as many bytes at the egress as at the ingress.
    for (const Port& p : ports())
        SIM_CHECK(
            !p.ingress.wired() || (p.ingress.layer == wiring.ingress.layer && p.ingress.vlan == wiring.ingress.vlan),
            config_.path, port);
    ports_[port].ingress = wiring.ingress;
    ports_[port].egress = wiring.egress;
}

void Switch::set_observer(PortIndex port, link::PacketObserver* observer) {
    ports_[port].ingress.observer = observer;
    ports_[port].egress.observer = observer;
}

// Local sources: ingress i is i, egress i is ports + i.
void Switch::run_window(SimTime end) {
    window_start_ = activity().window_start();
    window_end_ = end;
    LocalQueue& queue = activity().local_queue();
    fill_queue(queue);
    const auto ports = port_count_;
    for (sim::LocalKey key = queue.top(); key != sim::kNoEvent; key = queue.top()) {
        const SimTime now = window_start_ + sim::local_key_time(key);
        const uint32_t source = sim::local_key_source(key);
        if (source < ports)
            on_deliver(source, now, queue);
        else
            on_transmit(source - ports, now, queue);
    }
    check_conservation();
}

void Switch::fill_queue(LocalQueue& queue) {
    const auto ports = port_count_;
    for (PortIndex i = 0; i < ports; ++i) __builtin_prefetch(ports_[i].ingress.channel);
    queue.reset(2 * ports);
    for (PortIndex i = 0; i < ports; ++i) {
        const Port& p = ports_[i];
        if (!p.ingress.wired()) continue;
        if (const SimTime t = ingress_event(p); t < window_end_)
            queue.set_leaf(i, sim::local_key(t - window_start_, EventPhase::Deliver, i));
        if (p.egress.backlog != 0 && p.egress.busy_until < window_end_)
            queue.set_leaf(ports + i,
                           sim::local_key(p.egress.busy_until - window_start_, EventPhase::Transmit, ports + i));
    }
    queue.build();
}

HOT_INLINE SimTime Switch::ingress_event(const Port& port) const noexcept {
    return storing_ != 0 && port.stored_at != SimTime::max() ? port.stored_at : port.ingress.next_time();
}

HOT_INLINE void Switch::schedule_ingress(PortIndex port, SimTime now, LocalQueue& queue) {
    const Port& in = ports_[port];
    // Packets that a fault brings out while another one is still coming in wait for its tail.
    const SimTime t = std::max(ingress_event(in), now);
    if (t < window_end_) return queue.update(port, sim::local_key(t - window_start_, EventPhase::Deliver, port));
    queue.update(port, sim::kNoEvent);
    if (storing_ != 0 && in.stored_at != SimTime::max()) activity().wake(id(), t);
}

HOT_INLINE void Switch::schedule_transmit(PortIndex port, SimTime at, LocalQueue& queue) {
    const uint32_t source = port_count_ + port;
    if (at < window_end_) return queue.update(source, sim::local_key(at - window_start_, EventPhase::Transmit, source));
    queue.update(source, sim::kNoEvent);
    activity().wake(id(), at);
}

HOT_INLINE bool Switch::must_store(const Port& in, const Port& out) const noexcept {
    return config_.forwarding == Forwarding::StoreAndForward || out.egress.byte_time < in.ingress.byte_time;
}

HOT_INLINE void Switch::send(Port& port, Packet& packet, uint32_t bytes, SimTime now) {
    ++port.tx_packets;
    port.tx_bytes += bytes;
    ++sent_;
    --inside_;
    port.egress.transmit(packet, bytes, now);
}

HOT_INLINE void Switch::enqueue(PortIndex port, const Packet& packet, uint32_t bytes) {
    Queue& queue = queue_of(port, packet.priority);
    queue.packets.push(packet);
    queue.bytes += bytes;
    queue.max_bytes = std::max(queue.max_bytes, queue.bytes);
    buffered_ += bytes;
    ports_[port].egress.backlog |= 1U << packet.priority;
}

HOT_INLINE void Switch::forward(Packet& packet, uint32_t bytes, PortIndex out, SimTime now, LocalQueue& queue) {
    Port& port = ports_[out];
    if (dense_[packet.priority] == kUnused) [[unlikely]]
        start_to_use(packet.priority);
    const uint32_t backlog = port.egress.backlog;
    const bool waits = (backlog >> packet.priority) & 1;
    const sim::ByteCount queued = waits ? queue_of(out, packet.priority).bytes : 0;
    if (queued + bytes > config_.queue_bytes || buffered_ + bytes > config_.buffer_bytes) [[unlikely]]
        return drop(packet, port.drops_full);
    // Fused: nothing else happens at this instant, so this packet is all that phase Transmit could choose from.
    if (backlog == 0 && port.egress.busy_until <= now && window_start_ + sim::local_key_time(queue.top()) > now)
        return send(port, packet, bytes, now);
    enqueue(out, packet, bytes);
    if (backlog == 0) schedule_transmit(out, std::max(now, port.egress.busy_until), queue);
}

void Switch::on_deliver(PortIndex port, SimTime now, LocalQueue& queue) {
    Port& in = ports_[port];
    if (storing_ != 0 && in.stored_at != SimTime::max()) return on_stored(port, now, queue);
    Packet packet;
    if (!in.ingress.pop(packet, shard())) [[unlikely]]
        return schedule_ingress(port, now, queue);
    const uint32_t bytes = in.ingress.bytes_of(packet);
    ++in.rx_packets;
    in.rx_bytes += bytes;
    ++received_;
    ++inside_;
    const PortIndex out = table_.route(packet);
    const bool routed = out != kNoPort && ports_[out].egress.wired();
    if (!routed || packet.ttl == 0) [[unlikely]] {
        drop(packet, routed ? in.drops_ttl : in.drops_no_route);
        return schedule_ingress(port, now, queue);
    }
    --packet.ttl;
    if (must_store(in, ports_[out])) {
        in.storing = packet;
        in.storing_for = out;
        in.stored_at = now + in.ingress.byte_time.of(bytes);
        ++storing_;
        return schedule_ingress(port, now, queue);
    }
    schedule_ingress(port, now, queue);
    forward(packet, bytes, out, now, queue);
}

void Switch::on_stored(PortIndex port, SimTime now, LocalQueue& queue) {
    Port& in = ports_[port];
    Packet packet = in.storing;
    in.stored_at = SimTime::max();
    --storing_;
    schedule_ingress(port, now, queue);
    forward(packet, in.ingress.bytes_of(packet), in.storing_for, now, queue);
}

void Switch::on_transmit(PortIndex index, SimTime now, LocalQueue& queue) {
    Port& port = ports_[index];
    const auto priority = static_cast<uint32_t>(std::bit_width(port.egress.backlog) - 1);
    Queue& q = queue_of(index, priority);
    Packet packet = q.packets.front();
    q.packets.pop();
    const uint32_t bytes = port.egress.bytes_of(packet);
    q.bytes -= bytes;
    buffered_ -= bytes;
    SIM_CHECK(q.bytes >= 0 && buffered_ >= 0, q.bytes, buffered_);
    if (q.packets.empty()) port.egress.backlog &= ~(1U << priority);
    send(port, packet, bytes, now);
    if (port.egress.backlog != 0)
        schedule_transmit(index, port.egress.busy_until, queue);
    else
        queue.update(port_count_ + index, sim::kNoEvent);
}

void Switch::drop(Packet& packet, uint64_t& counter) {
    ++counter;
    ++dropped_;
    --inside_;
    if (pool_ != nullptr) pool_->release(shard(), packet);
}

void Switch::start_to_use(uint32_t priority) {
    std::vector<Queue> wider(size_t{port_count_} * (priorities_in_use_ + 1));
    for (size_t port = 0; port < port_count_; ++port)
        for (size_t d = 0; d < priorities_in_use_; ++d)
            wider[port * (priorities_in_use_ + 1) + d] = std::move(queues_[port * priorities_in_use_ + d]);
    queues_ = std::move(wider);
    dense_[priority] = static_cast<uint8_t>(priorities_in_use_++);
}

SimTime Switch::next_event_time() const {
    SimTime next = SimTime::max();
    for (const Port& p : ports()) {
        if (!p.ingress.wired()) continue;
        next = std::min(next, ingress_event(p));
        if (p.egress.backlog != 0) next = std::min(next, p.egress.busy_until);
    }
    return next;
}

void Switch::check_conservation() const {
    SIM_CHECK(received_ == sent_ + dropped_ + inside_, received_, sent_, dropped_, inside_);
}

const Switch::Queue* Switch::find_queue(PortIndex port, uint32_t priority) const noexcept {
    if (dense_[priority] == kUnused) return nullptr;
    return &queues_[port * priorities_in_use_ + dense_[priority]];
}

PortCounters Switch::counters(PortIndex port) const {
    const Port& p = ports_[port];
    sim::ByteCount max_bytes = 0;
    for (uint32_t d = 0; d < priorities_in_use_; ++d)
        max_bytes = std::max(max_bytes, queues_[port * priorities_in_use_ + d].max_bytes);
    return {p.rx_packets, p.rx_bytes,  p.tx_packets,     p.tx_bytes,
            p.drops_full, p.drops_ttl, p.drops_no_route, static_cast<uint64_t>(max_bytes)};
}

sim::ByteCount Switch::queue_bytes(PortIndex port, uint32_t priority) const {
    const Queue* q = find_queue(port, priority);
    return q != nullptr ? q->bytes : 0;
}

}  // namespace simverbs::fabric
