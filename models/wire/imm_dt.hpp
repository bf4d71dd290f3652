#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

/// Immediate data (IBTA vol. 1, 9.3.6): four bytes that mean something to the programs only.
struct ImmDt {
    static constexpr std::size_t size = 4;

    /// As a big-endian number; verbs hands it over as `__be32`.
    std::uint32_t imm_data = 0;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, imm_data);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<ImmDt> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return ImmDt{load_be32(in, 0)};
    }

    friend constexpr bool operator==(const ImmDt&, const ImmDt&) noexcept = default;
};

}  // namespace simverbs::wire
