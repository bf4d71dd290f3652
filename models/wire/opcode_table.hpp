#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/wire/aeth.hpp"
#include "models/wire/atomic_ack_eth.hpp"
#include "models/wire/atomic_eth.hpp"
#include "models/wire/bth.hpp"
#include "models/wire/deth.hpp"
#include "models/wire/feth.hpp"
#include "models/wire/ieth.hpp"
#include "models/wire/imm_dt.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/reth.hpp"
#include "models/wire/xrceth.hpp"

namespace simverbs::wire {

enum class Operation : std::uint8_t {
    Send,
    Write,
    ReadRequest,
    ReadResponse,
    Acknowledge,
    AtomicAcknowledge,
    CompareSwap,
    FetchAdd,
    Flush,
    AtomicWrite,
    CongestionNotification,
};

/// Place of a packet in its message.
enum class Position : std::uint8_t { First, Middle, Last, Only };

/// Immediate data or a key to invalidate, behind the other headers.
enum class Extra : std::uint8_t { None, Immediate, Invalidate };

/// What an opcode means. Everything behind `extra` follows from the columns before it.
struct OpcodeInfo {
    std::uint8_t opcode = 0;
    std::string_view name;
    Transport transport = Transport::Rc;
    Operation operation = Operation::Send;
    Position position = Position::Only;
    Extra extra = Extra::None;

    bool has_xrceth = false;
    bool has_deth = false;
    bool has_feth = false;
    bool has_reth = false;
    bool has_atomic_eth = false;
    bool has_aeth = false;
    bool has_atomic_ack_eth = false;
    bool has_imm_dt = false;
    bool has_ieth = false;
    /// Sixteen reserved zero bytes follow the BTH.
    bool has_cnp_reserved = false;
    /// Payload may follow the headers (it may be of length 0 in an Only or Last packet).
    bool has_payload = false;
    /// Sent by a requester; a response otherwise. A CNP is neither.
    bool is_request = false;
    bool is_response = false;
    /// Its arrival takes a WQE from the receive queue (a SEND's first packet, the packet with a WRITE's immediate).
    bool consumes_receive_wqe = false;
    /// Its arrival completes the receive WQE that the message took.
    bool completes_receive_wqe = false;
    /// BTH and everything up to the payload.
    std::uint8_t header_bytes = 0;

