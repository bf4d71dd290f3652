// Priority-based flow control (IEEE 802.1Qbb, annex O; FACTS in docs/spec): quanta, response times, headroom.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::pfc {

inline constexpr uint32_t kPriorities = 8;
/// One pause quantum is 512 bit times of the link.
inline constexpr sim::ByteCount kQuantumBytes = 512 / 8;
/// The longest pause that a frame can ask for.
inline constexpr uint32_t kMaxQuanta = 0xFFFF;
/// A pause frame is a shortest Ethernet frame; with preamble and gap it takes this many byte times.
inline constexpr uint32_t kFrameWireBytes = 64 + 20;

/// How long a peer may take to stop after a pause frame has arrived, by link speed.
struct ResponseRow {
    int64_t gbps;
    uint32_t quanta;
};
inline constexpr std::array<ResponseRow, 7> kResponse{{
    {10, 67},
    {25, 80},
    {40, 118},
    {50, 147},
    {100, 394},
    {200, 453},
    {400, 905},
}};

/// Quanta of the slowest row that is at least as fast as `rate`; beyond the table, the last one scaled.
[[nodiscard]] constexpr uint32_t response_quanta(sim::BitRate rate) noexcept {
    for (const ResponseRow& row : kResponse)
        if (rate <= sim::BitRate::gbps(row.gbps)) return row.quanta;
    const ResponseRow& last = kResponse.back();
    return static_cast<uint32_t>(rate.in_bps() / 1'000'000'000 * last.quanta / last.gbps);
}
static_assert(response_quanta(sim::BitRate::gbps(100)) == 394);
static_assert(response_quanta(sim::BitRate::gbps(800)) == 1810);

[[nodiscard]] constexpr sim::SimTime quanta_time(uint32_t quanta, sim::BitRate rate) noexcept {
    return rate.time_for(sim::ByteCount{quanta} * kQuantumBytes);
}
[[nodiscard]] constexpr sim::SimTime response_time(sim::BitRate rate) noexcept {
    return quanta_time(response_quanta(rate), rate);
}

/// What the headroom of a lossless (port, priority) follows from.
struct HeadroomInput {
    sim::BitRate rate;
    int64_t metres = 5;
    sim::ByteCount port_mtu = 9100;      ///< the largest frame that may be on its way out when the pause is decided
    sim::ByteCount lossless_mtu = 1024;  ///< the largest frame of the lossless class
    sim::ByteCount cell = 96;            ///< of the buffer; its last one is seldom full
};
struct Headroom {
    sim::ByteCount xoff = 0;  ///< what may still arrive after the pause was decided
    sim::ByteCount size = 0;  ///< with the pipeline's share: what to set aside

    friend constexpr bool operator==(const Headroom&, const Headroom&) = default;
};

inline constexpr sim::ByteCount kKib = 1024;
inline constexpr sim::ByteCount kPipelineBytes = 18 * kKib;
inline constexpr sim::ByteCount kMacPhyBytes = kKib * 8 / 10;
/// Signals in a cable cover this many metres a second (SONiC's figure).
inline constexpr int64_t kMetresPerSecond = 198'000'000;

/// Cells that a byte of the worst mix of small packets takes, rounded up.
[[nodiscard]] constexpr int64_t worst_cell_occupancy(sim::ByteCount cell) noexcept {
    constexpr sim::ByteCount kSmallest = 64;
    return cell > 2 * kSmallest ? (cell + kSmallest - 1) / kSmallest : (2 * cell + cell) / (1 + cell);
}
static_assert(worst_cell_occupancy(96) == 2 && worst_cell_occupancy(208) == 4);

/// Headroom in the way of SONiC's buffer calculator.
[[nodiscard]] constexpr Headroom headroom(const HeadroomInput& in) noexcept {
    const sim::ByteCount cable = 2 * in.metres * (in.rate.in_bps() / 8) / kMetresPerSecond;
    const sim::ByteCount response = sim::ByteCount{response_quanta(in.rate)} * kQuantumBytes;
    const sim::ByteCount on_the_way = in.port_mtu + cable + kMacPhyBytes + response;
    const sim::ByteCount xoff = in.lossless_mtu + on_the_way * worst_cell_occupancy(in.cell);
    const sim::ByteCount rounded = (xoff + kKib - 1) / kKib * kKib;
    return {rounded, rounded + kPipelineBytes};
}

}  // namespace simverbs::pfc
