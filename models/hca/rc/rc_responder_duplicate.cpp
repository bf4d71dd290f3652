// Requests that have been seen before: acknowledged again, or answered again from the saved resource.
#include "models/hca/rc/rc_responder.hpp"

namespace simverbs::hca {

void RcResponder::on_duplicate(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    switch (info.operation) {
        case wire::Operation::Send:
        case wire::Operation::Write:
            if ((packet.flags & wire::kAckReq) != 0) acknowledge(now);
            return;
        case wire::Operation::ReadRequest:
            replay_read(packet, now);
            return;
        case wire::Operation::CompareSwap:
        case wire::Operation::FetchAdd:
        case wire::Operation::AtomicWrite:
            replay_atomic(packet, now);
            return;
        case wire::Operation::Flush:
        case wire::Operation::ReadResponse:
        case wire::Operation::Acknowledge:
        case wire::Operation::AtomicAcknowledge:
        case wire::Operation::CongestionNotification:
            return;
    }
}

/// The saved resource whose answer has this PSN; nullptr if it is too old.
ResponseResource* RcResponder::resource_with(wire::Psn psn) {
    const auto slots = static_cast<uint32_t>(qp_.resources.size());
    const uint32_t saved = std::min(slots, qp_.resources_head);
    for (uint32_t i = 1; i <= saved; ++i) {
        ResponseResource& r = qp_.resources[(qp_.resources_head - i) & (slots - 1)];
        const auto d = wire::Psn::distance(r.first_psn, psn);
        if (d >= 0 && d < static_cast<int32_t>(r.packets)) return &r;
    }
    return nullptr;
}

void RcResponder::replay_read(const wire::Packet& packet, sim::SimTime now) {
    ResponseResource* const saved = resource_with(wire::Psn(packet.psn));
    if (saved == nullptr || saved->is_atomic || saved->is_empty) return;
    const auto skip = static_cast<uint32_t>(wire::Psn::distance(saved->first_psn, wire::Psn(packet.psn)));
    uint64_t va = saved->va + uint64_t{skip} * qp_.mtu;
    uint32_t length = saved->length - skip * qp_.mtu;
    if (packet.extra != wire::kNoExtra && qp_.verbs != nullptr) {
        // The repeated request must lie inside the first one.
        const wire::PacketExtra& x = (*d_.pool)[packet.extra];
        const uint64_t further = x.vaddr - va;
        if (x.rkey != saved->rkey || x.vaddr < va || further > length || x.dma_length > length - further) return;
        va = x.vaddr;
        length = x.dma_length;
    }
    // An answer to this request that has not been finished is superseded.
    const uint32_t unanswered = qp_.resources_head - qp_.resources_next;
    for (uint32_t i = 0; i < unanswered; ++i) {
        ResponseResource& r = qp_.resources[(qp_.resources_next + i) & (qp_.resources.size() - 1)];
        if (&r != saved) continue;
        if (r.sent > skip) {
            if (r.stream != wire::kNoStream) d_.mover->release(r.stream);
            r.stream = wire::kNoStream;
            r.sent = skip;
            d_.make_responder_ready(qp_, now);
        }
        return;
    }
    std::erase_if(qp_.replays, [&](ResponseResource& r) {
        const bool same = r.first_psn == wire::Psn(packet.psn);
        if (same && r.stream != wire::kNoStream) d_.mover->release(r.stream);
        return same;
    });
    ResponseResource again = *saved;
    again.first_psn = wire::Psn(packet.psn);
    again.va = va;
    again.length = length;
    again.packets = packets_for(length, qp_.mtu);
    again.sent = 0;
    again.stream = wire::kNoStream;
    again.stream_base = 0;
    qp_.replays.push_back(again);
    d_.make_responder_ready(qp_, now);
}

void RcResponder::replay_atomic(const wire::Packet& packet, sim::SimTime now) {
    ResponseResource* const saved = resource_with(wire::Psn(packet.psn));
    if (saved == nullptr || (!saved->is_atomic && !saved->is_empty) || !saved->ready) return;
    const uint32_t unanswered = qp_.resources_head - qp_.resources_next;
    for (uint32_t i = 0; i < unanswered; ++i)
        if (&qp_.resources[(qp_.resources_next + i) & (qp_.resources.size() - 1)] == saved) return;
    ResponseResource again = *saved;
    again.sent = 0;
    qp_.replays.push_back(again);
    d_.make_responder_ready(qp_, now);
}

}  // namespace simverbs::hca
