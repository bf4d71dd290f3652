#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// Invalidate Extended Transport Header: the key to invalidate (IBTA vol. 1, 9.3.7).
struct Ieth {
    static constexpr std::size_t size = 4;

    std::uint32_t r_key = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, r_key);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Ieth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return Ieth{load_be32(in, 0)};
    }

    friend constexpr bool operator==(const Ieth&, const Ieth&) noexcept = default;
};

}  // namespace simverbs::wire
