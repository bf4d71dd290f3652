#pragma once

#include <cstdint>

namespace simverbs::wire {

/// Transport service, as the top bits of a BTH opcode (IBTA vol. 1, "OpCode field"; Cnp: annex A17; Xrc: annex A14).
enum class Transport : std::uint8_t { Rc = 0x00, Uc = 0x20, Ud = 0x60, Cnp = 0x80, Xrc = 0xA0 };

/// The low five bits of a BTH opcode; equal in all transports that know the operation.
enum class BaseOpcode : std::uint8_t {
    SendFirst = 0x00,
    SendMiddle = 0x01,
    SendLast = 0x02,
    SendLastImm = 0x03,
    SendOnly = 0x04,
    SendOnlyImm = 0x05,
    WriteFirst = 0x06,
    WriteMiddle = 0x07,
    WriteLast = 0x08,
    WriteLastImm = 0x09,
    WriteOnly = 0x0A,
    WriteOnlyImm = 0x0B,
    ReadRequest = 0x0C,
    ReadResponseFirst = 0x0D,
    ReadResponseMiddle = 0x0E,
    ReadResponseLast = 0x0F,
    ReadResponseOnly = 0x10,
    Acknowledge = 0x11,
    AtomicAcknowledge = 0x12,
    CompareSwap = 0x13,
    FetchAdd = 0x14,
    SendLastInvalidate = 0x16,
    SendOnlyInvalidate = 0x17,
    Flush = 0x1C,
    AtomicWrite = 0x1D,
    /// Only with Transport::Cnp.
    CongestionNotification = 0x01,
};

/// The byte that goes on the wire. Not every combination is defined: see opcode_table.hpp.
constexpr std::uint8_t make_opcode(Transport transport, BaseOpcode base) noexcept {
    return static_cast<std::uint8_t>(static_cast<unsigned>(transport) | static_cast<unsigned>(base));
}

inline constexpr std::uint8_t kAckOpcode = make_opcode(Transport::Rc, BaseOpcode::Acknowledge);
static_assert(kAckOpcode == 0x11);
inline constexpr std::uint8_t kCnpOpcode = make_opcode(Transport::Cnp, BaseOpcode::CongestionNotification);
static_assert(kCnpOpcode == 0x81);

/// What goes back from the responder of an RC WRITE: acknowledgements and CNPs.
[[nodiscard]] constexpr bool is_answer(std::uint8_t opcode) noexcept {
    return opcode == kAckOpcode || opcode == kCnpOpcode;
}

}  // namespace simverbs::wire
