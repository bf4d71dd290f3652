// What a requester does with a work request before and after its packets, whatever the transport.
#include "models/hca/device.hpp"
#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

Device::LocalFault Device::open_message(Qp& qp, Message& m, uint32_t number, uint32_t from) {
    if (qp.verbs == nullptr) return {};
    VerbsQp& v = *qp.verbs;
    const size_t slot = number & qp.message_mask;
    const SendWqe& w = v.wqes[slot];
    if (!operation_supported(qp.type, m.opcode)) return {Check::LocalOperation, 0, m.length, 0};
    if (m.length > attr.max_msg_sz) return {Check::LocalLength, 0, m.length, 0};
    if (m.opcode == WrOpcode::AtomicWrite && m.length != kAtomicBytes) return {Check::LocalLength, 0, m.length, 0};
    if (m.has_responses() && qp.max_rd_atomic == 0) return {Check::LocalOperation, 0, m.length, 0};
    if ((m.send_flags & kInline) != 0) {
        if (mover != nullptr && m.length > from) {
            const size_t at = slot * v.inline_stride() + from;
            m.stream = mover->open_bytes(std::span(&v.inline_data[at], m.length - from));
            m.stream_base = from;
        }
        return {};
    }
    const uint32_t stride = std::max(v.init.cap.max_send_sge, 1U);
    const uint32_t needed = m.fills_sges() ? uint32_t{kLocalWrite} : 0U;
    const auto fault = resolve_sges(qp.pd, std::span(&v.sges[slot * stride], w.num_sge), m.length, needed, v.gather);
    if (fault.check != Check::None || m.fills_sges() || mover == nullptr || m.length == from) return fault;
    scratch_ranges.clear();
    uint32_t skip = from;
    for (const ResolvedSge& r : v.gather) {
        if (skip >= r.length) {
            skip -= r.length;
            continue;
        }
        scratch_ranges.push_back({r.space, r.va + skip, r.length - skip});
        skip = 0;
    }
    m.stream = mover->open(scratch_ranges);
    m.stream_base = from;
    return {};
}

void Device::close_message(Message& m) {
    if (m.stream == wire::kNoStream) return;
    mover->release(m.stream);
    m.stream = wire::kNoStream;
}

void Device::stop_at_local_error(Qp& qp, const LocalFault& fault, WcStatus status, sim::SimTime now) {
    qp.rq.stopped = true;
    qp.rq.local_status = status;
    qp.rq.local_check = fault.check;
    last_fault[qp.qpn] = fault;
    fail_if_stopped_here(qp, now);
}

void Device::fail_if_stopped_here(Qp& qp, sim::SimTime now) {
    Requester& r = qp.rq;
    if (!r.stopped || r.una != r.cur || !qp.sends()) return;
    Incident incident = incident_of(qp, r.local_check, now);
    const auto it = last_fault.find(qp.qpn);
    if (it != last_fault.end()) {
        incident.va = it->second.va;
        incident.length = it->second.length;
        incident.key = it->second.key;
        last_fault.erase(it);
    }
    const WcStatus status = r.local_status;
    r.stopped = false;
    fail_send(qp, r.una, status, incident, now);
}

void Device::refill_from_source(Qp& qp, sim::SimTime now) {
    Requester& r = qp.rq;
    FlowMessage next;
    while (r.end - r.una <= qp.message_mask && qp.source->next(next, now)) {
        Message& m = qp.message(r.end++);
        m = Message{};
        m.opcode = next.opcode;
        m.length = next.length;
        m.cookie = next.cookie;
        if (r.end - r.cur >= 2) break;  // one message ahead is enough
    }
}

void Device::charge_message(Qp& qp, sim::SimTime now) {
    next_message_at = std::max(next_message_at, now) + timing.message_gap;
    qp.rq.next_message_at = now + timing.qp_message_gap;
}

void Device::note_drained(Qp& qp, sim::SimTime now) {
    if (qp.state != QpState::Sqd || qp.verbs == nullptr || qp.verbs->sq_drained_told) return;
    const Requester& r = qp.rq;
    if (r.una != r.end && qp.message(r.una).started) return;
    qp.verbs->sq_drained_told = true;
    if (qp.verbs->attr.en_sqd_async_notify != 0) raise(EventType::SqDrained, qp.verbs->owner, qp.qpn, now);
}

bool Device::may_begin_datagram(Qp& qp, sim::SimTime now) {
    const Requester& r = qp.rq;
    if (!qp.sends() || r.stopped || qp.verbs == nullptr) return false;
    if (r.cur == r.end || qp.state == QpState::Sqd) {
        note_drained(qp, now);
        return false;
    }
    if (now < r.next_message_at) {
        qp.pace_timer.set(r.next_message_at);
        return false;
    }
    return true;
}

void Device::on_unreliable_sent(Qp& qp, uint32_t number, sim::SimTime now) {
    Requester& r = qp.rq;
    if (qp.destroyed || number - r.una >= r.end - r.una) return;
    Message& sent = qp.message(number);
    if (!sent.started) return;
    sent.responses = 1;
    // Completions are in order, even if a datagram through the loopback overtook another.
    while (r.una != r.cur && qp.message(r.una).started && qp.message(r.una).responses == 1) {
        Message& m = qp.message(r.una);
        m.started = false;
        m.responses = 0;
        const uint32_t done = r.una++;
        complete_send(qp, done, WcStatus::Success, now);
    }
    note_drained(qp, now);
    fail_if_stopped_here(qp, now);
}

}  // namespace simverbs::hca
