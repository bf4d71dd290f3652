// Answers that carry data: READ responses and atomic acknowledges, in the order of their requests.
#include "models/hca/rc/rc_responder.hpp"

namespace simverbs::hca {

ResponseResource& RcResponder::new_resource() {
    const auto slots = static_cast<uint32_t>(qp_.resources.size());
    ResponseResource& r = qp_.resources[qp_.resources_head++ & (slots - 1)];
    r = ResponseResource{};
    return r;
}

Pull RcResponder::pull(sim::SimTime now) {
    if (!qp_.receives() && !rs_.closing) return Pull::Nothing;
    if (!qp_.replays.empty()) {
        if (send_response_packet(qp_.replays.front(), now)) qp_.replays.erase(qp_.replays.begin());
        send_pending_ack(now);
        return Pull::Packet;
    }
    if (qp_.resources_next == qp_.resources_head) return Pull::Nothing;
    ResponseResource& r = qp_.resources[qp_.resources_next & (qp_.resources.size() - 1)];
    if (!r.ready) return Pull::Nothing;
    if (send_response_packet(r, now)) ++qp_.resources_next;
    send_pending_ack(now);
    return Pull::Packet;
}

void RcResponder::send_pending_ack(sim::SimTime now) {
    if (!rs_.ack_pending || qp_.responses_waiting()) return;
    rs_.ack_pending = false;
    rs_.closing = false;
    d_.enqueue_ack(qp_, rs_.pending_syndrome, rs_.pending_ack_psn, now);
}

bool RcResponder::send_response_packet(ResponseResource& r, sim::SimTime now) {
    TxEntry entry;
    entry.kind = TxKind::Response;
    entry.qp_slot = qp_.slot;
    const wire::Psn psn = r.first_psn + static_cast<int32_t>(r.sent);
    const uint8_t syndrome = wire::Syndrome::ack(d_.credit_code(qp_, now)).encode();
    Port& port = d_.port_of(qp_.path);
    ++rs_.responses_in_pipeline;
    if (r.is_atomic) {
        entry.packet =
            d_.packet_for(qp_, qp_.path, wire::make_opcode(qp_.transport(), wire::BaseOpcode::AtomicAcknowledge), psn);
        entry.packet.aeth_syndrome =
            r.failed ? wire::Syndrome::nak(wire::NakCode::RemoteAccessError).encode() : syndrome;
        entry.packet.aeth_msn = r.msn & 0xFFFFFF;
        d_.extra_of(entry.packet, qp_.path, qp_.pkey).compare = r.atomic_result;
        d_.enqueue(port, entry, 0, now);
        r.sent = 1;
        return true;
    }
    const bool first = r.sent == 0, last = r.sent + 1 == r.packets;
    const auto base = first ? (last ? wire::BaseOpcode::ReadResponseOnly : wire::BaseOpcode::ReadResponseFirst)
                            : (last ? wire::BaseOpcode::ReadResponseLast : wire::BaseOpcode::ReadResponseMiddle);
    entry.packet = d_.packet_for(qp_, qp_.path, wire::make_opcode(qp_.transport(), base), psn);
    entry.packet.aeth_syndrome = syndrome;
    entry.packet.aeth_msn = r.msn & 0xFFFFFF;
    const uint32_t offset = r.sent * qp_.mtu;
    const uint32_t length = std::min(qp_.mtu, r.length - offset);
    if (d_.mover != nullptr && qp_.verbs != nullptr && length > 0) {
        if (r.stream == wire::kNoStream) {
            const Mr* mr = d_.remote_region(qp_, r.rkey);
            if (check_access(mr, qp_.pd, r.va, r.length, kRemoteRead) == MrVerdict::Ok) {
                const host::MemoryRange range{mr->space, mr->addr + (r.va + offset - mr->iova), r.length - offset};
                r.stream = d_.mover->open(std::span(&range, 1));
                r.stream_base = offset;
            }
        }
        if (r.stream != wire::kNoStream) d_.mover->dma_read(r.stream, offset + length - r.stream_base);
    }
    d_.attach_payload(entry.packet, qp_.path, qp_.pkey, r.stream, offset - r.stream_base, length);
    if (d_.host_port.has_complex()) [[unlikely]]
        d_.aim_at(d_.remote_region(qp_, r.rkey), r.va + offset);
    d_.enqueue(port, entry, length, now, first && !last ? d_.timing.message_overhead : sim::SimTime::zero());
    ++r.sent;
    if (!last) return false;
    if (r.stream != wire::kNoStream) d_.mover->release(r.stream);
    r.stream = wire::kNoStream;
    return true;
}

void RcResponder::on_atomic_executed(uint32_t resource, sim::SimTime now) {
    ResponseResource& r = qp_.resources[resource & (qp_.resources.size() - 1)];
    r.ready = true;
    if (qp_.receives() || rs_.closing) d_.make_responder_ready(qp_, now);
}

}  // namespace simverbs::hca
