#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// XRC Extended Transport Header: the XRC SRQ that takes the message (IBTA annex A14).
struct XrcEth {
    static constexpr std::size_t size = 4;

    /// 24 bits.
    std::uint32_t xrc_srq = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, xrc_srq & 0xFFFFFFu);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<XrcEth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return XrcEth{load_be24(in, 1)};
    }

    friend constexpr bool operator==(const XrcEth&, const XrcEth&) noexcept = default;
};

}  // namespace simverbs::wire
