#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// Atomic Extended Transport Header (IBTA vol. 1, 9.3.4).
struct AtomicEth {
    static constexpr std::size_t size = 28;

    std::uint64_t va = 0;
    std::uint32_t r_key = 0;
    /// CMP_SWAP: the new value; FETCH_ADD: the addend.
    std::uint64_t swap_or_add = 0;
    /// CMP_SWAP only.
    std::uint64_t compare = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be64(out, 0, va);
        store_be32(out, 8, r_key);
        store_be64(out, 12, swap_or_add);
        store_be64(out, 20, compare);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<AtomicEth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        AtomicEth atomic;
        atomic.va = load_be64(in, 0);
        atomic.r_key = load_be32(in, 8);
        atomic.swap_or_add = load_be64(in, 12);
        atomic.compare = load_be64(in, 20);
        return atomic;
    }

    friend constexpr bool operator==(const AtomicEth&, const AtomicEth&) noexcept = default;
};

}  // namespace simverbs::wire
