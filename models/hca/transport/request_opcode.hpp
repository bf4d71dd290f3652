// Which BTH opcode a work request's packet has.
#pragma once

#include <cstdint>

#include "models/hca/verbs_types.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::hca {

namespace detail {
constexpr wire::BaseOpcode send_base(WrOpcode op, wire::Position at) noexcept {
    using enum wire::BaseOpcode;
    switch (at) {
        case wire::Position::First:
            return SendFirst;
        case wire::Position::Middle:
            return SendMiddle;
        case wire::Position::Last:
            return op == WrOpcode::SendWithImm   ? SendLastImm
                   : op == WrOpcode::SendWithInv ? SendLastInvalidate
                                                 : SendLast;
        case wire::Position::Only:
            return op == WrOpcode::SendWithImm   ? SendOnlyImm
                   : op == WrOpcode::SendWithInv ? SendOnlyInvalidate
                                                 : SendOnly;
    }
    return SendOnly;
}
constexpr wire::BaseOpcode write_base(WrOpcode op, wire::Position at) noexcept {
    using enum wire::BaseOpcode;
    const bool imm = op == WrOpcode::RdmaWriteWithImm;
    switch (at) {
        case wire::Position::First:
            return WriteFirst;
        case wire::Position::Middle:
            return WriteMiddle;
        case wire::Position::Last:
            return imm ? WriteLastImm : WriteLast;
        case wire::Position::Only:
            return imm ? WriteOnlyImm : WriteOnly;
    }
    return WriteOnly;
}
}  // namespace detail

/// Only for operations that the transport has; others give a SEND.
[[nodiscard]] constexpr uint8_t request_opcode(wire::Transport t, WrOpcode op, wire::Position at) noexcept {
    wire::BaseOpcode base = wire::BaseOpcode::SendOnly;
    if (op == WrOpcode::RdmaRead)
        base = wire::BaseOpcode::ReadRequest;
    else if (op == WrOpcode::AtomicCmpAndSwp)
        base = wire::BaseOpcode::CompareSwap;
    else if (op == WrOpcode::AtomicFetchAndAdd)
        base = wire::BaseOpcode::FetchAdd;
    else if (op == WrOpcode::AtomicWrite)
        base = wire::BaseOpcode::AtomicWrite;
    else if (op == WrOpcode::RdmaWrite || op == WrOpcode::RdmaWriteWithImm)
        base = detail::write_base(op, at);
    else
        base = detail::send_base(op, at);
    return wire::make_opcode(t, base);
}

static_assert(request_opcode(wire::Transport::Rc, WrOpcode::SendWithInv, wire::Position::Last) == 0x16);
static_assert(request_opcode(wire::Transport::Uc, WrOpcode::RdmaWriteWithImm, wire::Position::Only) == 0x2B);
static_assert(request_opcode(wire::Transport::Rc, WrOpcode::AtomicFetchAndAdd, wire::Position::Only) == 0x14);

/// Does the transport have this operation?
[[nodiscard]] constexpr bool operation_supported(QpType t, WrOpcode op) noexcept {
    switch (op) {
        case WrOpcode::Send:
            if (t == QpType::RawPacket) return true;
            [[fallthrough]];
        case WrOpcode::SendWithImm:
            return t == QpType::Rc || t == QpType::Uc || t == QpType::Ud || t == QpType::XrcSend;
        case WrOpcode::RdmaWrite:
        case WrOpcode::RdmaWriteWithImm:
        case WrOpcode::LocalInv:
        case WrOpcode::BindMw:
            return t == QpType::Rc || t == QpType::Uc || t == QpType::XrcSend;
        case WrOpcode::SendWithInv:
        case WrOpcode::RdmaRead:
        case WrOpcode::AtomicCmpAndSwp:
        case WrOpcode::AtomicFetchAndAdd:
            return t == QpType::Rc || t == QpType::XrcSend;
        case WrOpcode::AtomicWrite:
            return t == QpType::Rc;
        case WrOpcode::Tso:
        case WrOpcode::Driver1:
        case WrOpcode::Flush:
            return false;
    }
    return false;
}

}  // namespace simverbs::hca
