// A QP comes to grief: error completions, flushes in order, state changes made by the adapter.
#include "models/hca/device.hpp"

namespace simverbs::hca {

Incident Device::incident_of(const Qp& qp, Check check, sim::SimTime now) const {
    Incident i;
    i.at = now;
    i.check = check;
    i.qp_num = qp.qpn;
    i.peer_qpn = qp.dest_qpn;
    i.qp_type = qp.type;
    i.from = i.to = qp.state;
    return i;
}

Incident Device::incident_of(const Qp& qp, Check check, const wire::Packet& packet, sim::SimTime now) const {
    Incident i = incident_of(qp, check, now);
    i.has_packet = true;
    i.psn = packet.psn;
    i.opcode = static_cast<uint8_t>(packet.opcode);
    i.aeth_syndrome = static_cast<uint8_t>(packet.aeth_syndrome);
    i.expected_psn = qp.rs.expected_psn.value();
    if (packet.extra != wire::kNoExtra) {
        const wire::PacketExtra& x = (*pool)[packet.extra];
        i.va = x.vaddr;
        i.key = x.rkey;
        i.length = x.dma_length;
    }
    return i;
}

void Device::report(const Incident& incident) {
    if (sink != nullptr) sink->on_incident(incident);
    if (observer != nullptr) observer->on_incident(incident);
}

void Device::fail_send(Qp& qp, uint32_t number, WcStatus status, Incident incident, sim::SimTime now) {
    Requester& r = qp.rq;
    const bool to_err = qp.is_reliable() || !profile.behaviour.has_sqe;
    incident.status = status;
    incident.from = qp.state;
    incident.to = to_err ? QpState::Err : QpState::Sqe;
    if (qp.verbs != nullptr) incident.wr_id = qp.verbs->wqes[number & qp.message_mask].wr_id;
    qp.message(number).started = false;
    r.una = number + 1;
    if (static_cast<int32_t>(r.cur - r.una) < 0) r.cur = r.una;
    // The state is left before the completion is written: what follows is flushed, never sent.
    qp.state = incident.to;
    complete_send(qp, number, status, now);
    report(incident);
    if (to_err) {
        enter_error(qp, false, now);
    } else {
        flush_sends(qp, now);
    }
}

void Device::fail_receive(Qp& qp, Incident incident, std::optional<EventType> event, sim::SimTime now) {
    incident.is_responder = true;
    incident.from = qp.state;
    incident.to = QpState::Err;
    if (incident.status != WcStatus::Success && qp.rs.has_wqe) {
        if (qp.verbs != nullptr) incident.wr_id = qp.verbs->receive.wr_id;
        qp.state = QpState::Err;
        Cqe cqe;
        cqe.status = incident.status;
        complete_receive(qp, cqe, now);
    }
    report(incident);
    if (event && qp.verbs != nullptr) raise(*event, qp.verbs->owner, qp.qpn, now);
    enter_error(qp, true, now);
}

void Device::enter_error(Qp& qp, bool closing, sim::SimTime now) {
    qp.state = QpState::Err;
    Requester& r = qp.rq;
    r.stopped = false;
    r.rnr_wait = false;
    r.deadline = sim::SimTime::max();
    qp.ack_timer.cancel();
    qp.rnr_timer.cancel();
    qp.pace_timer.cancel();
    qp.rs.closing = closing && (qp.responses_waiting() || qp.rs.ack_pending);
    if (!qp.rs.closing) drop_responses(qp);
    flush_sends(qp, now);
    flush_receives(qp, now);
    if (qp.verbs != nullptr && qp.verbs->srq != nullptr && profile.behaviour.tells_last_wqe)
        raise(EventType::QpLastWqeReached, qp.verbs->owner, qp.qpn, now);
}

void Device::drop_responses(Qp& qp) {
    for (ResponseResource& r : qp.resources) {
        if (r.stream != wire::kNoStream) mover->release(r.stream);
        r.stream = wire::kNoStream;
    }
    for (ResponseResource& r : qp.replays)
        if (r.stream != wire::kNoStream) mover->release(r.stream);
    qp.replays.clear();
    qp.resources_next = qp.resources_head;
    qp.rs.ack_pending = false;
}

void Device::flush_sends(Qp& qp, sim::SimTime now) {
    Requester& r = qp.rq;
    // A doorbell that is on its way is not waited for: the doorbell record in memory already tells of it.
    if (qp.verbs != nullptr && qp.verbs->last_post <= now) r.end = qp.verbs->rung;
    while (r.una != r.end) {
        Message& m = qp.message(r.una);
        m.started = false;
        const uint32_t number = r.una++;
        complete_send(qp, number, WcStatus::WrFlushErr, now);
    }
    r.cur = r.una;
    r.cur_packet = 0;
    r.reads_outstanding = 0;
    r.ack_outstanding = false;
}

void Device::flush_receives(Qp& qp, sim::SimTime now) {
    if (qp.verbs == nullptr) return;
    const auto flush_one = [&] {
        Cqe cqe;
        cqe.status = WcStatus::WrFlushErr;
        complete_receive(qp, cqe, now);
    };
    if (qp.rs.has_wqe) flush_one();
    qp.rs.inbound = InboundMessage::None;
    if (qp.verbs->srq != nullptr) return;
    ReceiveQueue& queue = qp.verbs->rq;
    while (queue.waiting() > 0) {
        qp.verbs->receive.wr_id = queue.next().wr_id;
        queue.take();
        flush_one();
    }
}

}  // namespace simverbs::hca
