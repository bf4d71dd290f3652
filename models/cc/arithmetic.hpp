// What several algorithms compute: products without overflow, powers without libm, windows of a path.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/congestion_control.hpp"
#include "sim/int128.hpp"

namespace simverbs::cc {

/// base^n by squaring: the same bits everywhere, which std::pow does not promise. At most 63 rounds.
[[nodiscard]] constexpr double power(double base, int64_t n) noexcept {
    double result = 1.0;
    for (; n > 0; n >>= 1) {
        if (n & 1) result *= base;
        base *= base;
    }
    return result;
}

/// Bytes that `rate` carries in `time`, rounded up.
[[nodiscard]] constexpr int64_t bytes_in(sim::BitRate rate, sim::SimTime time) noexcept {
    constexpr sim::Int128 kBitPsPerByte = sim::Int128{8} * 1'000'000'000'000;
    return static_cast<int64_t>((static_cast<sim::Int128>(rate.in_bps()) * time.in_ps() + kBitPsPerByte - 1) /
                                kBitPsPerByte);
}

/// The share of the line rate, at least 1 bit/s.
[[nodiscard]] constexpr sim::BitRate share_of(sim::BitRate line_rate, double fraction) noexcept {
    return sim::BitRate::bps(
        std::max(int64_t{1}, static_cast<int64_t>(static_cast<double>(line_rate.in_bps()) * fraction)));
}

/// `given` if it is not zero, else that share of the line rate: parameters that scale with the port unless they are
/// set.
[[nodiscard]] constexpr sim::BitRate given_or_share(sim::BitRate given, sim::BitRate line_rate,
                                                    double fraction) noexcept {
    return given.in_bps() > 0 ? given : share_of(line_rate, fraction);
}

/// `rate` times a factor in [0, ∞), to the nearest bit/s, kept within [least, most]. The product is compared before it
/// is converted, so that a huge factor is harmless.
[[nodiscard]] constexpr sim::BitRate scaled_rate(sim::BitRate rate, double factor, sim::BitRate least,
                                                 sim::BitRate most) noexcept {
    const double wanted = static_cast<double>(rate.in_bps()) * factor;
    if (!(wanted < static_cast<double>(most.in_bps()))) return most;
    const auto whole = static_cast<int64_t>(wanted);
    const int64_t nearest = wanted - static_cast<double>(whole) < 0.5 ? whole : whole + 1;
    return std::clamp(sim::BitRate::bps(nearest), std::min(least, most), most);
}

/// The window that fills the path: line rate × base RTT. HPCC's evaluation gives it to DCQCN and TIMELY as "+window";
/// it counts payload against wire bytes, as there.
[[nodiscard]] constexpr int64_t full_window(const PathFacts& path) noexcept {
    return std::max(int64_t{1}, bytes_in(path.line_rate, path.base_rtt));
}

/// The full window in proportion to the rate, at least one byte (which lets one packet out).
[[nodiscard]] constexpr int64_t window_for(const PathFacts& path, sim::BitRate rate) noexcept {
    return std::max(int64_t{1}, bytes_in(rate, path.base_rtt));
}

/// How an algorithm that sets a rate bounds the bytes in flight.
enum class WindowRule : uint8_t {
    None,
    Fixed,     ///< full_window
    Variable,  ///< window_for(current rate)
};

[[nodiscard]] constexpr int64_t window_by(WindowRule rule, const PathFacts& path, sim::BitRate rate) noexcept {
    switch (rule) {
        case WindowRule::None:
            return Control::kNoWindow;
        case WindowRule::Fixed:
            return full_window(path);
        case WindowRule::Variable:
            return window_for(path, rate);
    }
    return Control::kNoWindow;
}

/// True once the first packet sent after `mark` (the next_psn of back then) is acknowledged: one round trip is over.
[[nodiscard]] constexpr bool is_past(wire::Psn ack_psn, wire::Psn mark) noexcept {
    return wire::Psn::distance(mark, ack_psn) >= 0;
}

}  // namespace simverbs::cc
