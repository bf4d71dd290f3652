// What the two ends of a link tell each other about their buffers: PFC pause frames, InfiniBand credit updates.
#pragma once

#include <cstdint>

#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

/// One frame of link-level flow control. It travels beside the packets, takes its time on the wire and is obeyed when
/// it `arrives`, the receiver's response time included.
struct FlowControlFrame {
    /// Nodes look at their control channels only when one has something for them (sim::Activity::call_attention).
    static constexpr bool kCallsAttention = true;

    sim::SimTime arrival = sim::SimTime::max();
    uint16_t priorities = 0;  ///< PFC: whom it is about. InfiniBand: bit of the VL
    uint16_t quanta = 0;      ///< PFC: how long to pause, in 512 bit times; 0: go on
    uint32_t fccl = 0;        ///< InfiniBand: flow control credit limit, in blocks of 64 bytes, modulo 4096
};
static_assert(sizeof(FlowControlFrame) == 16);

// InfiniBand credits (IBA, flow control): each VL counts in blocks of 64 bytes what it has sent (FCTBS) and may send
// (FCCL), modulo 4096; the limit is ahead of what was sent by at most half of that.
inline constexpr sim::ByteCount kCreditBytes = 64;
inline constexpr uint32_t kCreditModulus = 4096;
inline constexpr uint32_t kMaxCredits = kCreditModulus / 2;
inline constexpr uint32_t kManagementVl = 15;  ///< takes no credits
inline constexpr uint32_t kCreditFrameBytes = 8;

[[nodiscard]] constexpr uint32_t credit_blocks(uint32_t bytes) noexcept {
    return static_cast<uint32_t>((bytes + kCreditBytes - 1) / kCreditBytes);
}
/// The free-running credit limit that a received FCCL means to a sender that has sent `fctbs` blocks.
[[nodiscard]] constexpr uint32_t extend_credit_limit(uint32_t fctbs, uint32_t fccl) noexcept {
    const uint32_t ahead = (fccl - fctbs) % kCreditModulus;
    return ahead <= kMaxCredits ? fctbs + ahead : fctbs + ahead - kCreditModulus;
}
/// What an end may send before it has heard of the other's buffer.
[[nodiscard]] constexpr uint32_t initial_credits(sim::ByteCount vl_buffer) noexcept {
    return static_cast<uint32_t>(vl_buffer / kCreditBytes);
}

using ControlChannel = sim::Channel<FlowControlFrame>;

}  // namespace simverbs::link
