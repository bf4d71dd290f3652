// Bytes over a time as a rate.
#pragma once

#include "sim/sim_time.hpp"

namespace simverbs::scenarios::expect {

/// In bit/s; `time` is positive. Multiplies before it divides: 10 KB in 20 us are 4e9, not 4000000000.0000005.
[[nodiscard]] inline double bits_per_second(double bytes, sim::SimTime time) noexcept {
    constexpr double kBitsPerByte = 8;
    constexpr double kPsPerSecond = 1e12;
    return bytes * kBitsPerByte * kPsPerSecond / static_cast<double>(time.in_ps());
}

}  // namespace simverbs::scenarios::expect
