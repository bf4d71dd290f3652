// Link-level flow control of a switch: PFC pauses, InfiniBand credits.
#include <algorithm>
#include <bit>

#include "models/switch/switch.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/engine.hpp"

namespace simverbs::fabric {

using sim::ByteCount;
using sim::EventKey;
using sim::EventPhase;
using sim::LocalQueue;
using sim::SimTime;
using wire::Packet;

namespace {

uint64_t timer_source(PortIndex port, uint8_t priority, uint8_t kind) {
    return (uint64_t{port} * 16 + priority) * 4 + kind;
}

}  // namespace

/// The earliest thing that flow control has to do. Control channels are looked at only when one of them is not empty.
void Switch::find_next_control() {
    next_control_ = control_timers_.next_time();
    if (!activity().attention(id())) return;
    bool empty = true;
    for (PortIndex i = 0; i < port_count_; ++i) {
        const link::ControlChannel* in = extras_[i].control.in;
        if (in == nullptr || in->empty()) continue;
        empty = false;
        next_control_ = std::min(next_control_, in->head_time());
    }
    if (empty) activity().clear_attention(id());
}

/// Everything that flow control does at next_control_: frames by port, then timers.
void Switch::run_control(LocalQueue& queue) {
    const SimTime now = next_control_;
    if (activity().attention(id())) {
        for (PortIndex i = 0; i < port_count_; ++i) {
            link::ControlChannel* in = extras_[i].control.in;
            while (in != nullptr && in->head_time() == now) {
                const link::FlowControlFrame frame = in->front();
                in->pop();
                on_control_frame(i, frame, queue);
            }
        }
    }
    while (control_timers_.next_time() == now) on_control_timer(control_timers_.pop(), now, queue);
    find_next_control();
}

void Switch::on_control_frame(PortIndex index, const link::FlowControlFrame& frame, LocalQueue& queue) {
    if (!credits_) return on_pause(index, frame, queue);
    const auto vl = static_cast<uint32_t>(std::countr_zero(frame.priorities));
    PortExtras& extras = extras_[index];
    extras.credits->on_limit(vl, frame.fccl);
    const link::EgressPort& out = ports_[index].egress;
    if (((out.blocked >> vl) & 1) == 0 || ((out.backlog >> vl) & 1) == 0) return;
    if (has_credits(index, vl, out.bytes_of(front(queue_of(index, vl))))) unblock(index, vl, frame.arrival, queue);
}

void Switch::on_pause(PortIndex index, const link::FlowControlFrame& frame, LocalQueue& queue) {
    PortExtras& extras = extras_[index];
    ++extras.pauses_received;
    const SimTime now = frame.arrival;
    for (uint32_t rest = frame.priorities; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        if (frame.quanta == 0) {
            unblock(index, priority, now, queue);
            continue;
        }
        pauses(index, priority).paused_until = now + pfc::quanta_time(frame.quanta, extras.rate);
        set_control_timer({index, static_cast<uint8_t>(priority), ControlTimerKind::PauseExpiry},
                          pauses(index, priority).paused_until);
        if ((ports_[index].egress.blocked >> priority) & 1) continue;
        block(index, priority, now);
        if (config_.pfc.watchdog != SimTime::max())
            set_control_timer({index, static_cast<uint8_t>(priority), ControlTimerKind::Watchdog},
                              now + config_.pfc.watchdog);
    }
}

/// Each (port, priority, kind) has one timer; a deadline that moves away while it runs is looked at when it expires.
void Switch::set_control_timer(const ControlTimer& timer, SimTime at) {
    uint8_t& set = pauses(timer.port, timer.priority).timers_set;
    const auto mask = static_cast<uint8_t>(1U << static_cast<uint8_t>(timer.kind));
    if ((set & mask) != 0) return;
    set |= mask;
    const auto source = timer_source(timer.port, timer.priority, static_cast<uint8_t>(timer.kind));
    control_timers_.push(EventKey{at, EventPhase::Timer, source}, timer);
    next_control_ = std::min(next_control_, at);
    activity().wake(id(), at);
}

void Switch::on_control_timer(const ControlTimer& timer, SimTime now, LocalQueue& queue) {
    PortExtras& extras = extras_[timer.port];
    const uint32_t bit = 1U << timer.priority;
    const bool blocked = (ports_[timer.port].egress.blocked & bit) != 0;
    pauses(timer.port, timer.priority).timers_set &= static_cast<uint8_t>(~(1U << static_cast<uint8_t>(timer.kind)));
    switch (timer.kind) {
        case ControlTimerKind::PauseExpiry:
            if (!blocked) return;
            if (pauses(timer.port, timer.priority).paused_until > now)
                return set_control_timer(timer, pauses(timer.port, timer.priority).paused_until);
            return unblock(timer.port, timer.priority, now, queue);
        case ControlTimerKind::PauseRenewal:
            if ((extras.pausing & bit) == 0) return;
            if (pauses(timer.port, timer.priority).renew_at > now)
                return set_control_timer(timer, pauses(timer.port, timer.priority).renew_at);
            return send_pause(timer.port, timer.priority, config_.pfc.quanta, now);
        case ControlTimerKind::Watchdog:
            if (!blocked) return;
            if (const SimTime due = pauses(timer.port, timer.priority).paused_since + config_.pfc.watchdog; due > now)
                return set_control_timer(timer, due);
            ++losses(timer.port).watchdog_events;
            extras.draining |= static_cast<uint16_t>(bit);
            drain_paused(timer.port, timer.priority, now);
            return;
        case ControlTimerKind::Storm:
            return on_storm_timer(timer, now);
    }
}

void Switch::add_pause_storm(PortIndex port, const pfc::PauseStorm& storm) {
    SIM_CHECK(extras_[port].control.out != nullptr && !credits_, config_.path, port);
    const ControlTimer timer{port, static_cast<uint8_t>(storm.priority()), ControlTimerKind::Storm};
    storms_.push_back({port, storm});
    pauses(port, timer.priority).timers_set |= static_cast<uint8_t>(1U << static_cast<uint8_t>(timer.kind));
    // Two storms of one port and priority share a source; their timers differ in time or do the same.
    control_timers_.push(EventKey{storm.next(), EventPhase::Timer, timer_source(port, timer.priority, 3)}, timer);
    engine().wake(id(), storm.next());
}

void Switch::on_storm_timer(const ControlTimer& timer, SimTime now) {
    SimTime next = SimTime::max();
    for (StormAt& s : storms_) {
        if (s.port != timer.port || s.storm.priority() != timer.priority) continue;
        if (const auto quanta = s.storm.take(now, extras_[s.port].rate)) {
            extras_[s.port].pauses_sent += *quanta != 0 ? 1 : 0;
            send_control(
                s.port,
                {.priorities = static_cast<uint16_t>(1U << timer.priority), .quanta = static_cast<uint16_t>(*quanta)},
                now);
        }
        next = std::min(next, s.storm.next());
    }
    if (next != SimTime::max()) set_control_timer(timer, next);
}

void Switch::block(PortIndex index, uint32_t priority, SimTime now) {
    pauses(index, priority).paused_since = now;
    ports_[index].egress.blocked |= static_cast<uint16_t>(1U << priority);
}

void Switch::unblock(PortIndex index, uint32_t priority, SimTime now, LocalQueue& queue) {
    link::EgressPort& out = ports_[index].egress;
    if (((out.blocked >> priority) & 1) == 0) return;
    const uint32_t before = out.sendable();
    out.blocked &= static_cast<uint16_t>(~(1U << priority));
    extras_[index].paused_time += now - pauses(index, priority).paused_since;
    extras_[index].draining &= static_cast<uint16_t>(~(1U << priority));
    if (before == 0 && out.sendable() != 0) schedule_transmit(index, std::max(now, out.busy_until), queue);
}

/// The buffer wants it.
void Switch::begin_pause(PortIndex in, uint32_t priority, SimTime now) {
    if (extras_[in].control.out == nullptr) return;
    ++extras_[in].pauses_sent;
    extras_[in].pausing |= static_cast<uint16_t>(1U << priority);
    send_pause(in, priority, config_.pfc.quanta, now);
}

/// Asks the peer of `index` to pause a priority, or (0 quanta) to go on; renews the pause at half time.
void Switch::send_pause(PortIndex index, uint32_t priority, uint32_t quanta, SimTime now) {
    const auto drowns = [&](const StormAt& s) {
        return s.port == index && s.storm.priority() == priority && s.storm.rages(now);
    };
    if (quanta == 0 && std::ranges::any_of(storms_, drowns)) return;
    send_control(index, {.priorities = static_cast<uint16_t>(1U << priority), .quanta = static_cast<uint16_t>(quanta)},
                 now);
    if (quanta == 0) return;
    pauses(index, priority).renew_at = now + pfc::quanta_time(quanta / 2, extras_[index].rate);
    set_control_timer({index, static_cast<uint8_t>(priority), ControlTimerKind::PauseRenewal},
                      pauses(index, priority).renew_at);
}

/// A frame waits for the packet that is being sent, and goes before all others.
void Switch::send_control(PortIndex index, const link::FlowControlFrame& frame, SimTime now) {
    link::EgressPort& out = ports_[index].egress;
    const uint32_t bytes = credits_ ? link::kCreditFrameBytes : pfc::kFrameWireBytes;
    link::send_flow_control(out, extras_[index].control, frame, bytes, now);
    // A packet that was to leave when the port is idle again: that is later now, perhaps in another window.
    if (out.sendable() != 0) activity().wake(id(), out.busy_until);
}

/// The watchdog gives up on a paused priority: what waits is dropped, and makes room for others.
void Switch::drain_paused(PortIndex index, uint32_t priority, SimTime now) {
    if (find_queue(index, priority) == nullptr) return;
    Queue& q = queue_of(index, priority);
    while (!q.packets.empty()) {
        Packet packet = front(q);
        remove_front(q);
        const ByteCount frame = frame_bytes(ports_[index].egress.bytes_of(packet));
        q.bytes -= frame;
        buffered_ -= frame;
        --queued_;
        if (counts_buffer_) release_ingress(packet, frame, now);
        drop(packet, losses(index).watchdog, "the PFC watchdog drains the queue", now);
    }
    ports_[index].egress.backlog &= static_cast<uint16_t>(~(1U << priority));
}

/// A queued packet leaves the buffer: its ingress has room again.
void Switch::release_ingress(const Packet& queued, ByteCount frame, SimTime now) {
    const PortIndex in = ingress_of(queued);
    if (credits_) return give_credits(in, ingress_vl(in, queued), static_cast<uint32_t>(frame), now);
    const uint32_t priority = class_of(queued);
    if (!buffer_.release(in, dense_[priority], buffer_.cells(frame))) return;
    if (extras_[in].control.out == nullptr) return;
    extras_[in].pausing &= static_cast<uint16_t>(~(1U << priority));
    send_pause(in, priority, 0, now);
}

void Switch::give_credits(PortIndex index, uint32_t vl, uint32_t bytes, SimTime now) {
    PortExtras& extras = extras_[index];
    const auto limit = extras.credits->freed(vl, bytes);
    if (!limit || extras.control.out == nullptr) return;
    send_control(index, {.priorities = static_cast<uint16_t>(1U << vl), .fccl = *limit}, now);
}

/// What a link loses takes no buffer. IBA: the sender's next flow control packet says how much it has sent (FCTBS).
void Switch::give_back_credits_of_lost(PortIndex index, const Packet& lost, SimTime now) {
    const uint32_t bytes = ports_[index].ingress.bytes_of(lost);
    const uint32_t vl = ingress_vl(index, lost);
    extras_[index].credits->arrived(vl, bytes);
    give_credits(index, vl, bytes, now);
}

}  // namespace simverbs::fabric
