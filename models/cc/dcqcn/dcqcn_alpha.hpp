// DCQCN's alpha: the estimate of how congested the path is.
#pragma once

#include <cstdint>

#include "models/cc/arithmetic.hpp"

namespace simverbs::cc::dcqcn {

/// Vendors keep alpha and its gain with 10 fractional bits.
inline constexpr double kAlphaUnit = 1024.0;

/// What alpha keeps at an update: 1 - g.
[[nodiscard]] constexpr double kept_share(int64_t dce_tcp_g) noexcept {
    return static_cast<double>(dce_tcp_g) / kAlphaUnit;
}

/// An update with a CNP: α = (1-g)·α + g. Zhu et al., SIGCOMM 2015, eq. (1).
[[nodiscard]] constexpr double alpha_after_cnp(double alpha, double kept) noexcept {
    return kept * alpha + (1.0 - kept);
}

/// `n` updates without a CNP: α = (1-g)^n·α. Zhu et al., eq. (2).
[[nodiscard]] constexpr double alpha_without_cnp(double alpha, double kept, int64_t n) noexcept {
    return alpha * power(kept, n);
}

}  // namespace simverbs::cc::dcqcn
