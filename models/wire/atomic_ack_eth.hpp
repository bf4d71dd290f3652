#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// Atomic ACK Extended Transport Header: the value before the operation (IBTA vol. 1, 9.5.3).
struct AtomicAckEth {
    static constexpr std::size_t size = 8;

    std::uint64_t orig_rem_data = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be64(out, 0, orig_rem_data);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<AtomicAckEth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return AtomicAckEth{load_be64(in, 0)};
    }

    friend constexpr bool operator==(const AtomicAckEth&, const AtomicAckEth&) noexcept = default;
};

}  // namespace simverbs::wire
