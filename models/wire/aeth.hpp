#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// ACK Extended Transport Header (IBTA vol. 1, 9.3.5). What a syndrome says: aeth_syndrome.hpp.
struct Aeth {
    static constexpr std::size_t size = 4;

    std::uint8_t syndrome = 0;
    /// Message sequence number, 24 bits.
    std::uint32_t msn = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_u8(out, 0, syndrome);
        store_be24(out, 1, msn);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Aeth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        Aeth aeth;
        aeth.syndrome = in[0];
        aeth.msn = load_be24(in, 1);
        return aeth;
    }

    friend constexpr bool operator==(const Aeth&, const Aeth&) noexcept = default;
};

}  // namespace simverbs::wire
