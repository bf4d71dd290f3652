#include "scenarios/timeline/timeline_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/hca/explanation.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::scenarios::timeline {

using nlohmann::json;
using simverbs::timeline::EventKind;
using simverbs::timeline::Fate;
using simverbs::timeline::kNone;
using simverbs::timeline::Packet;
using simverbs::timeline::QueuePair;
using simverbs::timeline::WorkRequest;

namespace {

const char* name_of(Fate fate) {
    switch (fate) {
        case Fate::UnderWay:
            return "under way";
        case Fate::Received:
            return "received";
        case Fate::Corrupt:
            return "corrupt";
        case Fate::Trimmed:
            return "trimmed";
        case Fate::Lost:
            return "lost";
        case Fate::Discarded:
            return "discarded";
    }
    return "";
}

const char* name_of(EventKind kind) {
    switch (kind) {
        case EventKind::Fault:
            return "fault";
        case EventKind::Discard:
            return "discard";
        case EventKind::Nak:
            return "NAK";
        case EventKind::RnrNak:
            return "RNR NAK";
        case EventKind::AckTimeout:
            return "timeout";
        case EventKind::Retransmission:
            return "retransmission";
        case EventKind::Incident:
            return "incident";
        case EventKind::ErrorState:
            return "error state";
        case EventKind::ErrorCompletion:
            return "error completion";
    }
    return "";
}

const char* name_of(hca::WrOpcode opcode) {
    switch (opcode) {
        case hca::WrOpcode::RdmaWrite:
            return "RDMA_WRITE";
        case hca::WrOpcode::RdmaWriteWithImm:
            return "RDMA_WRITE_WITH_IMM";
        case hca::WrOpcode::Send:
            return "SEND";
        case hca::WrOpcode::SendWithImm:
            return "SEND_WITH_IMM";
        case hca::WrOpcode::RdmaRead:
            return "RDMA_READ";
        case hca::WrOpcode::AtomicCmpAndSwp:
            return "ATOMIC_CMP_AND_SWP";
        case hca::WrOpcode::AtomicFetchAndAdd:
            return "ATOMIC_FETCH_AND_ADD";
        case hca::WrOpcode::LocalInv:
            return "LOCAL_INV";
        case hca::WrOpcode::BindMw:
            return "BIND_MW";
        case hca::WrOpcode::SendWithInv:
            return "SEND_WITH_INV";
        case hca::WrOpcode::Tso:
            return "TSO";
        case hca::WrOpcode::Driver1:
            return "DRIVER1";
        case hca::WrOpcode::Flush:
            return "FLUSH";
        case hca::WrOpcode::AtomicWrite:
            return "ATOMIC_WRITE";
    }
    return "";
}

/// How a packet is drawn.
const char* kind_of(const Packet& p) {
    if (p.dest_qpn == 1) return "mad";
    const wire::OpcodeInfo* info = wire::find_opcode(p.opcode);
    if (info == nullptr) return "request";  // a raw frame
    if (info->operation == wire::Operation::CongestionNotification) return "cnp";
    if (info->is_request) return "request";
    const auto syndrome = info->has_aeth ? wire::Syndrome::decode(p.syndrome) : std::nullopt;
    if (syndrome && syndrome->kind == wire::SyndromeKind::RnrNak) return "rnr";
    if (syndrome && syndrome->kind == wire::SyndromeKind::Nak) return "nak";
    return info->operation == wire::Operation::Acknowledge ? "ack" : "response";
}

json index_or_null(uint32_t index) {
    return index == kNone ? json() : json(index);
}

json packet_data(const Packet& p) {
    json out = {{"t", p.sent.in_ps()},  {"from", p.from},     {"op", p.opcode},
                {"name", p.name},       {"psn", p.psn},       {"bytes", p.payload_bytes},
                {"wire", p.wire_bytes}, {"kind", kind_of(p)}, {"fate", name_of(p.fate)}};
    if (p.fate != Fate::UnderWay) out["r"] = p.received.in_ps();
    if (p.to != kNone) out["to"] = p.to;
    if (p.source != kNone) out["s"] = p.source;
    if (p.dest != kNone) out["d"] = p.dest;
    out["q"] = p.dest_qpn;
    std::string flags;
    if (p.ack_req) flags += " AckReq";
    if (p.solicited) flags += " SE";
    if (p.becn) flags += " BECN";
    if (!flags.empty()) out["flags"] = flags.substr(1);
    if (p.is_retransmission) out["again"] = true;
    if (p.treatment.duplicate) out["copy"] = true;
    if (p.treatment.delayed || p.treatment.reordered) out["late"] = true;
    if (p.treatment.marked) out["ce"] = true;
    if (!p.headers.empty()) out["headers"] = p.headers;
    if (!p.what_happened.empty()) out["what"] = p.what_happened;
    return out;
}

json qp_data(const QueuePair& qp) {
    json out = {{"port", qp.port}, {"name", qp.is_management ? "QP 1" : fmt::format("QP {:#08x}", qp.qpn)}};
    if (qp.is_management) {
        out["management"] = true;
        return out;
    }
    out["type"] = hca::name_of(qp.type);
    out["peer"] = index_or_null(qp.peer);
    out["created"] = qp.created.in_ps();
    out["destroyed"] = qp.destroyed ? json(qp.destroyed->in_ps()) : json();
    return out;
}

json work_data(const WorkRequest& w) {
    json out = {{"t", w.posted.in_ps()},
                {"end", w.completed.value_or(w.open_until).in_ps()},
                {"send", w.is_send},
                {"op", w.is_send ? name_of(w.opcode) : "RECV"},
                {"id", fmt::format("{:#x}", w.wr_id)},
                {"bytes", w.length}};
    out["qp"] = index_or_null(w.qp);
    if (w.completed) out["status"] = hca::name_of(w.status);
    if (w.has_cqe) out["cqe"] = true;
    if (w.from_srq) out["srq"] = true;
    return out;
}

}  // namespace

std::string port_name(const Timeline& t, size_t port) {
    const auto& p = t.ports[port];
    const auto of_host = std::ranges::count(t.ports, p.host, &simverbs::timeline::Port::host);
    return of_host == 1 ? p.host : fmt::format("{} {}/{}", p.host, p.device, p.port);
}

json timeline_data(const Timeline& t) {
    json out = {{"end", t.end.in_ps()}, {"cut", t.cut ? json(t.cut->in_ps()) : json()}};
    for (const char* list : {"ports", "qps", "packets", "states", "work", "events"}) out[list] = json::array();
    for (size_t i = 0; i < t.ports.size(); ++i) out["ports"].push_back(json{{"name", port_name(t, i)}});
    for (const QueuePair& qp : t.queue_pairs) out["qps"].push_back(qp_data(qp));
    for (const Packet& p : t.packets) out["packets"].push_back(packet_data(p));
    for (const auto& s : t.states)
        out["states"].push_back(json::array({s.at.in_ps(), s.qp, hca::name_of(s.to), s.by_program}));
    for (const WorkRequest& w : t.work) out["work"].push_back(work_data(w));
    for (const auto& e : t.events)
        out["events"].push_back(json{{"t", e.at.in_ps()},
                                     {"kind", name_of(e.kind)},
                                     {"port", index_or_null(e.port)},
                                     {"qp", index_or_null(e.qp)},
                                     {"packet", index_or_null(e.packet)},
                                     {"text", e.text}});
    return out;
}

}  // namespace simverbs::scenarios::timeline
