// Link-level flow control at a NIC: when it acts, which VL goes first, and pauses that only a fault makes it send.
#include <algorithm>
#include <bit>

#include "models/flow/flow_nic.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/engine.hpp"

namespace simverbs::flow {

using sim::SimTime;

/// The next frame, or the end of a pause that was not renewed.
void FlowNic::find_next_control() {
    next_control_ = flow_control_.next_pause_end(egress_);
    if (!activity().attention(id())) return;
    if (flow_control_.port().in->empty())
        activity().clear_attention(id());
    else
        next_control_ = std::min(next_control_, flow_control_.port().in->head_time());
}

void FlowNic::run_control() {
    flow_control_.run(egress_, now_);
    find_next_control();
}

SimTime FlowNic::paused_time() const noexcept {
    return flow_control_.paused_time(egress_, engine().frontier());
}

void FlowNic::add_pause_storm(const pfc::PauseStorm& storm) {
    SIM_CHECK(flow_control_.is_on() && !credits_on_, config_.path);
    storms_.push_back(storm);
}

uint64_t FlowNic::storm_frames(uint32_t priority) const noexcept {
    uint64_t frames = 0;
    for (const pfc::PauseStorm& s : storms_)
        if (s.priority() == priority) frames += s.frames();
    return frames;
}

void FlowNic::send_storm_frames(SimTime now) {
    for (pfc::PauseStorm& s : storms_) {
        const auto quanta = s.take(now, rate_);
        if (!quanta) continue;
        counters_.pauses_sent += *quanta != 0 ? 1 : 0;
        link::send_flow_control(
            egress_, flow_control_.port(),
            {.priorities = static_cast<uint16_t>(1U << s.priority()), .quanta = static_cast<uint16_t>(*quanta)},
            pfc::kFrameWireBytes, now);
    }
}

/// Bytes of what a VL sends next; of data, those of a full packet.
uint32_t FlowNic::next_bytes(uint32_t priority) const {
    if (((control_mask_ >> priority) & 1) != 0) return egress_.bytes_of(acks_[priority]->front());
    return path_facts_[ready_[priority].head].packet_bytes;
}

/// Among those that have credits; nullopt if none has.
std::optional<uint32_t> FlowNic::choose_vl(uint32_t sendable) {
    for (uint32_t rest = sendable; rest != 0; rest &= rest - 1) {
        const auto vl = static_cast<uint32_t>(std::countr_zero(rest));
        if (!flow_control_.may_send(egress_, vl, next_bytes(vl), now_)) sendable &= ~(1U << vl);
    }
    if (sendable == 0) return std::nullopt;
    if (std::has_single_bit(sendable) || arbiter_ == nullptr)
        return static_cast<uint32_t>(std::bit_width(sendable) - 1);
    return arbiter_->choose(*config_.vl_arbitration, sendable, [this](uint32_t vl) { return next_bytes(vl); });
}

void FlowNic::give_credits(const wire::Packet& packet, uint32_t bytes, SimTime now) {
    flow_control_.received(egress_, config_.peer_classes[packet.priority], bytes, now);
}

}  // namespace simverbs::flow
