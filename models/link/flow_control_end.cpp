#include "models/link/flow_control_end.hpp"

#include <algorithm>
#include <bit>

#include "sim/check.hpp"

namespace simverbs::link {

using sim::SimTime;

FlowControlEnd::FlowControlEnd(const PortWiring& wiring, sim::ByteCount vl_buffer)
    : control_(wiring.control), rate_(wiring.params.rate) {
    if (control_.in != nullptr && wiring.params.layer == LinkLayer::InfiniBand)
        credits_ = std::make_unique<Credits>(vl_buffer);
}

FlowControlEnd::Pause& FlowControlEnd::pause_of(uint32_t priority) {
    for (Pause& p : pauses_)
        if (p.priority == priority) return p;
    return pauses_.emplace_back(Pause{.until = {}, .since = {}, .priority = priority});
}

const FlowControlEnd::Pause& FlowControlEnd::pause_of(uint32_t priority) const {
    const auto found = std::ranges::find(pauses_, priority, &Pause::priority);
    SIM_CHECK(found != pauses_.end(), priority);
    return *found;
}

SimTime FlowControlEnd::next_pause_end(const EgressPort& egress) const noexcept {
    SimTime t = SimTime::max();
    if (has_credits()) return t;
    for (uint32_t rest = egress.blocked; rest != 0; rest &= rest - 1)
        t = std::min(t, pause_of(static_cast<uint32_t>(std::countr_zero(rest))).until);
    return t;
}

SimTime FlowControlEnd::next_time(const EgressPort& egress) const noexcept {
    return std::min(control_.in->head_time(), next_pause_end(egress));
}

void FlowControlEnd::run(EgressPort& egress, SimTime now) {
    while (control_.in->head_time() <= now) {
        const FlowControlFrame frame = control_.in->front();
        control_.in->pop();
        if (!has_credits()) {
            on_pause(egress, frame);
            continue;
        }
        const auto vl = static_cast<uint32_t>(std::countr_zero(frame.priorities));
        credits_->on_limit(vl, frame.fccl);
        unblock(egress, vl, now);  // may_send finds out whether they suffice
    }
    if (has_credits()) return;
    for (uint32_t rest = egress.blocked; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        if (pause_of(priority).until <= now) unblock(egress, priority, now);
    }
}

void FlowControlEnd::on_pause(EgressPort& egress, const FlowControlFrame& frame) {
    ++pauses_received_;
    for (uint32_t rest = frame.priorities; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        if (frame.quanta == 0) {
            unblock(egress, priority, frame.arrival);
            continue;
        }
        pause_of(priority).until = frame.arrival + pfc::quanta_time(frame.quanta, rate_);
        block(egress, priority, frame.arrival);
    }
}

void FlowControlEnd::block(EgressPort& egress, uint32_t priority, SimTime now) {
    const auto bit = static_cast<uint16_t>(1U << priority);
    if ((egress.blocked & bit) != 0) return;
    egress.blocked |= bit;
    pause_of(priority).since = now;
}

void FlowControlEnd::unblock(EgressPort& egress, uint32_t priority, SimTime now) noexcept {
    const auto bit = static_cast<uint16_t>(1U << priority);
    if ((egress.blocked & bit) == 0) return;
    egress.blocked &= static_cast<uint16_t>(~bit);
    paused_time_ += now - pause_of(priority).since;
}

bool FlowControlEnd::may_send(EgressPort& egress, uint32_t priority, uint32_t bytes, SimTime now) {
    if (((egress.blocked >> priority) & 1) != 0) return false;
    if (!has_credits() || credits_->may_send(priority, bytes)) return true;
    block(egress, priority, now);
    return false;
}

void FlowControlEnd::received(EgressPort& egress, uint32_t priority, uint32_t bytes, SimTime now) {
    if (!has_credits()) return;
    credits_->arrived(priority, bytes);
    if (const auto limit = credits_->freed(priority, bytes))
        send_flow_control(egress, control_, {.priorities = static_cast<uint16_t>(1U << priority), .fccl = *limit},
                          kCreditFrameBytes, now);
}

SimTime FlowControlEnd::paused_time(const EgressPort& egress, SimTime now) const noexcept {
    SimTime sum = paused_time_;
    for (uint32_t rest = egress.blocked; rest != 0; rest &= rest - 1)
        sum += now - pause_of(static_cast<uint32_t>(std::countr_zero(rest))).since;
    return sum;
}

}  // namespace simverbs::link
