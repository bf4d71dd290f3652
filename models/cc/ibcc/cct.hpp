// InfiniBand's congestion control table: how long a QP waits between packets at each index.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/int128.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::cc::ibcc {

/// One entry. IBTA CongestionControlTable: the delay after a packet is its time at the line rate × multiplier /
/// 2^shift.
struct CctEntry {
    uint8_t shift = 0;        ///< 2 bits
    uint16_t multiplier = 0;  ///< 14 bits

    static constexpr uint32_t kMultiplierBits = 14;
    static constexpr uint32_t kMultiplierMask = (1u << kMultiplierBits) - 1;

    /// As in the MAD: shift above multiplier.
    [[nodiscard]] constexpr uint16_t encoded() const noexcept {
        return static_cast<uint16_t>((uint32_t{shift} << kMultiplierBits) | multiplier);
    }
    [[nodiscard]] static constexpr CctEntry decoded(uint16_t bits) noexcept {
        return {static_cast<uint8_t>(bits >> kMultiplierBits), static_cast<uint16_t>(bits & kMultiplierMask)};
    }
    constexpr bool operator==(const CctEntry&) const noexcept = default;
};

/// Entry `index` of a table that grows evenly; the first entry never delays.
[[nodiscard]] constexpr CctEntry linear_entry(uint32_t index, uint32_t step, uint32_t shift) noexcept {
    const uint64_t multiplier = uint64_t{index} * step;
    return {static_cast<uint8_t>(shift),
            static_cast<uint16_t>(std::min<uint64_t>(multiplier, CctEntry::kMultiplierMask))};
}

/// Rate with a packet's time at the line rate stretched by the entry's delay.
[[nodiscard]] constexpr sim::BitRate rate_with(CctEntry entry, sim::BitRate line_rate) noexcept {
    const int64_t whole = int64_t{1} << entry.shift;
    const auto rate = static_cast<sim::Int128>(line_rate.in_bps()) * whole / (whole + entry.multiplier);
    return sim::BitRate::bps(std::max(int64_t{1}, static_cast<int64_t>(rate)));
}

/// CCTI after a BECN.
[[nodiscard]] constexpr uint32_t increased_ccti(uint32_t ccti, uint32_t increase, uint32_t limit) noexcept {
    return std::min(ccti + increase, limit);
}

/// CCTI after `expiries` of the timer: each takes one, down to the least.
[[nodiscard]] constexpr uint32_t decreased_ccti(uint32_t ccti, int64_t expiries, uint32_t least) noexcept {
    const int64_t left = static_cast<int64_t>(ccti) - std::min<int64_t>(expiries, ccti);
    return std::max(static_cast<uint32_t>(left), least);
}

/// Expiries of a timer that runs since time zero, in (after, until].
[[nodiscard]] constexpr int64_t expiries_between(sim::SimTime after, sim::SimTime until, sim::SimTime timer) noexcept {
    return until / timer - after / timer;
}

}  // namespace simverbs::cc::ibcc
