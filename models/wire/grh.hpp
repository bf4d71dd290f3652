#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/gid.hpp"

namespace simverbs::wire {

/// Global Routing Header: an IPv6 header with NxtHdr 0x1B (IBTA vol. 1, "Global Route Header").
struct Grh {
    static constexpr std::size_t size = 40;

    static constexpr std::uint8_t kIpVer = 6;
    static constexpr std::uint8_t kNxtHdrIba = 0x1B;

    std::uint8_t ip_ver = kIpVer;
    std::uint8_t t_class = 0;
    /// 20 bits.
    std::uint32_t flow_label = 0;
    /// In bytes, from the first byte behind the GRH to the last byte of the ICRC.
    std::uint16_t pay_len = 0;
    std::uint8_t nxt_hdr = kNxtHdrIba;
    std::uint8_t hop_lmt = 0;
    Gid sgid;
    Gid dgid;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_be32(out, 0, ((ip_ver & 0xFu) << 28) | (std::uint32_t{t_class} << 20) | (flow_label & 0xFFFFFu));
        store_be16(out, 4, pay_len);
        store_u8(out, 6, nxt_hdr);
        store_u8(out, 7, hop_lmt);
        std::copy(sgid.bytes.begin(), sgid.bytes.end(), out.begin() + 8);
        std::copy(dgid.bytes.begin(), dgid.bytes.end(), out.begin() + 24);
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Grh> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        Grh grh;
        const std::uint32_t word = load_be32(in, 0);
        grh.ip_ver = static_cast<std::uint8_t>(word >> 28);
        grh.t_class = static_cast<std::uint8_t>(word >> 20);
        grh.flow_label = word & 0xFFFFF;
        grh.pay_len = load_be16(in, 4);
        grh.nxt_hdr = in[6];
        grh.hop_lmt = in[7];
        std::copy_n(in.begin() + 8, Gid::size, grh.sgid.bytes.begin());
        std::copy_n(in.begin() + 24, Gid::size, grh.dgid.bytes.begin());
        return grh;
    }

    friend constexpr bool operator==(const Grh&, const Grh&) noexcept = default;
};

}  // namespace simverbs::wire
