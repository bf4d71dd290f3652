// Link-level flow control at a NIC: it obeys pauses and never sends any, it takes and gives credits.
#include <algorithm>
#include <bit>

#include "models/flow/flow_nic.hpp"
#include "sim/activity.hpp"

namespace simverbs::flow {

using sim::SimTime;

/// The next frame, or the end of a pause that was not renewed.
void FlowNic::find_next_control() {
    next_control_ = SimTime::max();
    if (!credits_on_) {
        for (uint32_t rest = egress_.blocked; rest != 0; rest &= rest - 1)
            next_control_ = std::min(next_control_, paused_until_[std::countr_zero(rest)]);
    }
    if (!activity().attention(id())) return;
    if (control_.in->empty())
        activity().clear_attention(id());
    else
        next_control_ = std::min(next_control_, control_.in->head_time());
}

void FlowNic::run_control() {
    while (control_.in->head_time() <= now_) {
        const link::FlowControlFrame frame = control_.in->front();
        control_.in->pop();
        if (!credits_on_) {
            on_pause(frame);
            continue;
        }
        const auto vl = static_cast<uint32_t>(std::countr_zero(frame.priorities));
        credits_->on_limit(vl, frame.fccl);
        egress_.blocked &= static_cast<uint16_t>(~(1U << vl));  // on_transmit finds out whether they suffice
    }
    if (!credits_on_) {
        for (uint32_t rest = egress_.blocked; rest != 0; rest &= rest - 1) {
            const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
            if (paused_until_[priority] > now_) continue;
            egress_.blocked &= static_cast<uint16_t>(~(1U << priority));
            counters_.paused_time += now_ - paused_since_[priority];
        }
    }
    find_next_control();
}

void FlowNic::on_pause(const link::FlowControlFrame& frame) {
    ++counters_.pauses_received;
    for (uint32_t rest = frame.priorities; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        const auto bit = static_cast<uint16_t>(1U << priority);
        const bool was_paused = (egress_.blocked & bit) != 0;
        if (frame.quanta == 0) {
            if (was_paused) counters_.paused_time += frame.arrival - paused_since_[priority];
            egress_.blocked &= static_cast<uint16_t>(~bit);
            continue;
        }
        if (!was_paused) paused_since_[priority] = frame.arrival;
        paused_until_[priority] = frame.arrival + pfc::quanta_time(frame.quanta, rate_);
        egress_.blocked |= bit;
    }
}

/// Blocks the VL when its credits do not suffice; the next credit frame opens it.
bool FlowNic::has_credits(uint32_t vl, uint32_t bytes) {
    if (credits_->may_send(vl, bytes)) return true;
    egress_.blocked |= static_cast<uint16_t>(1U << vl);
    return false;
}

/// What a NIC receives goes straight to memory: its credits come back at once.
void FlowNic::give_credits(const wire::Packet& packet, uint32_t bytes, SimTime now) {
    credits_->arrived(packet.priority, bytes);
    if (const auto limit = credits_->freed(packet.priority, bytes))
        link::send_flow_control(egress_, control_,
                                {.priorities = static_cast<uint16_t>(1U << packet.priority), .fccl = *limit},
                                link::kCreditFrameBytes, now);
}

}  // namespace simverbs::flow
