#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace simverbs::wire {

/// An Ethernet address, bytes in transmission order.
struct MacAddress {
    static constexpr std::size_t size = 6;
    std::array<std::uint8_t, size> bytes{};

    [[nodiscard]] constexpr bool is_multicast() const noexcept { return (bytes[0] & 1) != 0; }
    friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) noexcept = default;
};

inline constexpr MacAddress kBroadcastMac{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
/// Destination of PFC frames (IEEE 802.3 annex 31D).
inline constexpr MacAddress kMacControlMulticast{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

/// The multicast address that carries an IPv6 multicast group (RFC 2464, 7).
constexpr MacAddress mac_of_ipv6_multicast(std::span<const std::uint8_t, 16> group) noexcept {
    return {{0x33, 0x33, group[12], group[13], group[14], group[15]}};
}

/// The multicast address that carries an IPv4 multicast group (RFC 1112, 6.4).
constexpr MacAddress mac_of_ipv4_multicast(std::uint32_t group) noexcept {
    return {{0x01, 0x00, 0x5E, static_cast<std::uint8_t>((group >> 16) & 0x7F), static_cast<std::uint8_t>(group >> 8),
             static_cast<std::uint8_t>(group)}};
}

/// "02:00:00:00:00:01", lower case.
std::string to_string(const MacAddress& mac);

/// Reads six hexadecimal bytes separated by ':' or '-'; nullopt if `text` is anything else.
std::optional<MacAddress> parse_mac(std::string_view text);

}  // namespace simverbs::wire
