#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/mac_address.hpp"

namespace simverbs::wire {

/// EtherType numbers (IEEE registry).
inline constexpr std::uint16_t kEthertypeIpv4 = 0x0800;
inline constexpr std::uint16_t kEthertypeVlan = 0x8100;
inline constexpr std::uint16_t kEthertypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kEthertypeMacControl = 0x8808;
inline constexpr std::uint16_t kEthertypeRoceV1 = 0x8915;

/// Ethernet II header (IEEE 802.3, 3.1.1). Preamble and FCS are not part of it.
struct EthernetHeader {
    static constexpr std::size_t size = 14;

    MacAddress destination;
    MacAddress source;
    std::uint16_t ethertype = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        std::copy(destination.bytes.begin(), destination.bytes.end(), out.begin());
        std::copy(source.bytes.begin(), source.bytes.end(), out.begin() + 6);
        store_be16(out, 12, ethertype);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<EthernetHeader> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        EthernetHeader ethernet;
        std::copy_n(in.begin(), MacAddress::size, ethernet.destination.bytes.begin());
        std::copy_n(in.begin() + 6, MacAddress::size, ethernet.source.bytes.begin());
        ethernet.ethertype = load_be16(in, 12);
        return ethernet;
    }

    friend constexpr bool operator==(const EthernetHeader&, const EthernetHeader&) noexcept = default;
};

}  // namespace simverbs::wire
