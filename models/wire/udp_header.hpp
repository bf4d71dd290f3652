#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// UDP header (RFC 768). RoCEv2 may send checksum 0: the ICRC protects the packet
/// (IBTA annex A17).
struct UdpHeader {
    static constexpr std::size_t size = 8;

    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
    /// Bytes of header and payload.
    std::uint16_t length = 0;
    std::uint16_t checksum = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be16(out, 0, source_port);
        store_be16(out, 2, destination_port);
        store_be16(out, 4, length);
        store_be16(out, 6, checksum);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<UdpHeader> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        UdpHeader udp;
        udp.source_port = load_be16(in, 0);
        udp.destination_port = load_be16(in, 2);
        udp.length = load_be16(in, 4);
        udp.checksum = load_be16(in, 6);
        return udp;
    }

    friend constexpr bool operator==(const UdpHeader&, const UdpHeader&) noexcept = default;
};

}  // namespace simverbs::wire
