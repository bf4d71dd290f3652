#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// RDMA Extended Transport Header (IBTA vol. 1, 9.3.3).
struct Reth {
    static constexpr std::size_t size = 16;

    std::uint64_t va = 0;
    std::uint32_t r_key = 0;
    /// Bytes of the whole message.
    std::uint32_t dma_len = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be64(out, 0, va);
        store_be32(out, 8, r_key);
        store_be32(out, 12, dma_len);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Reth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        Reth reth;
        reth.va = load_be64(in, 0);
        reth.r_key = load_be32(in, 8);
        reth.dma_len = load_be32(in, 12);
        return reth;
    }

    friend constexpr bool operator==(const Reth&, const Reth&) noexcept = default;
};

}  // namespace simverbs::wire
