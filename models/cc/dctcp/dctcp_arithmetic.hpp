// DCTCP's arithmetic: the share of marked bytes and what a round trip with marks costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/arithmetic.hpp"

namespace simverbs::cc::dctcp {

/// Share of marked bytes; zero if nothing was acknowledged.
[[nodiscard]] constexpr double marked_share(int64_t marked_bytes, int64_t acked_bytes) noexcept {
    return acked_bytes > 0 ? static_cast<double>(marked_bytes) / static_cast<double>(acked_bytes) : 0.0;
}

/// α = (1-g)·α + g·M, once a round trip. RFC 8257, section 3.3.
[[nodiscard]] constexpr double updated_alpha(double alpha, double share, double g) noexcept {
    return (1.0 - g) * alpha + g * share;
}

/// cwnd × (1 - α/2). RFC 8257, section 3.3.
[[nodiscard]] constexpr sim::BitRate decreased_rate(sim::BitRate rate, double alpha, sim::BitRate least) noexcept {
    return scaled_rate(rate, 1.0 - alpha / 2.0, least, rate);
}

}  // namespace simverbs::cc::dctcp
