#include "models/timeline/events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/hca/explanation.hpp"
#include "models/timeline/header_text.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::timeline {

namespace {

std::string packet_text(const Packet& p) {
    return fmt::format("{}, PSN {}", p.name, p.psn);
}

/// What happened to a packet on its way.
void add_fate(const Packet& p, uint32_t index, std::vector<Event>& out) {
    if (p.what_happened.empty() || p.treatment.duplicate) return;
    const bool is_discard = p.fate == Fate::Discarded;
    // A packet that a fault takes or a switch discards is missed then; what else is done to it begins with its sending.
    const bool is_gone = is_discard || p.fate == Fate::Lost;
    out.push_back({is_gone ? p.received : p.sent, is_discard ? EventKind::Discard : EventKind::Fault, p.from, p.source,
                   index, fmt::format("{}: {}", packet_text(p), p.what_happened)});
}

void add_answer(const Packet& p, uint32_t index, std::vector<Event>& out) {
    const wire::OpcodeInfo* info = wire::find_opcode(p.opcode);
    if (info == nullptr || !info->has_aeth) return;
    const auto syndrome = wire::Syndrome::decode(p.syndrome);
    if (!syndrome || syndrome->kind == wire::SyndromeKind::Ack) return;
    const bool is_rnr = syndrome->kind == wire::SyndromeKind::RnrNak;
    out.push_back({p.sent, is_rnr ? EventKind::RnrNak : EventKind::Nak, p.from, p.source, index,
                   fmt::format("{}, PSN {}", syndrome_text(p.syndrome), p.psn)});
}

}  // namespace

std::vector<Event> find_events(const Timeline& t, const std::vector<WorkRecord::Trouble>& troubles) {
    std::vector<Event> out;
    for (uint32_t i = 0; i < t.packets.size(); ++i) {
        const Packet& p = t.packets[i];
        add_fate(p, i, out);
        add_answer(p, i, out);
        if (p.is_retransmission && !p.treatment.duplicate)
            out.push_back({p.sent, EventKind::Retransmission, p.from, p.source, i, packet_text(p) + ": sent again"});
    }
    for (const WorkRecord::Trouble& trouble : troubles) {
        if (t.cut && trouble.at >= *t.cut) continue;
        const auto kind = trouble.is_timeout     ? EventKind::AckTimeout
                          : trouble.enters_error ? EventKind::ErrorState
                                                 : EventKind::Incident;
        out.push_back({trouble.at, kind, t.queue_pairs[trouble.qp].port, trouble.qp, kNone, trouble.text});
    }
    for (const WorkRequest& w : t.work) {
        if (!w.completed || !w.has_cqe || w.status == hca::WcStatus::Success || w.qp == kNone) continue;
        out.push_back(
            {*w.completed, EventKind::ErrorCompletion, t.queue_pairs[w.qp].port, w.qp, kNone,
             fmt::format("{} wr_id {:#x}: {}", w.is_send ? "send" : "receive", w.wr_id, hca::name_of(w.status))});
    }
    std::ranges::stable_sort(out, {}, &Event::at);
    return out;
}

}  // namespace simverbs::timeline
