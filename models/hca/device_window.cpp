// The adapter's events, in the order of their keys.
#include "models/hca/device.hpp"
#include "models/hca/rc/rc_requester.hpp"
#include "models/hca/rc/rc_responder.hpp"

namespace simverbs::hca {

namespace {

/// Sources of events, in the order of EventPhase; within a phase in this order, ports by number.
enum class Source : uint8_t {
    FlowControl,
    Wire,
    Faults,
    Received,
    Delayed,
    HostRead,
    Timer,
    Atomic,
    Management,
    Transmit,
    None
};

constexpr size_t kSources = 16;
constexpr size_t place_of(Source source, size_t port) noexcept {
    return port * kSources + static_cast<size_t>(source);
}

/// When the transport sees the wire's next packet: its tail is in, and the receive pipeline, which the link's latency
/// counts, is behind it.
[[gnu::always_inline]] inline sim::SimTime next_wire_time(const Port& port) noexcept {
    if (!port.ingress.wired() || port.ingress.faults != nullptr || port.ingress.channel->empty())
        return sim::SimTime::max();
    return port.ingress.tail_time(port.ingress.channel->front());
}

sim::SimTime next_fault_time(const Port& port) noexcept {
    return port.ingress.faults == nullptr ? sim::SimTime::max() : port.ingress.next_time();
}

sim::SimTime next_flow_control(const Port& port) noexcept {
    return port.gate == nullptr ? sim::SimTime::max() : port.gate->control.next_time(port.egress);
}

}  // namespace

void Device::run_window(sim::SimTime end) {
    running = true;
    if (mover != nullptr) mover->set_safe_time(node.engine().frontier() - timing.mmio_write);
    const std::unique_ptr<Port>* const all = ports.data();
    const size_t port_count = ports.size();
    bool faults = false, gates = false;
    for (const auto& port : ports) {
        if (port->wire_at == sim::SimTime::max()) port->wire_at = next_wire_time(*port);
        faults = faults || port->ingress.faults != nullptr;
        gates = gates || port->gate != nullptr;
    }
    sim::SimTime next = sim::SimTime::max();
    for (;;) {
        sim::SimTime best = sim::SimTime::max();
        size_t winner = place_of(Source::None, 0);
        // Selects instead of branches: which event is next cannot be predicted.
        const auto consider = [&](sim::SimTime t, Source s, size_t port) {
            const bool earlier = t < best;
            best = earlier ? t : best;
            winner = earlier ? place_of(s, port) : winner;
        };
        for (size_t p = 0; p < port_count; ++p) {
            const Port& port = *all[p];
            if (gates) [[unlikely]]
                consider(next_flow_control(port), Source::FlowControl, p);
            consider(port.wire_at, Source::Wire, p);
            if (faults) [[unlikely]]
                consider(next_fault_time(port), Source::Faults, p);
            consider(port.rx.head_time(), Source::Received, p);
        }
        consider(delayed.next_time(), Source::Delayed, 0);
        consider(host_port.next_completion(), Source::HostRead, 0);
        consider(timers.next_time(), Source::Timer, 0);
        consider(atomics.next_time(), Source::Atomic, 0);
        consider(management_at, Source::Management, 0);
        for (size_t p = 0; p < port_count; ++p) consider(all[p]->transmit_at, Source::Transmit, p);
        if (best >= end) {
            next = best;
            break;
        }
        now_running = best;
        Port& port = *all[winner / kSources];
        switch (static_cast<Source>(winner % kSources)) {
            case Source::FlowControl:
                on_flow_control(port, best);
                break;
            case Source::Wire: {
                if (host_port.has_complex() && host_port.receives_from() > best) [[unlikely]] {
                    port.wire_at = host_port.receives_from();
                    break;
                }
                wire::Packet packet;
                const bool taken = port.ingress.pop(packet, node.shard());
                port.wire_at = next_wire_time(port);
                if (taken) on_packet(port, packet, best);
                break;
            }
            case Source::Faults: {
                wire::Packet packet;
                if (!port.ingress.pop(packet, node.shard())) {
                    if (port.gate != nullptr && port.ingress.faults->last_was_lost()) give_credits(port, packet, best);
                    break;
                }
                const sim::SimTime at = port.ingress.tail_time(packet);
                port.last_rx = std::max(at, port.last_rx);
                port.rx.push({port.last_rx, packet});
                break;
            }
            case Source::Received: {
                wire::Packet packet = port.rx.front().packet;
                port.rx.pop();
                on_packet(port, packet, best);
                break;
            }
            case Source::Delayed:
                on_delayed(delayed.pop(), best);
                break;
            case Source::HostRead:
                on_read_completion(host_port.take_completion(), best);
                break;
            case Source::Timer:
                on_timer(timers.pop(), best);
                break;
            case Source::Atomic:
                on_atomic(atomics.pop(), best);
                break;
            case Source::Management:
                management->on_time(best);
                management_at = management->next_time();
                break;
            case Source::Transmit:
                transmit(port, best);
                break;
            case Source::None:
                break;
        }
    }
    running = false;
    if (next < sim::SimTime::max()) node.wake_self(next);
}

sim::SimTime Device::next_event_time() const {
    sim::SimTime t =
        std::min({delayed.next_time(), host_port.next_completion(), timers.next_time(), atomics.next_time()});
    t = std::min(t, management_at);
    for (const auto& p : ports) {
        const sim::SimTime wire_at = p->wire_at != sim::SimTime::max() ? p->wire_at : next_wire_time(*p);
        t = std::min({t, next_flow_control(*p), wire_at, next_fault_time(*p), p->rx.head_time(), p->transmit_at});
    }
    return t;
}

void Device::wake() {
    if (running) return;
    const sim::SimTime next = next_event_time();
    if (next < sim::SimTime::max()) node.engine().wake(node.id(), std::max(next, node.engine().frontier()));
}

void Device::on_delayed(const Delayed& what, sim::SimTime now) {
    Qp& qp = *qps[what.qp_slot];
    if (qp.destroyed) return;
    switch (what.kind) {
        case Delayed::Kind::WqeFetch:
            fetch_wqes(qp, what, now);
            return;
        case Delayed::Kind::WqeReady:
            if (static_cast<int32_t>(what.count - qp.rq.end) <= 0) return;
            qp.rq.end = what.count;
            if (qp.state == QpState::Err || qp.state == QpState::Sqe)
                flush_sends(qp, now);
            else if (qp.sends())
                make_requester_ready(qp, now);
            return;
        case Delayed::Kind::Resume:
            if (qp.state != QpState::Err) return;
            flush_sends(qp, now);
            if (profile.behaviour.flushes_late_receives) flush_receives(qp, now);
            return;
    }
}

void Device::on_timer(uint64_t tag, sim::SimTime now) {
    Qp& qp = *qps[tag >> 2];
    if (qp.destroyed) return;
    switch (static_cast<QpTimer>(tag & 3)) {
        case QpTimer::Ack:
            RcRequester(*this, qp).on_ack_timer(now);
            return;
        case QpTimer::Rnr:
            RcRequester(*this, qp).on_rnr_timer(now);
            return;
        case QpTimer::Pace:
            if (qp.sends()) make_requester_ready(qp, now);
            return;
        case QpTimer::Cnp:
            if (qp.congestion != nullptr && qp.receives()) send_cnp(qp, now);
            return;
    }
}

void Device::on_atomic(const AtomicExecution& e, sim::SimTime now) {
    Qp& qp = *qps[e.qp_slot];
    ResponseResource& r = qp.resources[e.resource & (qp.resources.size() - 1)];
    uint64_t old = 0;
    if (mover != nullptr && qp.verbs != nullptr && !qp.destroyed) {
        const auto next = [&e](uint64_t value) {
            if (!e.is_compare_swap) return value + e.swap_or_add;
            return value == e.compare ? e.swap_or_add : value;
        };
        r.failed = !mover->read_modify_write(e.space, e.va, next, old);
        if (sink != nullptr && watched.contains(e.space))
            sink->on_memory_written(e.space, e.va, sizeof old, false, now);
    }
    r.atomic_result = old;
    if (!qp.destroyed) RcResponder(*this, qp).on_atomic_executed(e.resource, now);
}

}  // namespace simverbs::hca
