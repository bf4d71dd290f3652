// Rates and sizes as types: a bare integer never says what it counts.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/int128.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// A count of bytes.
using ByteCount = int64_t;

/// A rate in bits a second.
class BitRate {
  public:
    constexpr BitRate() noexcept = default;
    static constexpr BitRate bps(int64_t n) noexcept { return BitRate(n); }
    static constexpr BitRate mbps(int64_t n) noexcept { return BitRate(n * 1'000'000); }
    static constexpr BitRate gbps(int64_t n) noexcept { return BitRate(n * 1'000'000'000); }

    [[nodiscard]] constexpr int64_t in_bps() const noexcept { return bps_; }
    constexpr auto operator<=>(const BitRate&) const noexcept = default;

    /// Time that `bytes` take at this rate, rounded up to a picosecond. The rate must be positive.
    [[nodiscard]] constexpr SimTime time_for(ByteCount bytes) const noexcept {
        const auto bits_ps = static_cast<Int128>(bytes) * 8 * 1'000'000'000'000;
        return SimTime::ps(static_cast<int64_t>((bits_ps + bps_ - 1) / bps_));
    }

  private:
    explicit constexpr BitRate(int64_t n) noexcept : bps_(n) {}
    int64_t bps_ = 0;
};

/// Picoseconds a byte in 48.16 fixed point: the hot path multiplies where BitRate::time_for divides.
class ByteTime {
  public:
    constexpr ByteTime() noexcept = default;
    constexpr explicit ByteTime(BitRate rate) noexcept
        : q16_(static_cast<uint64_t>((static_cast<UInt128>(8'000'000'000'000) * 65536) /
                                     static_cast<uint64_t>(rate.in_bps()))) {}
    /// Time of `bytes`, rounded down to a picosecond; exact wherever a byte takes a whole number of picoseconds.
    [[nodiscard]] constexpr SimTime of(uint32_t bytes) const noexcept {
        return SimTime::ps(static_cast<int64_t>((q16_ * bytes) >> 16));
    }

    /// Less time a byte is a faster link.
    constexpr auto operator<=>(const ByteTime&) const noexcept = default;

  private:
    uint64_t q16_ = 0;
};

}  // namespace simverbs::sim
