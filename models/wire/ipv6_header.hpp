#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/gid.hpp"
#include "models/wire/ip_protocol.hpp"

namespace simverbs::wire {

/// IPv6 header without extension headers (RFC 8200, 3).
struct Ipv6Header {
    static constexpr std::size_t size = 40;

    std::uint8_t traffic_class = 0;
    /// 20 bits.
    std::uint32_t flow_label = 0;
    /// Bytes behind this header.
    std::uint16_t payload_length = 0;
    std::uint8_t next_header = kIpProtocolUdp;
    std::uint8_t hop_limit = 64;
    Gid source;
    Gid destination;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, (6u << 28) | (std::uint32_t{traffic_class} << 20) | (flow_label & 0xFFFFFu));
        store_be16(out, 4, payload_length);
        store_u8(out, 6, next_header);
        store_u8(out, 7, hop_limit);
        std::copy(source.bytes.begin(), source.bytes.end(), out.begin() + 8);
        std::copy(destination.bytes.begin(), destination.bytes.end(), out.begin() + 24);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short or the version is not 6.
    static constexpr std::optional<Ipv6Header> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        if (in[0] >> 4 != 6) return std::nullopt;
        Ipv6Header ip;
        const std::uint32_t word = load_be32(in, 0);
        ip.traffic_class = static_cast<std::uint8_t>(word >> 20);
        ip.flow_label = word & 0xFFFFF;
        ip.payload_length = load_be16(in, 4);
        ip.next_header = in[6];
        ip.hop_limit = in[7];
        std::copy_n(in.begin() + 8, Gid::size, ip.source.bytes.begin());
        std::copy_n(in.begin() + 24, Gid::size, ip.destination.bytes.begin());
        return ip;
    }

    friend constexpr bool operator==(const Ipv6Header&, const Ipv6Header&) noexcept = default;
};

}  // namespace simverbs::wire
