#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/wire/mac_address.hpp"

namespace simverbs::wire {

/// A global identifier: 64-bit subnet prefix and 64-bit interface id, laid out like an IPv6 address.
struct Gid {
    static constexpr std::size_t size = 16;
    std::array<std::uint8_t, size> bytes{};

    /// Default prefix of a subnet without a router, and the IPv6 link-local prefix.
    static constexpr std::uint64_t kLinkLocalPrefix = 0xFE80'0000'0000'0000;

    static constexpr Gid from_prefix_and_guid(std::uint64_t prefix, std::uint64_t guid) noexcept {
        Gid gid;
        for (std::size_t i = 0; i < 8; ++i) {
            gid.bytes[i] = static_cast<std::uint8_t>(prefix >> (56 - 8 * i));
            gid.bytes[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
        }
        return gid;
    }

    [[nodiscard]] constexpr std::uint64_t subnet_prefix() const noexcept { return half(0); }
    [[nodiscard]] constexpr std::uint64_t interface_id() const noexcept { return half(8); }

    [[nodiscard]] constexpr bool is_zero() const noexcept { return subnet_prefix() == 0 && interface_id() == 0; }
    [[nodiscard]] constexpr bool is_multicast() const noexcept { return bytes[0] == 0xFF || is_ipv4_multicast(); }
    [[nodiscard]] constexpr bool is_link_local() const noexcept { return subnet_prefix() == kLinkLocalPrefix; }

    /// True for ::ffff:a.b.c.d, the form in which a RoCEv2 GID holds an IPv4 address.
    [[nodiscard]] constexpr bool is_ipv4_mapped() const noexcept {
        return subnet_prefix() == 0 && (interface_id() >> 32) == 0xFFFF;
    }

    /// The IPv4 address in a mapped GID, in host order (10.0.0.1 is 0x0A000001); meaningless for others.
    [[nodiscard]] constexpr std::uint32_t ipv4() const noexcept { return static_cast<std::uint32_t>(interface_id()); }

    friend constexpr auto operator<=>(const Gid&, const Gid&) noexcept = default;

  private:
    [[nodiscard]] constexpr std::uint64_t half(std::size_t at) const noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 8; ++i) value = (value << 8) | bytes[at + i];
        return value;
    }
    [[nodiscard]] constexpr bool is_ipv4_multicast() const noexcept {
        return is_ipv4_mapped() && (bytes[12] & 0xF0) == 0xE0;
    }
};

/// Modified EUI-64 of a MAC: ff:fe in the middle, the universal/local bit inverted (RFC 4291, appendix A).
constexpr std::uint64_t eui64_from_mac(const MacAddress& mac) noexcept {
    const std::array<std::uint8_t, 8> eui = {static_cast<std::uint8_t>(mac.bytes[0] ^ 0x02),
                                             mac.bytes[1],
                                             mac.bytes[2],
                                             0xFF,
                                             0xFE,
                                             mac.bytes[3],
                                             mac.bytes[4],
                                             mac.bytes[5]};
    std::uint64_t value = 0;
    for (const std::uint8_t byte : eui) value = (value << 8) | byte;
    return value;
}

/// The GID that a RoCE port always has at index 0: fe80:: + EUI-64 of its MAC.
constexpr Gid link_local_gid(const MacAddress& mac) noexcept {
    return Gid::from_prefix_and_guid(Gid::kLinkLocalPrefix, eui64_from_mac(mac));
}

/// ::ffff:a.b.c.d; `ipv4` in host order.
constexpr Gid gid_from_ipv4(std::uint32_t ipv4) noexcept {
    return Gid::from_prefix_and_guid(0, 0x0000'FFFF'0000'0000 | ipv4);
}

/// Eight groups of four hexadecimal digits, nothing shortened: as sysfs prints a GID.
std::string to_string(const Gid& gid);

/// Reads any IPv6 text form, or a dotted IPv4 address as its mapped GID; nullopt if `text` is neither.
std::optional<Gid> parse_gid(std::string_view text);

}  // namespace simverbs::wire
