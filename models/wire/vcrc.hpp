#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace simverbs::wire {

/// Generator polynomial of the variant CRC, x^16 + x^12 + x^3 + x + 1, as the coefficients below x^16.
inline constexpr std::uint16_t kVcrcPolynomial = 0x100B;

namespace detail {

constexpr std::uint16_t bit_reversed(std::uint16_t value) noexcept {
    std::uint16_t reversed = 0;
    for (int bit = 0; bit < 16; ++bit) reversed |= static_cast<std::uint16_t>(((value >> bit) & 1) << (15 - bit));
    return reversed;
}

/// Slice k: what a byte contributes that is followed by k others of its group of eight.
constexpr std::array<std::array<std::uint16_t, 256>, 8> vcrc_tables() noexcept {
    std::array<std::array<std::uint16_t, 256>, 8> tables{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        auto crc = static_cast<std::uint16_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = static_cast<std::uint16_t>((crc >> 1) ^ ((crc & 1) != 0 ? bit_reversed(kVcrcPolynomial) : 0));
        }
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < 8; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint16_t before = tables[slice - 1][byte];
            tables[slice][byte] = static_cast<std::uint16_t>((before >> 8) ^ tables[0][before & 0xFF]);
        }
    }
    return tables;
}

inline constexpr auto kVcrcTables = vcrc_tables();

}  // namespace detail

/// Variant CRC over `packet`, from the LRH to the ICRC: seed 0xFFFF, least significant bit of each byte first,
/// complemented, as IBTA vol. 1 prescribes for both CRCs. Goes on the wire low byte first (`store_le16`).
constexpr std::uint16_t vcrc(std::span<const std::uint8_t> packet) noexcept {
    const auto& t = detail::kVcrcTables;
    std::uint16_t crc = 0xFFFF;
    std::size_t at = 0;
    for (; at + 8 <= packet.size(); at += 8) {
        const std::uint8_t* p = packet.data() + at;
        crc = static_cast<std::uint16_t>(t[7][p[0] ^ (crc & 0xFF)] ^ t[6][p[1] ^ (crc >> 8)] ^ t[5][p[2]] ^ t[4][p[3]] ^
                                         t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]]);
    }
    for (; at < packet.size(); ++at) {
        crc = static_cast<std::uint16_t>((crc >> 8) ^ t[0][(crc ^ packet[at]) & 0xFF]);
    }
    return static_cast<std::uint16_t>(~crc);
}

}  // namespace simverbs::wire
