// Responses that carry data: of READs and atomics.
#include "models/hca/rc/rc_requester.hpp"

namespace simverbs::hca {

Message* RcRequester::message_for_response(const wire::Packet& packet, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    // A response also acknowledges every SEND and WRITE before its request.
    while (qp_.sends() && r_.una != r_.end) {
        Message& m = qp_.message(r_.una);
        if (!m.started) return nullptr;
        if (m.has_responses()) return &m;
        if (wire::Psn::distance(m.last_psn(), psn) <= 0) return nullptr;
        acknowledge_through(m.last_psn(), now);
    }
    return nullptr;
}

/// An answer was lost: ask again from the first missing packet on.
void RcRequester::response_lost(sim::SimTime now) {
    if (r_.read_recovery || !qp_.sends()) return;
    ++port().hw.implied_nak_seq_err;
    if (!spend_retry(Check::SequenceRetries, now, nullptr)) return;
    r_.read_recovery = true;
    r_.deadline = sim::SimTime::max();
    rewind(now);
}

void RcRequester::on_read_response(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    Message* const found = message_for_response(packet, now);
    if (found == nullptr) return;
    Message& m = *found;
    const wire::Psn expected = oldest_psn();
    const auto ahead = wire::Psn::distance(expected, psn);
    if (ahead < 0) return;
    if (ahead > 0) {
        response_lost(now);
        return;
    }
    const uint32_t at = m.responses * qp_.mtu;
    // An ATOMIC WRITE is answered by a READ response without payload.
    const bool is_read = m.opcode == WrOpcode::RdmaRead;
    const uint32_t length = is_read ? std::min(qp_.mtu, m.length - at) : 0;
    if ((!is_read && m.opcode != WrOpcode::AtomicWrite) || packet.payload_bytes != length) {
        fail_oldest(WcStatus::BadRespErr, Check::BadResponse, &packet, now);
        return;
    }
    if (qp_.verbs != nullptr && is_read) {
        const size_t slot = r_.una & qp_.message_mask;
        const uint32_t stride = std::max(qp_.verbs->init.cap.max_send_sge, 1U);
        const std::span sges(&qp_.verbs->sges[slot * stride], qp_.verbs->wqes[slot].num_sge);
        if (d_.host_port.has_complex()) [[unlikely]]
            d_.aim_at(sges, at);
        const sim::SimTime visible = d_.host_port.post_write(now, length);
        const auto fault = d_.scatter(qp_.pd, sges, at, packet, visible);
        if (fault.check != Check::None) {
            Incident incident = d_.incident_of(qp_, fault.check, packet, now);
            incident.va = fault.va;
            incident.length = fault.length;
            incident.key = fault.key;
            d_.fail_send(qp_, r_.una, WcStatus::LocProtErr, incident, now);
            return;
        }
    }
    (void)info;
    r_.read_recovery = false;
    ++m.responses;
    r_.una_psn = psn.next();
    const bool done = m.responses == m.packets;
    if (done) {
        if (r_.cur == r_.una) {
            // The rewound READ is complete before it was asked for again.
            r_.cur = r_.una + 1;
            r_.cur_packet = 0;
            r_.next_psn = r_.una_psn;
        }
        retire_oldest(WcStatus::Success, now);
    }
    progress(now);
    if (!done) return;
    d_.fail_if_stopped_here(qp_, now);
    if (qp_.sends()) d_.make_requester_ready(qp_, now);
}

void RcRequester::on_atomic_acknowledge(const wire::Packet& packet, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    Message* const found = message_for_response(packet, now);
    if (found == nullptr) return;
    const auto ahead = wire::Psn::distance(oldest_psn(), psn);
    if (ahead < 0) return;
    if (ahead > 0) {
        response_lost(now);
        return;
    }
    if (found->opcode != WrOpcode::AtomicCmpAndSwp && found->opcode != WrOpcode::AtomicFetchAndAdd) {
        fail_oldest(WcStatus::BadRespErr, Check::BadResponse, &packet, now);
        return;
    }
    if (qp_.verbs != nullptr && d_.mover != nullptr && packet.extra != wire::kNoExtra) {
        const size_t slot = r_.una & qp_.message_mask;
        const uint32_t stride = std::max(qp_.verbs->init.cap.max_send_sge, 1U);
        const std::span sges(&qp_.verbs->sges[slot * stride], qp_.verbs->wqes[slot].num_sge);
        const uint64_t original = (*d_.pool)[packet.extra].compare;
        if (d_.host_port.has_complex()) [[unlikely]]
            d_.aim_at(sges, 0);
        const auto fault =
            d_.scatter_bytes(qp_.pd, sges, std::span(reinterpret_cast<const uint8_t*>(&original), sizeof original),
                             d_.host_port.post_write(now, sizeof original));
        if (fault.check != Check::None) {
            Incident incident = d_.incident_of(qp_, fault.check, packet, now);
            incident.va = fault.va;
            incident.length = fault.length;
            incident.key = fault.key;
            d_.fail_send(qp_, r_.una, WcStatus::LocProtErr, incident, now);
            return;
        }
    }
    r_.read_recovery = false;
    found->responses = 1;
    r_.una_psn = psn.next();
    if (r_.cur == r_.una) {
        r_.cur = r_.una + 1;
        r_.cur_packet = 0;
        r_.next_psn = r_.una_psn;
    }
    retire_oldest(WcStatus::Success, now);
    progress(now);
    d_.fail_if_stopped_here(qp_, now);
    if (qp_.sends()) d_.make_requester_ready(qp_, now);
}

}  // namespace simverbs::hca
