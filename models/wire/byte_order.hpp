#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Network (big-endian) byte order, one byte at a time so that it works in constant expressions.
/// Every function expects its bytes to lie inside the span; callers check lengths first.
namespace simverbs::wire {

constexpr std::uint8_t load_u8(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return in[at];
}

constexpr std::uint16_t load_be16(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return static_cast<std::uint16_t>((in[at] << 8) | in[at + 1]);
}

constexpr std::uint32_t load_be24(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return (std::uint32_t{in[at]} << 16) | (std::uint32_t{in[at + 1]} << 8) | std::uint32_t{in[at + 2]};
}

constexpr std::uint32_t load_be32(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return (std::uint32_t{load_be16(in, at)} << 16) | load_be16(in, at + 2);
}

constexpr std::uint64_t load_be64(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return (std::uint64_t{load_be32(in, at)} << 32) | load_be32(in, at + 4);
}

constexpr void store_u8(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    out[at] = static_cast<std::uint8_t>(value);
}

constexpr void store_be16(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    store_u8(out, at, value >> 8);
    store_u8(out, at + 1, value);
}

constexpr void store_be24(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    store_u8(out, at, value >> 16);
    store_be16(out, at + 1, value);
}

constexpr void store_be32(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    store_be16(out, at, value >> 16);
    store_be16(out, at + 2, value);
}

constexpr void store_be64(std::span<std::uint8_t> out, std::size_t at, std::uint64_t value) noexcept {
    store_be32(out, at, static_cast<std::uint32_t>(value >> 32));
    store_be32(out, at + 4, static_cast<std::uint32_t>(value));
}

/// The CRCs are the exception to network order: they are sent least significant byte first.
constexpr std::uint32_t load_le32(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return std::uint32_t{in[at]} | (std::uint32_t{in[at + 1]} << 8) | (std::uint32_t{in[at + 2]} << 16) |
           (std::uint32_t{in[at + 3]} << 24);
}

constexpr std::uint16_t load_le16(std::span<const std::uint8_t> in, std::size_t at) noexcept {
    return static_cast<std::uint16_t>(in[at] | (in[at + 1] << 8));
}

constexpr void store_le16(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    store_u8(out, at, value);
    store_u8(out, at + 1, value >> 8);
}

constexpr void store_le32(std::span<std::uint8_t> out, std::size_t at, std::uint32_t value) noexcept {
    store_le16(out, at, value);
    store_le16(out, at + 2, value >> 16);
}

}  // namespace simverbs::wire
