// Times of communication management. Timeouts are coded as exponents, as everywhere in InfiniBand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/sim_time.hpp"

namespace simverbs::cm {

/// 4.096 us × 2^code, in the whole milliseconds in which Linux counts it (drivers/infiniband/core/cm.c): at least 1 ms.
constexpr sim::SimTime time_of(uint8_t code) noexcept {
    return sim::SimTime::ms(int64_t{1} << std::max(int{code} - 8, 0));
}

/// Local ACK timeout of a QP: the path there and back, and the responder's delay.
constexpr uint8_t ack_timeout(uint8_t ca_ack_delay, uint8_t packet_life_time) noexcept {
    int code = packet_life_time + 1;
    if (code >= ca_ack_delay)
        code += ca_ack_delay >= code - 1 ? 1 : 0;
    else
        code = ca_ack_delay + (code >= ca_ack_delay - 1 ? 1 : 0);
    return static_cast<uint8_t>(std::min(code, 31));
}

/// What rdma_cm asks for (drivers/infiniband/core/cma.c): an answer within 4 s, 15 repetitions, 65 s after a MRA.
inline constexpr uint8_t kResponseTimeout = 20, kMaxCmRetries = 15, kMraTimeout = 24;
/// Life time of a packet where no subnet manager says it (RoCE).
inline constexpr uint8_t kRocePacketLifeTime = 18;

/// A MAD from the adapter through interrupt, completion and work queue to the CM; and from the CM to the adapter.
/// Rough figures of a kernel on an idle core; nothing but the order of events depends on them.
inline constexpr sim::SimTime kReceiveTime = sim::SimTime::us(6), kSendTime = sim::SimTime::us(2);

}  // namespace simverbs::cm
