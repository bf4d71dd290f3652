// What the two ends of a link tell each other about their buffers: PFC pause frames, InfiniBand credit updates.
#pragma once

#include <cstdint>

#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"

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

using ControlChannel = sim::Channel<FlowControlFrame>;

}  // namespace simverbs::link
