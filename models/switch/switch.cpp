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

Switch::Switch(const SwitchConfig& config, wire::PacketPool* pool)
    : config_(config),
      pool_(pool),
      table_(sim::draw_u64(config.seed, sim::component_id(config.path), sim::DrawPurpose::Ecmp, 0)),
      ports_(config.ports) {
    SIM_CHECK(2 * config.ports <= sim::kMaxLocalSources, config.ports);
    set_hot_memory(ports_.data(), static_cast<uint32_t>(ports_.size() * sizeof(Port)));
}

Switch::~Switch() = default;

void Switch::attach_port(PortIndex port, const link::PortWiring& wiring) {
    SIM_CHECK(port < ports_.size() && !ports_[port].ingress.wired(), port);
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
    const auto ports = static_cast<uint32_t>(ports_.size());
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
    const auto ports = static_cast<uint32_t>(ports_.size());
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

void Switch::on_deliver(PortIndex port, SimTime now, LocalQueue& queue) {
    Port& in = ports_[port];
    if (in.stored_at != SimTime::max()) {
        Packet packet = in.storing;
        in.stored_at = SimTime::max();
        schedule_ingress(port, now, queue);
        return forward(packet, in.storing_for, now, queue);
    }
    Packet packet;
    if (!in.ingress.pop(packet, shard())) return schedule_ingress(port, now, queue);
    ++in.rx_packets;
    in.rx_bytes += in.ingress.bytes_of(packet);
    ++received_;
    ++inside_;
    const PortIndex out = table_.route(packet);
    if (out == kNoPort || !ports_[out].egress.wired()) [[unlikely]] {
        drop(packet, in.drops_no_route);
        return schedule_ingress(port, now, queue);
    }
    if (packet.ttl == 0) [[unlikely]] {
        drop(packet, in.drops_ttl);
        return schedule_ingress(port, now, queue);
    }
    --packet.ttl;
    if (must_store(in, ports_[out])) {
        in.storing = packet;
        in.storing_for = out;
        in.stored_at = now + in.ingress.byte_time.of(in.ingress.bytes_of(packet));
        return schedule_ingress(port, now, queue);
    }
    schedule_ingress(port, now, queue);
    forward(packet, out, now, queue);
}

bool Switch::must_store(const Port& in, const Port& out) const noexcept {
    return config_.forwarding == Forwarding::StoreAndForward || out.egress.byte_time < in.ingress.byte_time;
}

void Switch::forward(Packet& packet, PortIndex out, SimTime now, LocalQueue& queue) {
    Port& port = ports_[out];
    const uint32_t bytes = port.egress.bytes_of(packet);
    const auto& waiting = port.queues[packet.priority];
    const sim::ByteCount queued = waiting ? waiting->bytes : 0;
    if (queued + bytes > config_.queue_bytes || buffered_ + bytes > config_.buffer_bytes) [[unlikely]]
        return drop(packet, port.drops_full);
    // Fused: nothing else happens at this instant, so this packet is all that phase Transmit could choose from.
    if (port.egress.backlog == 0 && port.egress.busy_until <= now &&
        window_start_ + sim::local_key_time(queue.top()) > now)
        return send(port, packet, bytes, now);
    const bool first = port.egress.backlog == 0;
    enqueue(port, packet, bytes);
    if (first) schedule_transmit(out, std::max(now, port.egress.busy_until), queue);
}

void Switch::enqueue(Port& port, const Packet& packet, uint32_t bytes) {
    auto& slot = port.queues[packet.priority];
    if (!slot) [[unlikely]]
        slot = std::make_unique<Queue>();
    slot->packets.push(packet);
    slot->bytes += bytes;
    buffered_ += bytes;
    port.egress.backlog |= 1U << packet.priority;
    port.max_queue_bytes = std::max(port.max_queue_bytes, static_cast<uint64_t>(slot->bytes));
}

void Switch::on_transmit(PortIndex index, SimTime now, LocalQueue& queue) {
    Port& port = ports_[index];
    const auto priority = static_cast<uint32_t>(std::bit_width(port.egress.backlog) - 1);
    Queue& q = *port.queues[priority];
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
        queue.update(static_cast<uint32_t>(ports_.size()) + index, sim::kNoEvent);
}

void Switch::send(Port& port, Packet& packet, uint32_t bytes, SimTime now) {
    ++port.tx_packets;
    port.tx_bytes += bytes;
    ++sent_;
    --inside_;
    port.egress.transmit(packet, bytes, now);
}

void Switch::drop(Packet& packet, uint64_t& counter) {
    ++counter;
    ++dropped_;
    --inside_;
    if (pool_ != nullptr) pool_->release(shard(), packet);
}

SimTime Switch::ingress_event(const Port& port) const noexcept {
    return port.stored_at != SimTime::max() ? port.stored_at : port.ingress.next_time();
}

void Switch::schedule_ingress(PortIndex port, SimTime now, LocalQueue& queue) {
    const Port& in = ports_[port];
    // Packets that a fault brings out while another one is still coming in wait for its tail.
    const SimTime t = std::max(ingress_event(in), now);
    if (t < window_end_) return queue.update(port, sim::local_key(t - window_start_, EventPhase::Deliver, port));
    queue.update(port, sim::kNoEvent);
    if (in.stored_at != SimTime::max()) activity().wake(id(), t);
}

void Switch::schedule_transmit(PortIndex port, SimTime at, LocalQueue& queue) {
    const uint32_t source = static_cast<uint32_t>(ports_.size()) + port;
    if (at < window_end_) return queue.update(source, sim::local_key(at - window_start_, EventPhase::Transmit, source));
    queue.update(source, sim::kNoEvent);
    activity().wake(id(), at);
}

SimTime Switch::next_event_time() const {
    SimTime next = SimTime::max();
    for (const Port& p : ports_) {
        if (!p.ingress.wired()) continue;
        next = std::min(next, ingress_event(p));
        if (p.egress.backlog != 0) next = std::min(next, p.egress.busy_until);
    }
    return next;
}

void Switch::check_conservation() const {
    SIM_CHECK(received_ == sent_ + dropped_ + inside_, received_, sent_, dropped_, inside_);
}

PortCounters Switch::counters(PortIndex port) const {
    const Port& p = ports_[port];
    return {p.rx_packets, p.rx_bytes,  p.tx_packets,     p.tx_bytes,
            p.drops_full, p.drops_ttl, p.drops_no_route, p.max_queue_bytes};
}

sim::ByteCount Switch::queue_bytes(PortIndex port, uint32_t priority) const {
    const auto& q = ports_[port].queues[priority];
    return q ? q->bytes : 0;
}

}  // namespace simverbs::fabric
