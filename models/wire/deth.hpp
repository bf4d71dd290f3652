#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/qpn.hpp"

namespace simverbs::wire {

/// The Q_Key of QP 1 (IBTA vol. 1, "Well-known Q_Key").
inline constexpr std::uint32_t kGeneralServicesQKey = 0x80010000;

/// Datagram Extended Transport Header (IBTA vol. 1, 9.3.2).
struct Deth {
    static constexpr std::size_t size = 8;

    std::uint32_t q_key = 0;
    Qpn src_qp;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, q_key);
        store_be32(out, 4, src_qp.value());
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Deth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        return Deth{load_be32(in, 0), Qpn(load_be24(in, 5))};
    }

    friend constexpr bool operator==(const Deth&, const Deth&) noexcept = default;
};

}  // namespace simverbs::wire
