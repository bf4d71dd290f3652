// DCQCN's rate decrease.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/dcqcn/dcqcn_params.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::cc::dcqcn {

/// 2^(10 - gd): what a decrease takes of the rate is alpha times this.
[[nodiscard]] constexpr double share_of_alpha(int64_t rpg_gd) noexcept {
    constexpr int64_t kAlphaBits = 10;
    return rpg_gd >= kAlphaBits ? 1.0 / static_cast<double>(int64_t{1} << (rpg_gd - kAlphaBits))
                                : static_cast<double>(int64_t{1} << (kAlphaBits - rpg_gd));
}

/// Rate after one decrease: current × (1 - alpha/2) for gd 11, not below min_dec_fac of it nor below the least rate.
/// Source: NVIDIA "DCQCN CC Parameters", Rate Decrease; Zhu et al., SIGCOMM 2015, eq. (1).
[[nodiscard]] constexpr sim::BitRate decreased_rate(sim::BitRate current, double alpha, const DcqcnParams& p) noexcept {
    const double factor = std::max(1.0 - alpha * share_of_alpha(p.rpg_gd), p.rpg_min_dec_fac);
    return scaled_rate(current, factor, p.rpg_min_rate, current);
}

/// Does a decrease set the target rate to the current rate of before? It does after any increase that counts (so that
/// several decreases in a row keep the target of the first), or always with clamp_tgt_rate.
[[nodiscard]] constexpr bool clamps_target(int64_t time_stage, int64_t byte_stage, const DcqcnParams& p) noexcept {
    return p.clamp_tgt_rate || byte_stage > 0 || (p.clamp_tgt_rate_after_time_inc && time_stage > 0);
}

/// The first end of a monitor period strictly after `now`; periods follow each other from `start` on.
[[nodiscard]] constexpr sim::SimTime next_period_end(sim::SimTime start, sim::SimTime now,
                                                     sim::SimTime period) noexcept {
    return start + period * ((now - start) / period + 1);
}

}  // namespace simverbs::cc::dcqcn
