#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// FLUSH Extended Transport Header (IBTA annex A19): reserved bits, selectivity level, placement type.
struct Feth {
    static constexpr std::size_t size = 4;

    /// 0 memory region range, 1 whole memory region; 2 bits.
    std::uint8_t selectivity_level = 0;
    /// Bit 0 global visibility, bit 1 persistence; 4 bits.
    std::uint8_t placement_type = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, ((selectivity_level & 3u) << 4) | (placement_type & 0xFu));
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Feth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return Feth{static_cast<std::uint8_t>((in[3] >> 4) & 3), static_cast<std::uint8_t>(in[3] & 0xF)};
    }

    friend constexpr bool operator==(const Feth&, const Feth&) noexcept = default;
};

}  // namespace simverbs::wire
