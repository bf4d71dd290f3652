#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// What follows the LRH.
enum class LinkNextHeader : std::uint8_t { Raw = 0, RawIpv6 = 1, IbaLocal = 2, IbaGlobal = 3 };

/// LID that every port accepts before it has one of its own.
inline constexpr std::uint16_t kPermissiveLid = 0xFFFF;
/// First LID of the multicast range 0xC000…0xFFFE.
inline constexpr std::uint16_t kFirstMulticastLid = 0xC000;

/// Local Routing Header, first in every InfiniBand packet (IBTA vol. 1, "Local Route Header").
/// VL4 LVer4 | SL4 resv2 LNH2 | DLID16 | resv5 PktLen11 | SLID16. Reserved bits are sent as 0 and ignored.
struct Lrh {
    static constexpr std::size_t size = 8;

    std::uint8_t vl = 0;
    std::uint8_t lver = 0;
    std::uint8_t sl = 0;
    LinkNextHeader lnh = LinkNextHeader::IbaLocal;
    std::uint16_t dlid = 0;
    /// In 4-byte words, from the first byte of the LRH to the last byte of the ICRC.
    std::uint16_t pkt_len = 0;
    std::uint16_t slid = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_u8(out, 0, ((vl & 0xFu) << 4) | (lver & 0xFu));
        store_u8(out, 1, ((sl & 0xFu) << 4) | static_cast<std::uint32_t>(lnh));
        store_be16(out, 2, dlid);
        store_be16(out, 4, pkt_len & 0x7FFu);
        store_be16(out, 6, slid);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Lrh> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        Lrh lrh;
        lrh.vl = static_cast<std::uint8_t>(in[0] >> 4);
        lrh.lver = in[0] & 0xF;
        lrh.sl = static_cast<std::uint8_t>(in[1] >> 4);
        lrh.lnh = static_cast<LinkNextHeader>(in[1] & 3);
        lrh.dlid = load_be16(in, 2);
        lrh.pkt_len = load_be16(in, 4) & 0x7FF;
        lrh.slid = load_be16(in, 6);
        return lrh;
    }

    friend constexpr bool operator==(const Lrh&, const Lrh&) noexcept = default;
};

}  // namespace simverbs::wire
