// HPCC's arithmetic: how loaded each link is, and the rate that would make it right.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/arithmetic.hpp"

namespace simverbs::cc::hpcc {

/// What is kept of one hop between ACKs.
struct HopRecord {
    sim::SimTime time;
    uint64_t tx_bytes = 0;
    uint32_t queue_bytes = 0;
};

/// Bytes in flight on a link between two records, as a share of rate × base RTT: the share of the rate that was sent,
/// and the smaller of the two queues against the bandwidth-delay product. `now.time` must be after `before.time`.
/// Source: Li et al., SIGCOMM 2019, Algorithm 1, MeasureInflight.
[[nodiscard]] constexpr double link_load(const HopRecord& before, const HopRecord& now, sim::BitRate rate,
                                         sim::SimTime base_rtt) noexcept {
    constexpr double kBitPsPerByte = 8e12;
    // Bits a second that a byte in a base RTT makes: the same for all hops, so that a loop over them divides once.
    const double byte_in_base_rtt = kBitPsPerByte / static_cast<double>(base_rtt.in_ps());
    const double sent = static_cast<double>(now.tx_bytes - before.tx_bytes) * kBitPsPerByte /
                        static_cast<double>((now.time - before.time).in_ps());
    const double queued = static_cast<double>(std::min(now.queue_bytes, before.queue_bytes)) * byte_in_base_rtt;
    return (sent + queued) / static_cast<double>(rate.in_bps());
}

/// Moving average over one base RTT: a sample that covers `elapsed` of it has that weight.
[[nodiscard]] constexpr double averaged_load(double average, double sample, sim::SimTime elapsed,
                                             sim::SimTime base_rtt) noexcept {
    const sim::SimTime used = std::min(elapsed, base_rtt);
    const double base = static_cast<double>(base_rtt.in_ps());
    return (average * static_cast<double>((base_rtt - used).in_ps()) + sample * static_cast<double>(used.in_ps())) /
           base;
}

struct RateChange {
    sim::BitRate rate;
    int64_t inc_stage = 0;
};

/// The rate for a load: reference/(load/eta) + AI when the load is above eta or after max_stage additive steps, else
/// reference + AI. Source: Li et al., Algorithm 1, ComputeWind, with rates for windows as in its simulator.
[[nodiscard]] constexpr RateChange next_rate(sim::BitRate reference, double load, int64_t inc_stage, double eta,
                                             int64_t max_stage, sim::BitRate ai, sim::BitRate least,
                                             sim::BitRate most) noexcept {
    const double excess = load / eta;
    const auto clamped = [&](sim::BitRate rate) {
        return std::clamp(sim::BitRate::bps(rate.in_bps() + ai.in_bps()), std::min(least, most), most);
    };
    if (excess >= 1.0 || inc_stage >= max_stage) {
        // No load at all leaves the most; dividing by it would not.
        const sim::BitRate right = excess > 0 ? scaled_rate(reference, 1.0 / excess, sim::BitRate(), most) : most;
        return {clamped(right), 0};
    }
    return {clamped(reference), inc_stage + 1};
}

}  // namespace simverbs::cc::hpcc
