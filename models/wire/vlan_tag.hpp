#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// 802.1Q tag as it lies behind the TPID: TCI, then the EtherType of the payload (IEEE 802.1Q, 9.6).
struct VlanTag {
    static constexpr std::size_t size = 4;

    /// Priority code point, 3 bits: the priority that PFC works on.
    std::uint8_t pcp = 0;
    bool dei = false;
    /// 12 bits; 0 is a priority tag that names no VLAN.
    std::uint16_t vid = 0;
    std::uint16_t ethertype = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be16(out, 0, ((pcp & 7u) << 13) | (dei ? 0x1000u : 0u) | (vid & 0xFFFu));
        store_be16(out, 2, ethertype);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<VlanTag> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        VlanTag tag;
        tag.pcp = static_cast<std::uint8_t>(in[0] >> 5);
        tag.dei = (in[0] & 0x10) != 0;
        tag.vid = load_be16(in, 0) & 0xFFF;
        tag.ethertype = load_be16(in, 2);
        return tag;
    }

    friend constexpr bool operator==(const VlanTag&, const VlanTag&) noexcept = default;
};

}  // namespace simverbs::wire
