#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace simverbs::wire {

/// Sum of big-endian 16-bit words, carries not yet folded in; an odd last byte counts as followed by 0.
constexpr std::uint64_t internet_sum(std::span<const std::uint8_t> bytes) noexcept {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::size_t at = 0;
    for (; at + 2 <= bytes.size(); at += 2) {
        high += bytes[at];
        low += bytes[at + 1];
    }
    if (at < bytes.size()) high += bytes[at];
    return (high << 8) + low;
}

/// Ones' complement sum of `bytes` and `sum`, complemented (RFC 1071).
/// Over a header whose checksum field is right the result is 0.
constexpr std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes, std::uint64_t sum = 0) noexcept {
    sum += internet_sum(bytes);
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace simverbs::wire
