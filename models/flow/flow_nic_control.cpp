// Link-level flow control at a NIC: it obeys pauses and sends them only as a fault, it takes and gives credits.
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
        unblock(vl, now_);  // on_transmit finds out whether they suffice
    }
    if (!credits_on_) {
        for (uint32_t rest = egress_.blocked; rest != 0; rest &= rest - 1) {
            const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
            if (paused_until_[priority] <= now_) unblock(priority, now_);
        }
    }
    find_next_control();
}

void FlowNic::on_pause(const link::FlowControlFrame& frame) {
    ++counters_.pauses_received;
    for (uint32_t rest = frame.priorities; rest != 0; rest &= rest - 1) {
        const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
        if (frame.quanta == 0) {
            unblock(priority, frame.arrival);
            continue;
        }
        paused_until_[priority] = frame.arrival + pfc::quanta_time(frame.quanta, rate_);
        block(priority, frame.arrival);
    }
}

void FlowNic::block(uint32_t priority, SimTime now) {
    const auto bit = static_cast<uint16_t>(1U << priority);
    if ((egress_.blocked & bit) != 0) return;
    egress_.blocked |= bit;
    paused_since_[priority] = now;
}

void FlowNic::unblock(uint32_t priority, SimTime now) {
    const auto bit = static_cast<uint16_t>(1U << priority);
    if ((egress_.blocked & bit) == 0) return;
    egress_.blocked &= static_cast<uint16_t>(~bit);
    counters_.paused_time += now - paused_since_[priority];
}

SimTime FlowNic::paused_time() const noexcept {
    SimTime sum = counters_.paused_time;
    for (uint32_t rest = egress_.blocked; rest != 0; rest &= rest - 1)
        sum += engine().frontier() - paused_since_[std::countr_zero(rest)];
    return sum;
}

void FlowNic::add_pause_storm(const pfc::PauseStorm& storm) {
    SIM_CHECK(control_.out != nullptr && !credits_on_, config_.path);
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
            egress_, control_,
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
        if (!has_credits(vl, next_bytes(vl))) sendable &= ~(1U << vl);
    }
    if (sendable == 0) return std::nullopt;
    if (std::has_single_bit(sendable) || arbiter_ == nullptr)
        return static_cast<uint32_t>(std::bit_width(sendable) - 1);
    return arbiter_->choose(*config_.vl_arbitration, sendable, [this](uint32_t vl) { return next_bytes(vl); });
}

/// Blocks the VL when its credits do not suffice; the next credit frame opens it.
bool FlowNic::has_credits(uint32_t vl, uint32_t bytes) {
    if (credits_->may_send(vl, bytes)) return true;
    block(vl, now_);
    return false;
}

/// What a NIC receives goes straight to memory: its credits come back at once.
void FlowNic::give_credits(const wire::Packet& packet, uint32_t bytes, SimTime now) {
    const uint32_t vl = config_.peer_classes[packet.priority];
    credits_->arrived(vl, bytes);
    if (const auto limit = credits_->freed(vl, bytes))
        link::send_flow_control(egress_, control_, {.priorities = static_cast<uint16_t>(1U << vl), .fccl = *limit},
                                link::kCreditFrameBytes, now);
}

}  // namespace simverbs::flow
