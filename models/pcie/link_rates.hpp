// What a PCIe link carries: raw rate, and what acknowledgements, credits and clock compensation leave of it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/pcie/link_spec.hpp"
#include "sim/int128.hpp"
#include "sim/units.hpp"

namespace simverbs::pcie {

struct GenerationRow {
    uint8_t generation;
    int64_t mega_transfers;             ///< of one lane a second
    int64_t encoding_bits, coded_bits;  ///< 8b/10b, 128b/130b
    int64_t internal_delay;             ///< symbol times that the Ack and FC tables add
};

/// Source: PCI Express Base 5.0, 4.2 (encodings), tables 3-7 … 3-9 (internal delay).
inline constexpr std::array<GenerationRow, 5> kGenerations = {{
    {1, 2'500, 8, 10, 19},
    {2, 5'000, 8, 10, 70},
    {3, 8'000, 128, 130, 115},
    {4, 16'000, 128, 130, 115},
    {5, 32'000, 128, 130, 115},
}};

/// Widths and MPS, in the order of the tables.
inline constexpr std::array<uint8_t, 5> kWidths = {1, 2, 4, 8, 16};
inline constexpr std::array<uint16_t, 6> kPayloadSizes = {128, 256, 512, 1024, 2048, 4096};

/// Tenths of a TLP time after which an Ack is due, by width and MPS.
/// Source: as above, the AckFactor of tables 3-7 … 3-9; the guideline for UpdateFC (tables 2-46 … 2-48) has the same.
inline constexpr std::array<std::array<int64_t, 6>, 5> kAckFactorTenths = {{
    {14, 14, 10, 10, 10, 10},  // x1
    {14, 14, 10, 10, 10, 10},  // x2
    {14, 14, 10, 10, 10, 10},  // x4
    {25, 25, 10, 10, 10, 10},  // x8
    {30, 30, 20, 20, 20, 20},  // x16
}};

/// Bytes that a TLP of MPS bytes takes at most in those tables, beside its data.
inline constexpr int64_t kTlpOverhead = 28;
inline constexpr int64_t kDllpBytes = 8;  ///< an Ack or an UpdateFC with its framing
inline constexpr int64_t kSkipBytes = 4, kSkipInterval = 1538;

[[nodiscard]] constexpr bool is_width(uint8_t lanes) noexcept {
    return std::has_single_bit(lanes) && lanes <= 16;
}
[[nodiscard]] constexpr bool is_payload_size(uint16_t bytes) noexcept {
    return std::has_single_bit(bytes) && bytes >= 128 && bytes <= 4096;
}
[[nodiscard]] constexpr bool is_generation(uint8_t g) noexcept {
    return g >= 1 && g <= kGenerations.size();
}
[[nodiscard]] constexpr bool is_link(const LinkSpec& l) noexcept {
    return is_generation(l.generation) && is_width(l.lanes) && is_payload_size(l.max_payload);
}

[[nodiscard]] constexpr const GenerationRow& generation_row(const LinkSpec& l) noexcept {
    return kGenerations[l.generation - 1U];
}

/// Symbol times between two Acks, and between two UpdateFC of a kind.
[[nodiscard]] constexpr int64_t ack_limit(const LinkSpec& l) noexcept {
    const auto width = static_cast<size_t>(std::countr_zero(l.lanes));
    const auto size = static_cast<size_t>(std::countr_zero(l.max_payload)) - 7;
    return (l.max_payload + kTlpOverhead) * kAckFactorTenths[width][size] / 10 / (int64_t{1} << width) +
           generation_row(l).internal_delay;
}

/// Bits a second of one direction, after the encoding.
[[nodiscard]] constexpr sim::BitRate raw_rate(const LinkSpec& l) noexcept {
    const GenerationRow& g = generation_row(l);
    return sim::BitRate::bps(g.mega_transfers * 1'000'000 * l.lanes * g.encoding_bits / g.coded_bits);
}

/// What is left for TLPs and their framing. Source: Neugebauer et al., "Understanding PCIe performance for end host
/// networking", SIGCOMM 2018 (pcie-bench).
[[nodiscard]] constexpr sim::BitRate tlp_rate(const LinkSpec& l) noexcept {
    const int64_t limit = ack_limit(l);
    const auto raw = static_cast<sim::Int128>(raw_rate(l).in_bps());
    const sim::Int128 lost = raw * 2 * kDllpBytes / limit + raw * kSkipBytes / kSkipInterval;
    return sim::BitRate::bps(static_cast<int64_t>(raw - lost));
}

/// What a link trains to between two ends.
[[nodiscard]] constexpr LinkSpec trained(const LinkSpec& a, const LinkSpec& b) noexcept {
    return {a.generation < b.generation ? a.generation : b.generation, a.lanes < b.lanes ? a.lanes : b.lanes,
            a.max_payload < b.max_payload ? a.max_payload : b.max_payload};
}

// Corners of the tables as printed.
static_assert(ack_limit({3, 8, 128}) == 163 && ack_limit({3, 8, 256}) == 203 && ack_limit({3, 8, 512}) == 182 &&
              ack_limit({3, 8, 1024}) == 246);
static_assert(ack_limit({3, 16, 128}) == 144 && ack_limit({3, 16, 256}) == 168 && ack_limit({3, 16, 512}) == 182 &&
              ack_limit({3, 16, 1024}) == 246);
static_assert(ack_limit({1, 1, 128}) == 237 && ack_limit({1, 16, 4096}) == 534 && ack_limit({2, 4, 256}) == 169);

}  // namespace simverbs::pcie