    [[nodiscard]] constexpr bool starts_message() const noexcept {
        return position == Position::First || position == Position::Only;
    }
    [[nodiscard]] constexpr bool ends_message() const noexcept {
        return position == Position::Last || position == Position::Only;
    }
    [[nodiscard]] constexpr bool is_atomic() const noexcept {
        return operation == Operation::CompareSwap || operation == Operation::FetchAdd;
    }
};

inline constexpr std::size_t kCnpReservedBytes = 16;

namespace detail {

struct OpcodeRow {
    Transport transport;
    BaseOpcode base;
    std::string_view name;
    Operation operation;
    Position position;
    Extra extra;
};

// In the order of the opcode byte. Source: IBTA vol. 1, table "OpCode field", annexes A14, A17, A19.
// clang-format off
inline constexpr std::array kOpcodeRows = std::to_array<OpcodeRow>({
    {Transport::Rc, BaseOpcode::SendFirst, "RC_SEND_FIRST", Operation::Send, Position::First, Extra::None},
    {Transport::Rc, BaseOpcode::SendMiddle, "RC_SEND_MIDDLE", Operation::Send, Position::Middle, Extra::None},
    {Transport::Rc, BaseOpcode::SendLast, "RC_SEND_LAST", Operation::Send, Position::Last, Extra::None},
    {Transport::Rc, BaseOpcode::SendLastImm, "RC_SEND_LAST_WITH_IMMEDIATE", Operation::Send, Position::Last, Extra::Immediate},
    {Transport::Rc, BaseOpcode::SendOnly, "RC_SEND_ONLY", Operation::Send, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::SendOnlyImm, "RC_SEND_ONLY_WITH_IMMEDIATE", Operation::Send, Position::Only, Extra::Immediate},
    {Transport::Rc, BaseOpcode::WriteFirst, "RC_RDMA_WRITE_FIRST", Operation::Write, Position::First, Extra::None},
    {Transport::Rc, BaseOpcode::WriteMiddle, "RC_RDMA_WRITE_MIDDLE", Operation::Write, Position::Middle, Extra::None},
    {Transport::Rc, BaseOpcode::WriteLast, "RC_RDMA_WRITE_LAST", Operation::Write, Position::Last, Extra::None},
    {Transport::Rc, BaseOpcode::WriteLastImm, "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", Operation::Write, Position::Last, Extra::Immediate},
    {Transport::Rc, BaseOpcode::WriteOnly, "RC_RDMA_WRITE_ONLY", Operation::Write, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::WriteOnlyImm, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", Operation::Write, Position::Only, Extra::Immediate},
    {Transport::Rc, BaseOpcode::ReadRequest, "RC_RDMA_READ_REQUEST", Operation::ReadRequest, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::ReadResponseFirst, "RC_RDMA_READ_RESPONSE_FIRST", Operation::ReadResponse, Position::First, Extra::None},
    {Transport::Rc, BaseOpcode::ReadResponseMiddle, "RC_RDMA_READ_RESPONSE_MIDDLE", Operation::ReadResponse, Position::Middle, Extra::None},
    {Transport::Rc, BaseOpcode::ReadResponseLast, "RC_RDMA_READ_RESPONSE_LAST", Operation::ReadResponse, Position::Last, Extra::None},
    {Transport::Rc, BaseOpcode::ReadResponseOnly, "RC_RDMA_READ_RESPONSE_ONLY", Operation::ReadResponse, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::Acknowledge, "RC_ACKNOWLEDGE", Operation::Acknowledge, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::AtomicAcknowledge, "RC_ATOMIC_ACKNOWLEDGE", Operation::AtomicAcknowledge, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::CompareSwap, "RC_CMP_SWAP", Operation::CompareSwap, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::FetchAdd, "RC_FETCH_ADD", Operation::FetchAdd, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::SendLastInvalidate, "RC_SEND_LAST_WITH_INVALIDATE", Operation::Send, Position::Last, Extra::Invalidate},
    {Transport::Rc, BaseOpcode::SendOnlyInvalidate, "RC_SEND_ONLY_WITH_INVALIDATE", Operation::Send, Position::Only, Extra::Invalidate},
    {Transport::Rc, BaseOpcode::Flush, "RC_FLUSH", Operation::Flush, Position::Only, Extra::None},
    {Transport::Rc, BaseOpcode::AtomicWrite, "RC_ATOMIC_WRITE", Operation::AtomicWrite, Position::Only, Extra::None},
    {Transport::Uc, BaseOpcode::SendFirst, "UC_SEND_FIRST", Operation::Send, Position::First, Extra::None},
    {Transport::Uc, BaseOpcode::SendMiddle, "UC_SEND_MIDDLE", Operation::Send, Position::Middle, Extra::None},
    {Transport::Uc, BaseOpcode::SendLast, "UC_SEND_LAST", Operation::Send, Position::Last, Extra::None},
    {Transport::Uc, BaseOpcode::SendLastImm, "UC_SEND_LAST_WITH_IMMEDIATE", Operation::Send, Position::Last, Extra::Immediate},
    {Transport::Uc, BaseOpcode::SendOnly, "UC_SEND_ONLY", Operation::Send, Position::Only, Extra::None},
    {Transport::Uc, BaseOpcode::SendOnlyImm, "UC_SEND_ONLY_WITH_IMMEDIATE", Operation::Send, Position::Only, Extra::Immediate},
    {Transport::Uc, BaseOpcode::WriteFirst, "UC_RDMA_WRITE_FIRST", Operation::Write, Position::First, Extra::None},
    {Transport::Uc, BaseOpcode::WriteMiddle, "UC_RDMA_WRITE_MIDDLE", Operation::Write, Position::Middle, Extra::None},
    {Transport::Uc, BaseOpcode::WriteLast, "UC_RDMA_WRITE_LAST", Operation::Write, Position::Last, Extra::None},
    {Transport::Uc, BaseOpcode::WriteLastImm, "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", Operation::Write, Position::Last, Extra::Immediate},
    {Transport::Uc, BaseOpcode::WriteOnly, "UC_RDMA_WRITE_ONLY", Operation::Write, Position::Only, Extra::None},
    {Transport::Uc, BaseOpcode::WriteOnlyImm, "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", Operation::Write, Position::Only, Extra::Immediate},
    {Transport::Ud, BaseOpcode::SendOnly, "UD_SEND_ONLY", Operation::Send, Position::Only, Extra::None},
    {Transport::Ud, BaseOpcode::SendOnlyImm, "UD_SEND_ONLY_WITH_IMMEDIATE", Operation::Send, Position::Only, Extra::Immediate},
    {Transport::Cnp, BaseOpcode::CongestionNotification, "CNP", Operation::CongestionNotification, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::SendFirst, "XRC_SEND_FIRST", Operation::Send, Position::First, Extra::None},
    {Transport::Xrc, BaseOpcode::SendMiddle, "XRC_SEND_MIDDLE", Operation::Send, Position::Middle, Extra::None},
    {Transport::Xrc, BaseOpcode::SendLast, "XRC_SEND_LAST", Operation::Send, Position::Last, Extra::None},
    {Transport::Xrc, BaseOpcode::SendLastImm, "XRC_SEND_LAST_WITH_IMMEDIATE", Operation::Send, Position::Last, Extra::Immediate},
    {Transport::Xrc, BaseOpcode::SendOnly, "XRC_SEND_ONLY", Operation::Send, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::SendOnlyImm, "XRC_SEND_ONLY_WITH_IMMEDIATE", Operation::Send, Position::Only, Extra::Immediate},
    {Transport::Xrc, BaseOpcode::WriteFirst, "XRC_RDMA_WRITE_FIRST", Operation::Write, Position::First, Extra::None},
    {Transport::Xrc, BaseOpcode::WriteMiddle, "XRC_RDMA_WRITE_MIDDLE", Operation::Write, Position::Middle, Extra::None},
    {Transport::Xrc, BaseOpcode::WriteLast, "XRC_RDMA_WRITE_LAST", Operation::Write, Position::Last, Extra::None},
    {Transport::Xrc, BaseOpcode::WriteLastImm, "XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE", Operation::Write, Position::Last, Extra::Immediate},
    {Transport::Xrc, BaseOpcode::WriteOnly, "XRC_RDMA_WRITE_ONLY", Operation::Write, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::WriteOnlyImm, "XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", Operation::Write, Position::Only, Extra::Immediate},
    {Transport::Xrc, BaseOpcode::ReadRequest, "XRC_RDMA_READ_REQUEST", Operation::ReadRequest, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::ReadResponseFirst, "XRC_RDMA_READ_RESPONSE_FIRST", Operation::ReadResponse, Position::First, Extra::None},
    {Transport::Xrc, BaseOpcode::ReadResponseMiddle, "XRC_RDMA_READ_RESPONSE_MIDDLE", Operation::ReadResponse, Position::Middle, Extra::None},
    {Transport::Xrc, BaseOpcode::ReadResponseLast, "XRC_RDMA_READ_RESPONSE_LAST", Operation::ReadResponse, Position::Last, Extra::None},
    {Transport::Xrc, BaseOpcode::ReadResponseOnly, "XRC_RDMA_READ_RESPONSE_ONLY", Operation::ReadResponse, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::Acknowledge, "XRC_ACKNOWLEDGE", Operation::Acknowledge, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::AtomicAcknowledge, "XRC_ATOMIC_ACKNOWLEDGE", Operation::AtomicAcknowledge, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::CompareSwap, "XRC_CMP_SWAP", Operation::CompareSwap, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::FetchAdd, "XRC_FETCH_ADD", Operation::FetchAdd, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::SendLastInvalidate, "XRC_SEND_LAST_WITH_INVALIDATE", Operation::Send, Position::Last, Extra::Invalidate},
    {Transport::Xrc, BaseOpcode::SendOnlyInvalidate, "XRC_SEND_ONLY_WITH_INVALIDATE", Operation::Send, Position::Only, Extra::Invalidate},
    {Transport::Xrc, BaseOpcode::Flush, "XRC_FLUSH", Operation::Flush, Position::Only, Extra::None},
    {Transport::Xrc, BaseOpcode::AtomicWrite, "XRC_ATOMIC_WRITE", Operation::AtomicWrite, Position::Only, Extra::None},
});
// clang-format on

constexpr OpcodeInfo complete_row(const OpcodeRow& row) noexcept {
    OpcodeInfo info;
    info.opcode = make_opcode(row.transport, row.base);
    info.name = row.name;
    info.transport = row.transport;
    info.operation = row.operation;
    info.position = row.position;
    info.extra = row.extra;

    const Operation op = row.operation;
    const bool starts = info.starts_message();
    const bool ends = info.ends_message();
    info.is_response =
        op == Operation::ReadResponse || op == Operation::Acknowledge || op == Operation::AtomicAcknowledge;
    info.is_request = !info.is_response && op != Operation::CongestionNotification;

    info.has_xrceth = row.transport == Transport::Xrc && info.is_request;
    info.has_deth = row.transport == Transport::Ud;
    info.has_feth = op == Operation::Flush;
    info.has_reth = (op == Operation::Write && starts) || op == Operation::ReadRequest || op == Operation::Flush ||
                    op == Operation::AtomicWrite;
    info.has_atomic_eth = info.is_atomic();
    info.has_aeth = info.is_response && row.position != Position::Middle;
    info.has_atomic_ack_eth = op == Operation::AtomicAcknowledge;
    info.has_imm_dt = row.extra == Extra::Immediate;
    info.has_ieth = row.extra == Extra::Invalidate;
    info.has_cnp_reserved = op == Operation::CongestionNotification;
    info.has_payload = op == Operation::Send || op == Operation::Write || op == Operation::ReadResponse ||
                       op == Operation::AtomicWrite;

    const bool write_with_immediate = op == Operation::Write && info.has_imm_dt;
    info.consumes_receive_wqe = (op == Operation::Send && starts) || write_with_immediate;
    info.completes_receive_wqe = (op == Operation::Send && ends) || write_with_immediate;

    info.header_bytes = static_cast<std::uint8_t>(
        Bth::size + (info.has_xrceth ? XrcEth::size : 0) + (info.has_deth ? Deth::size : 0) +
        (info.has_feth ? Feth::size : 0) + (info.has_reth ? Reth::size : 0) +
        (info.has_atomic_eth ? AtomicEth::size : 0) + (info.has_aeth ? Aeth::size : 0) +
        (info.has_atomic_ack_eth ? AtomicAckEth::size : 0) + (info.has_imm_dt ? ImmDt::size : 0) +
        (info.has_ieth ? Ieth::size : 0) + (info.has_cnp_reserved ? kCnpReservedBytes : 0));
    return info;
}

constexpr auto complete_table() noexcept {
    std::array<OpcodeInfo, kOpcodeRows.size()> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = complete_row(kOpcodeRows[i]);
    return table;
}

}  // namespace detail

/// Every opcode that simverbs knows, in the order of the opcode byte.
inline constexpr auto kOpcodeTable = detail::complete_table();

namespace detail {

inline constexpr std::uint8_t kNoRow = 0xFF;

constexpr std::array<std::uint8_t, 256> index_table() noexcept {
    std::array<std::uint8_t, 256> index{};
    index.fill(kNoRow);
    for (std::size_t i = 0; i < kOpcodeTable.size(); ++i) index[kOpcodeTable[i].opcode] = static_cast<std::uint8_t>(i);
    return index;
}

inline constexpr auto kOpcodeIndex = index_table();

constexpr bool opcodes_ascend() noexcept {
    for (std::size_t i = 1; i < kOpcodeTable.size(); ++i) {
        if (kOpcodeTable[i - 1].opcode >= kOpcodeTable[i].opcode) return false;
    }
    return true;
}

constexpr std::size_t count_of(Transport transport) noexcept {
    std::size_t count = 0;
    for (const OpcodeInfo& info : kOpcodeTable) count += info.transport == transport ? 1 : 0;
    return count;
}

}  // namespace detail

/// The row of `opcode`, or nullptr if it is reserved or of a transport that simverbs does not have (RD).
constexpr const OpcodeInfo* find_opcode(std::uint8_t opcode) noexcept {
    const std::uint8_t row = detail::kOpcodeIndex[opcode];
    return row == detail::kNoRow ? nullptr : &kOpcodeTable[row];
}

constexpr std::string_view opcode_name(std::uint8_t opcode) noexcept {
    const OpcodeInfo* info = find_opcode(opcode);
    return info == nullptr ? std::string_view("reserved opcode") : info->name;
}

static_assert(detail::opcodes_ascend());
static_assert(detail::count_of(Transport::Rc) == 25 && detail::count_of(Transport::Uc) == 12);
static_assert(detail::count_of(Transport::Ud) == 2 && detail::count_of(Transport::Cnp) == 1);
static_assert(detail::count_of(Transport::Xrc) == detail::count_of(Transport::Rc));
static_assert(find_opcode(0x04)->header_bytes == 12 && find_opcode(0x0A)->header_bytes == 28);
static_assert(find_opcode(0x0B)->header_bytes == 32 && find_opcode(0x11)->header_bytes == 16);
static_assert(find_opcode(0x12)->header_bytes == 24 && find_opcode(0x13)->header_bytes == 40);
static_assert(find_opcode(0x17)->header_bytes == 16 && find_opcode(0x1C)->header_bytes == 32);
static_assert(find_opcode(0x64)->header_bytes == 20 && find_opcode(0x65)->header_bytes == 24);
static_assert(find_opcode(0x81)->header_bytes == 28 && find_opcode(0xAA)->header_bytes == 32);
static_assert(find_opcode(0x15) == nullptr && find_opcode(0x44) == nullptr);

}  // namespace simverbs::wire
