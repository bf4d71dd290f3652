// Checks of packet headers that all transports share. Pure.
#pragma once

#include <cstdint>

#include "models/hca/transport/responder.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/psn.hpp"

namespace simverbs::hca {

/// Two P_Keys match if their low 15 bits are equal and not zero, and at least one is of a full member.
/// Source: IBTA vol. 1, "Partition key matching".
[[nodiscard]] constexpr bool pkeys_match(uint16_t a, uint16_t b) noexcept {
    constexpr uint16_t kFullMember = 0x8000, kBase = 0x7FFF;
    return (a & kBase) == (b & kBase) && (a & kBase) != 0 && ((a | b) & kFullMember) != 0;
}

enum class PsnVerdict : uint8_t { InOrder, Duplicate, SendPsnNak, DropSilently };

/// RC: what a request's PSN means. After a NAK, silence until the expected packet comes.
[[nodiscard]] constexpr PsnVerdict check_psn(wire::Psn expected, bool nak_outstanding, wire::Psn psn) noexcept {
    const auto ahead = wire::Psn::distance(expected, psn);
    if (ahead == 0) return PsnVerdict::InOrder;
    if (ahead < 0) return PsnVerdict::Duplicate;
    return nak_outstanding ? PsnVerdict::DropSilently : PsnVerdict::SendPsnNak;
}

/// Does this request continue what came before? A MIDDLE or LAST needs an open message of its kind, everything else
/// needs that none is open.
[[nodiscard]] constexpr bool opcode_in_sequence(InboundMessage inbound, const wire::OpcodeInfo& info) noexcept {
    if (info.starts_message()) return inbound == InboundMessage::None;
    return info.operation == wire::Operation::Send ? inbound == InboundMessage::Send : inbound == InboundMessage::Write;
}

/// Is the payload of a SEND or WRITE packet as long as its place in the message says: FIRST and MIDDLE exactly one
/// MTU, LAST 1 … MTU, ONLY 0 … MTU?
[[nodiscard]] constexpr bool payload_length_ok(const wire::OpcodeInfo& info, uint32_t payload, uint32_t mtu) noexcept {
    switch (info.position) {
        case wire::Position::First:
        case wire::Position::Middle:
            return payload == mtu;
        case wire::Position::Last:
            return payload >= 1 && payload <= mtu;
        case wire::Position::Only:
            return payload <= mtu;
    }
    return false;
}

}  // namespace simverbs::hca
