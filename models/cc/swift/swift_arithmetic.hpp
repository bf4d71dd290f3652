// Swift's arithmetic: the target delay and the window.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/cc/arithmetic.hpp"

namespace simverbs::cc::swift {

/// The names are the paper's (Kumar et al., SIGCOMM 2020). Windows are in packets.
struct SwiftParams {
    double ai = 1.0;       ///< additive increase, packets a round trip
    double beta = 0.8;     ///< strength of a decrease
    double max_mdf = 0.5;  ///< the most that one decrease takes
    sim::SimTime base_target = sim::SimTime::us(20);
    sim::SimTime hop_target = sim::SimTime::ps(3'053'435);  ///< h, for each hop
    sim::SimTime fs_range = sim::SimTime::us(100);          ///< the most that flow scaling adds
    double fs_min_cwnd = 0.1;
    double fs_max_cwnd = 100;
    double min_cwnd = 0.001;
    int64_t max_cwnd = 0;  ///< zero: what the line rate carries in base RTT and base target
    int64_t retx_reset_threshold = 5;
};

/// Flow scaling: small windows get a larger target, min(fs_range, a/sqrt(cwnd) + b), with a and b such that it is
/// fs_range at fs_min_cwnd and 0 at fs_max_cwnd. Kumar et al., section 3.5. std::sqrt is exact to the last bit by IEEE.
[[nodiscard]] inline double flow_scaling_ps(double cwnd, const SwiftParams& p) noexcept {
    const double range = static_cast<double>(p.fs_range.in_ps());
    const double at_max = 1.0 / std::sqrt(p.fs_max_cwnd);
    const double a = range / (1.0 / std::sqrt(p.fs_min_cwnd) - at_max);
    return std::clamp(a * (1.0 / std::sqrt(cwnd) - at_max), 0.0, range);
}

/// Base target, topology scaling, flow scaling.
[[nodiscard]] inline sim::SimTime target_delay(double cwnd, uint32_t hops, const SwiftParams& p) noexcept {
    return p.base_target + p.hop_target * hops + sim::SimTime::ps(static_cast<int64_t>(flow_scaling_ps(cwnd, p)));
}

/// The window after `acked` packets below the target: ai packets a round trip.
[[nodiscard]] constexpr double increased_window(double cwnd, double acked, double ai) noexcept {
    return cwnd >= 1.0 ? cwnd + ai / cwnd * acked : cwnd + ai * acked;
}

/// The window after a delay above the target: in proportion to the excess, at most max_mdf.
[[nodiscard]] constexpr double decreased_window(double cwnd, sim::SimTime delay, sim::SimTime target,
                                                const SwiftParams& p) noexcept {
    const double excess = static_cast<double>((delay - target).in_ps()) / static_cast<double>(delay.in_ps());
    return cwnd * std::max(1.0 - p.beta * excess, 1.0 - p.max_mdf);
}

/// A window below one packet is kept by pacing: one packet in rtt/cwnd.
[[nodiscard]] constexpr sim::BitRate pacing_rate(double cwnd, sim::SimTime rtt, const PathFacts& path) noexcept {
    if (cwnd >= 1.0 || rtt <= sim::SimTime::zero()) return path.line_rate;
    constexpr double kBitPsPerByte = 8e12;
    const double bps = cwnd * static_cast<double>(path.packet_bytes) * kBitPsPerByte / static_cast<double>(rtt.in_ps());
    return std::clamp(sim::BitRate::bps(static_cast<int64_t>(bps)), sim::BitRate::bps(1), path.line_rate);
}

}  // namespace simverbs::cc::swift
