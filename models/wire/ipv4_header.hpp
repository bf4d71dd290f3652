#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/internet_checksum.hpp"
#include "models/wire/ip_protocol.hpp"

namespace simverbs::wire {

/// Version 4, five words of header.
inline constexpr std::uint8_t kVersionAndIhl = 0x45;

/// IPv4 header without options (RFC 791, 3.1). Addresses in host order: 10.0.0.1 is 0x0A000001.
struct Ipv4Header {
    static constexpr std::size_t size = 20;

    /// DSCP in the upper six bits, ECN in the lower two.
    std::uint8_t tos = 0;
    /// Bytes of header and payload.
    std::uint16_t total_length = 0;
    std::uint16_t identification = 0;
    bool dont_fragment = true;
    bool more_fragments = false;
    /// In 8-byte units, 13 bits.
    std::uint16_t fragment_offset = 0;
    std::uint8_t ttl = 64;
    std::uint8_t protocol = kIpProtocolUdp;
    /// Written as it stands; `set_checksum` computes it.
    std::uint16_t header_checksum = 0;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_u8(out, 0, kVersionAndIhl);
        store_u8(out, 1, tos);
        store_be16(out, 2, total_length);
        store_be16(out, 4, identification);
        store_be16(out, 6,
                   (dont_fragment ? 0x4000u : 0u) | (more_fragments ? 0x2000u : 0u) | (fragment_offset & 0x1FFFu));
        store_u8(out, 8, ttl);
        store_u8(out, 9, protocol);
        store_be16(out, 10, header_checksum);
        store_be32(out, 12, source);
        store_be32(out, 16, destination);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short, the version is not 4 or there are options.
    static constexpr std::optional<Ipv4Header> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        if (in[0] != kVersionAndIhl) return std::nullopt;
        Ipv4Header ip;
        ip.tos = in[1];
        ip.total_length = load_be16(in, 2);
        ip.identification = load_be16(in, 4);
        const std::uint16_t fragment = load_be16(in, 6);
        ip.dont_fragment = (fragment & 0x4000) != 0;
        ip.more_fragments = (fragment & 0x2000) != 0;
        ip.fragment_offset = fragment & 0x1FFF;
        ip.ttl = in[8];
        ip.protocol = in[9];
        ip.header_checksum = load_be16(in, 10);
        ip.source = load_be32(in, 12);
        ip.destination = load_be32(in, 16);
        return ip;
    }

    /// Sets `header_checksum` to what the other fields require.
    constexpr void set_checksum() noexcept {
        std::array<std::uint8_t, size> bytes{};
        header_checksum = 0;
        encode(bytes);
        header_checksum = internet_checksum(bytes);
    }

    friend constexpr bool operator==(const Ipv4Header&, const Ipv4Header&) noexcept = default;
};

}  // namespace simverbs::wire
