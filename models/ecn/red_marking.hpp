// Which packets a congested queue marks: RED on the queue's length (RFC 3168; Zhu et al., SIGCOMM 2015).
#pragma once

#include <cstdint>

#include "sim/units.hpp"

namespace simverbs::ecn {

/// Marks nothing up to kmin, above kmax everything (or the share `beyond`: InfiniBand's Marking_Rate), and in between
/// with a probability that grows to pmax.
struct RedParams {
    sim::ByteCount kmin = 0;
    sim::ByteCount kmax = 0;
    double pmax = 0;
    double beyond = 1;
};

/// Probability that a packet which leaves (or finds) a queue of `bytes` is marked.
[[nodiscard]] constexpr double mark_probability(const RedParams& p, sim::ByteCount bytes) noexcept {
    if (bytes <= p.kmin) return 0;
    if (bytes > p.kmax) return p.beyond;
    return p.pmax * static_cast<double>(bytes - p.kmin) / static_cast<double>(p.kmax - p.kmin);
}

/// `draw`: uniform over 64 bits.
[[nodiscard]] constexpr bool decide_mark(const RedParams& p, sim::ByteCount bytes, uint64_t draw) noexcept {
    if (bytes <= p.kmin) return false;
    if (bytes > p.kmax && p.beyond >= 1) return true;
    return static_cast<double>(draw >> 11) * 0x1p-53 < mark_probability(p, bytes);
}

}  // namespace simverbs::ecn
