#include "models/timeline/header_text.hpp"

#include <fmt/format.h>

#include "models/cm/messages.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::timeline {

namespace {

const char* name_of(wire::NakCode code) {
    switch (code) {
        case wire::NakCode::PsnSequenceError:
            return "PSN sequence error";
        case wire::NakCode::InvalidRequest:
            return "invalid request";
        case wire::NakCode::RemoteAccessError:
            return "remote access error";
        case wire::NakCode::RemoteOperationalError:
            return "remote operational error";
        case wire::NakCode::InvalidRdRequest:
            return "invalid RD request";
    }
    return "reserved code";
}

std::string ids_text(uint32_t local, uint32_t remote) {
    return fmt::format("CM    local ID {:#010x}, remote ID {:#010x}", local, remote);
}

MadText req_text(const cm::Req& m) {
    return {"CM REQ",
            {fmt::format("CM    ConnectRequest, local ID {:#010x}, service ID {:#018x}", m.local_comm_id, m.service_id),
             fmt::format("      local QPN {:#08x}, starting PSN {}, responder resources {}, initiator depth {}",
                         m.local_qpn, m.starting_psn, m.responder_resources, m.initiator_depth),
             fmt::format("      retry count {}, RNR retry count {}, local ACK timeout {}", m.retry_count,
                         m.rnr_retry_count, m.local_ack_timeout)}};
}

MadText rep_text(const cm::Rep& m) {
    return {"CM REP",
            {ids_text(m.local_comm_id, m.remote_comm_id),
             fmt::format("      ConnectReply, local QPN {:#08x}, starting PSN {}, responder resources {}, initiator "
                         "depth {}",
                         m.local_qpn, m.starting_psn, m.responder_resources, m.initiator_depth)}};
}

const char* name_of(cm::Answered answered) {
    switch (answered) {
        case cm::Answered::Req:
            return "REQ";
        case cm::Answered::Rep:
            return "REP";
        case cm::Answered::Other:
            return "another message";
    }
    return "another message";
}

/// Of a message that is two ids and little else.
template <class Message>
MadText plain_text(const char* name, const char* long_name, const Message& m) {
    return {name, {ids_text(m.local_comm_id, m.remote_comm_id), fmt::format("      {}", long_name)}};
}

MadText cm_text(uint16_t attribute, std::span<const uint8_t> body) {
    switch (static_cast<cm::Attribute>(attribute)) {
        case cm::Attribute::Req:
            return req_text(cm::decode<cm::Req>(body));
        case cm::Attribute::Mra: {
            const auto m = cm::decode<cm::Mra>(body);
            return {
                "CM MRA",
                {ids_text(m.local_comm_id, m.remote_comm_id),
                 fmt::format("      MsgRcptAck of {}, service timeout {}", name_of(m.answered), m.service_timeout)}};
        }
        case cm::Attribute::Rej: {
            const auto m = cm::decode<cm::Rej>(body);
            return {"CM REJ",
                    {ids_text(m.local_comm_id, m.remote_comm_id),
                     fmt::format("      ConnectReject of {}, reason {}", name_of(m.answered),
                                 static_cast<unsigned>(m.reason))}};
        }
        case cm::Attribute::Rep:
            return rep_text(cm::decode<cm::Rep>(body));
        case cm::Attribute::Rtu:
            return plain_text("CM RTU", "ReadyToUse", cm::decode<cm::Rtu>(body));
        case cm::Attribute::Dreq:
            return plain_text("CM DREQ", "DisconnectRequest", cm::decode<cm::Dreq>(body));
        case cm::Attribute::Drep:
            return plain_text("CM DREP", "DisconnectReply", cm::decode<cm::Drep>(body));
        case cm::Attribute::SidrReq: {
            const auto m = cm::decode<cm::SidrReq>(body);
            return {"CM SIDR_REQ",
                    {fmt::format("CM    ServiceIDResReq, request ID {:#010x}, service ID {:#018x}", m.request_id,
                                 m.service_id)}};
        }
        case cm::Attribute::SidrRep: {
            const auto m = cm::decode<cm::SidrRep>(body);
            return {"CM SIDR_REP",
                    {fmt::format("CM    ServiceIDResReqResp, request ID {:#010x}, status {}, QPN {:#08x}", m.request_id,
                                 static_cast<unsigned>(m.status), m.qpn)}};
        }
        case cm::Attribute::Lap:
            return {"CM LAP", {}};
        case cm::Attribute::Apr:
            return {"CM APR", {}};
    }
    return {fmt::format("CM attribute {:#06x}", attribute), {}};
}

}  // namespace

