#include "models/link/flow_control_end.hpp"

#include <algorithm>
#include <bit>

namespace simverbs::link {

using sim::SimTime;

FlowControlEnd::FlowControlEnd(const PortWiring& wiring, sim::ByteCount vl_buffer)
    : control_(wiring.control),
      has_credits_(wiring.control.in != nullptr && wiring.params.layer == LinkLayer::InfiniBand),
      rate_(wiring.params.rate) {
    if (has_credits_) credits_ = Credits(vl_buffer);
}

SimTime FlowControlEnd::next_time(const EgressPort& egress) const noexcept {
    SimTime t = control_.in->head_time();
    if (has_credits_) return t;
    for (uint32_t rest = egress.blocked; rest != 0; rest &= rest - 1)
        t = std::min(t, paused_until_[std::countr_zero(rest)]);
    return t;
}

void FlowControlEnd::run(EgressPort& egress, SimTime now) {
    while (control_.in->head_time() <= now) {
        const FlowControlFrame frame = control_.in->front();
        control_.in->pop();
        if (!has_credits_) {
            on_pause(egress, frame);
            continue;
        }
        const auto vl = static_cast<uint32_t>(std::countr_zero(frame.priorities));
        credits_.on_limit(vl, frame.fccl);
        egress.blocked &= static_cast<uint16_t>(~(1U << vl));  // may_send finds out whether they suffice
    }
    if (has_credits_) return;
    for (uint32_t rest = egress.blocked; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        if (paused_until_[priority] <= now) end_pause(egress, priority, now);
    }
}

void FlowControlEnd::on_pause(EgressPort& egress, const FlowControlFrame& frame) {
    ++pauses_received_;
    for (uint32_t rest = frame.priorities; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        const auto bit = static_cast<uint16_t>(1U << priority);
        const bool was_paused = (egress.blocked & bit) != 0;
        if (frame.quanta == 0) {
            if (was_paused) end_pause(egress, priority, frame.arrival);
            continue;
        }
        if (!was_paused) paused_since_[priority] = frame.arrival;
        paused_until_[priority] = frame.arrival + pfc::quanta_time(frame.quanta, rate_);
        egress.blocked |= bit;
    }
}

void FlowControlEnd::end_pause(EgressPort& egress, uint32_t priority, SimTime now) {
    egress.blocked &= static_cast<uint16_t>(~(1U << priority));
    paused_time_ += now - paused_since_[priority];
}

bool FlowControlEnd::may_send(EgressPort& egress, uint32_t priority, uint32_t bytes) const noexcept {
    if (((egress.blocked >> priority) & 1) != 0) return false;
    if (!has_credits_ || credits_.may_send(priority, bytes)) return true;
    egress.blocked |= static_cast<uint16_t>(1U << priority);
    return false;
}

void FlowControlEnd::sent(uint32_t priority, uint32_t bytes) {
    if (has_credits_) credits_.sent(priority, bytes);
}

void FlowControlEnd::received(EgressPort& egress, uint32_t priority, uint32_t bytes, SimTime now) {
    if (!has_credits_) return;
    credits_.arrived(priority, bytes);
    if (const auto limit = credits_.freed(priority, bytes))
        send_flow_control(egress, control_, {.priorities = static_cast<uint16_t>(1U << priority), .fccl = *limit},
                          kCreditFrameBytes, now);
}

}  // namespace simverbs::link
