#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/byte_order.hpp"
#include "models/wire/psn.hpp"
#include "models/wire/qpn.hpp"

namespace simverbs::wire {

/// Base Transport Header (IBTA vol. 1, 9.2; FECN and BECN: annex A10 and A17).
/// opcode | SE MigReq PadCnt2 TVer4 | P_Key16 | FECN BECN resv6 DestQP24 | AckReq resv7 PSN24.
/// Reserved bits are sent as 0 and ignored.
struct Bth {
    static constexpr std::size_t size = 12;

    std::uint8_t opcode = 0;
    /// Solicited event.
    bool se = false;
    bool mig_req = true;
    /// Bytes that fill the payload up to a multiple of four.
    std::uint8_t pad_cnt = 0;
    std::uint8_t t_ver = 0;
    std::uint16_t p_key = 0xFFFF;
    bool fecn = false;
    bool becn = false;
    Qpn dest_qp;
    bool ack_req = false;
    Psn psn;

    /// Writes the header in network order; returns `size`, or 0 (nothing written) if `out` is too short.
    constexpr std::size_t encode(std::span<std::uint8_t> out) const noexcept {
        if (out.size() < size) return 0;
        store_u8(out, 0, opcode);
        store_u8(out, 1, (se ? 0x80u : 0u) | (mig_req ? 0x40u : 0u) | ((pad_cnt & 3u) << 4) | (t_ver & 0xFu));
        store_be16(out, 2, p_key);
        store_u8(out, 4, (fecn ? 0x80u : 0u) | (becn ? 0x40u : 0u));
        store_be24(out, 5, dest_qp.value());
        store_u8(out, 8, ack_req ? 0x80u : 0u);
        store_be24(out, 9, psn.value());
        return size;
    }

    /// Reads a header from the front of `in`; nullopt if `in` is too short.
    static constexpr std::optional<Bth> decode(std::span<const std::uint8_t> in) noexcept {
        if (in.size() < size) return std::nullopt;
        Bth bth;
        bth.opcode = in[0];
        bth.se = (in[1] & 0x80) != 0;
        bth.mig_req = (in[1] & 0x40) != 0;
        bth.pad_cnt = (in[1] >> 4) & 3;
        bth.t_ver = in[1] & 0xF;
        bth.p_key = load_be16(in, 2);
        bth.fecn = (in[4] & 0x80) != 0;
        bth.becn = (in[4] & 0x40) != 0;
        bth.dest_qp = Qpn(load_be24(in, 5));
        bth.ack_req = (in[8] & 0x80) != 0;
        bth.psn = Psn(load_be24(in, 9));
        return bth;
    }

    friend constexpr bool operator==(const Bth&, const Bth&) noexcept = default;
};

}  // namespace simverbs::wire