std::string syndrome_text(uint8_t syndrome) {
    const auto s = wire::Syndrome::decode(syndrome);
    if (!s) return fmt::format("reserved syndrome {:#04x}", syndrome);
    switch (s->kind) {
        case wire::SyndromeKind::Ack: {
            if (s->value == wire::kUnlimitedCreditCode) return "ACK, credits not limited";
            const uint32_t credits = wire::kCreditTable[s->value];
            return fmt::format("ACK, credits for {} message{}", credits, credits == 1 ? "" : "s");
        }
        case wire::SyndromeKind::RnrNak:
            return fmt::format("RNR NAK, wait {:.2f} ms",
                               static_cast<double>(wire::rnr_timer_picoseconds(s->value)) * 1e-9);
        case wire::SyndromeKind::Nak:
            return fmt::format("NAK, {}", name_of(s->nak_code()));
        case wire::SyndromeKind::Reserved:
            break;
    }
    return "reserved";
}

std::vector<std::string> header_lines(const wire::Packet& packet, const wire::PacketExtra& x) {
    std::vector<std::string> out;
    const wire::OpcodeInfo* info = wire::find_opcode(static_cast<uint8_t>(packet.opcode));
    if (info == nullptr) return out;
    if (info->has_xrceth) out.push_back(fmt::format("XRCETH  SRQ {:#08x}", x.xrc_srq));
    if (info->has_deth) out.push_back(fmt::format("DETH  Q_Key {:#010x}, source QP {:#08x}", x.qkey, x.src_qp));
    if (info->has_reth)
        out.push_back(fmt::format("RETH  VA {:#x}, R_Key {:#010x}, DMA length {}", x.vaddr, x.rkey, x.dma_length));
    if (info->operation == wire::Operation::CompareSwap)
        out.push_back(fmt::format("AtomicETH  VA {:#x}, R_Key {:#010x}, swap {:#x}, compare {:#x}", x.vaddr, x.rkey,
                                  x.swap_or_add, x.compare));
    if (info->operation == wire::Operation::FetchAdd)
        out.push_back(fmt::format("AtomicETH  VA {:#x}, R_Key {:#010x}, add {:#x}", x.vaddr, x.rkey, x.swap_or_add));
    if (info->has_aeth)
        out.push_back(fmt::format("AETH  {}, MSN {}", syndrome_text(static_cast<uint8_t>(packet.aeth_syndrome)),
                                  uint32_t{packet.aeth_msn}));
    if (info->has_atomic_ack_eth) out.push_back(fmt::format("AtomicAckETH  original data {:#x}", x.compare));
    if (info->has_imm_dt) out.push_back(fmt::format("ImmDt  {:#010x}", __builtin_bswap32(x.imm_or_inv_rkey)));
    if (info->has_ieth) out.push_back(fmt::format("IETH  R_Key {:#010x}", x.imm_or_inv_rkey));
    return out;
}

MadText mad_text(std::span<const uint8_t> mad) {
    if (mad.size() != cm::kMadBytes) return {"MAD", {}};
    const auto header = cm::decode<cm::MadHeader>(mad);
    if (header.mgmt_class != cm::kCmClass) return {fmt::format("MAD of class {:#04x}", header.mgmt_class), {}};
    return cm_text(header.attribute_id, cm::cm_part(mad));
}

}  // namespace simverbs::timeline
