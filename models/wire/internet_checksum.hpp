#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace simverbs::wire {

/// Ones' complement sum of big-endian 16-bit words, complemented (RFC 1071).
/// Over a header whose checksum field is right the result is 0.
constexpr std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? std::uint64_t{bytes[i]} << 8 : bytes[i];
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace simverbs::wire
