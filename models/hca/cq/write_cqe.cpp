// Completions and events on their way to the host's software.
#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {

constexpr uint32_t kCqeBytes = 64;

constexpr WcOpcode wc_opcode_of(WrOpcode op) noexcept {
    switch (op) {
        case WrOpcode::RdmaWrite:
        case WrOpcode::RdmaWriteWithImm:
            return WcOpcode::RdmaWrite;
        case WrOpcode::RdmaRead:
            return WcOpcode::RdmaRead;
        case WrOpcode::AtomicCmpAndSwp:
            return WcOpcode::CompSwap;
        case WrOpcode::AtomicFetchAndAdd:
            return WcOpcode::FetchAdd;
        case WrOpcode::LocalInv:
            return WcOpcode::LocalInv;
        case WrOpcode::BindMw:
            return WcOpcode::BindMw;
        case WrOpcode::Send:
        case WrOpcode::SendWithImm:
        case WrOpcode::SendWithInv:
        case WrOpcode::Tso:
        case WrOpcode::Driver1:
        case WrOpcode::Flush:
            return WcOpcode::Send;
        case WrOpcode::AtomicWrite:
            return WcOpcode::AtomicWrite;
    }
    return WcOpcode::Send;
}

/// vendor_err of ConnectX adapters, as perftest prints it ("syndrom 0x81"); 0 where none is known from public logs.
constexpr uint32_t vendor_err_of(WcStatus status) noexcept {
    if (status == WcStatus::RetryExcErr) return 0x81;
    if (status == WcStatus::RnrRetryExcErr) return 0x87;
    if (status == WcStatus::RemAccessErr) return 0x88;
    if (status == WcStatus::RemInvReqErr) return 0x8a;
    if (status == WcStatus::WrFlushErr) return 0xf9;
    return 0;
}

}  // namespace

void Device::complete_send(Qp& qp, uint32_t number, WcStatus status, sim::SimTime now) {
    Message& m = qp.message(number);
    close_message(m);
    ++completions;
    if (qp.verbs == nullptr) {
        if (qp.source != nullptr) qp.source->done(m.cookie, status, now);
        return;
    }
    VerbsQp& v = *qp.verbs;
    if (observer != nullptr) [[unlikely]]
        observer->on_send_done(qp.qpn, number, status, now);
    HwCounters& hw = ports[qp.port_index]->hw;
    if (status == WcStatus::WrFlushErr)
        ++hw.req_cqe_flush_error;
    else if (status != WcStatus::Success)
        ++hw.req_cqe_error;
    const bool signaled = v.init.sq_sig_all || (m.send_flags & kSignaled) != 0;
    if (status == WcStatus::Success && !signaled) return;
    const SendWqe& w = v.wqes[number & qp.message_mask];
    Cqe cqe;
    cqe.wr_id = w.wr_id;
    cqe.status = status;
    if (status == WcStatus::Success) {
        cqe.opcode = wc_opcode_of(m.opcode);
        cqe.byte_len = m.is_local() ? 0 : m.length;
        if (m.fills_sges() && m.opcode != WrOpcode::RdmaRead && !profile.behaviour.rounds_atomics_to_eight) {
            const Sge* const sges = &v.sges[size_t{number & qp.message_mask} * std::max(v.init.cap.max_send_sge, 1U)];
            cqe.byte_len = 0;
            for (uint32_t i = 0; i < w.num_sge; ++i) cqe.byte_len += sges[i].length;
        }
    }
    cqe.vendor_err = vendor_err_of(status);
    cqe.queue_tail = number + 1;
    write_cqe(qp, *v.send_cq, cqe, now);
}

void Device::write_cqe(Qp& qp, Cq& cq, Cqe& cqe, sim::SimTime now) {
    if (cqe.status != WcStatus::Success) {
        cqe.solicited = true;
        if (cqe.vendor_err == 0) cqe.vendor_err = vendor_err_of(cqe.status);
    }
    cqe.qp_num = qp.qpn;
    cqe.timestamp = now + timing.cqe_process;
    host_port.aim(cq.memory);
    const sim::SimTime written = host_port.post_write(now, kCqeBytes);
    const sim::SimTime visible = std::max(written + timing.cqe_process, cq.last_visible);
    cq.last_visible = visible;
    // A CQ in error takes nothing any more.
    if (cq.unpolled >= cq.capacity || cq.overrun) {
        on_cq_overrun(qp, cq, cqe.is_send, now);
        return;
    }
    ++cq.unpolled;
    if (observer != nullptr) [[unlikely]]
        observer->on_cqe(cqe, visible);
    if (sink == nullptr) return;
    sink->on_cqe(cq.handle, cqe, visible);
    if (!cq.has_channel) return;
    const bool counts = cq.arm == CqArm::Any || (cq.arm == CqArm::Solicited && cqe.solicited);
    if (counts && visible > cq.armed_at) {
        cq.arm = CqArm::None;
        sink->on_cq_event(cq.handle, host_port.interrupt(now, visible, cq.memory) + timing.interrupt);
        return;
    }
    // A thread's clock lags at most a few microseconds behind the adapter's.
    const sim::SimTime kept = sim::SimTime::us(20);
    while (!cq.recent.empty() && cq.recent.front().visible_at + kept < now) cq.recent.pop();
    cq.recent.push({visible, cqe.solicited});
}

void Device::on_cq_overrun(Qp& qp, Cq& cq, bool is_send, sim::SimTime now) {
    const bool stops = profile.behaviour.stops_at_cq_overrun;
    if (!cq.overrun || !stops) raise(EventType::CqErr, cq.owner, cq.handle, now);
    cq.overrun = stops;
    if (qp.state == QpState::Err || qp.state == QpState::Reset || (is_send && !stops)) return;
    Incident incident = incident_of(qp, Check::CqOverrun, now);
    incident.to = QpState::Err;
    report(incident);
    enter_error(qp, false, now);
    if (stops) raise(EventType::QpFatal, qp.verbs->owner, qp.qpn, now);
}

void Device::raise(EventType type, OwnerId owner, uint32_t object, sim::SimTime now) {
    if (sink != nullptr) sink->on_async_event({type, owner, object}, now + timing.pcie_write + timing.interrupt);
}

int Hca::req_notify_cq(CqHandle handle, bool solicited_only, sim::SimTime t) {
    Cq* cq = device_->find_cq(handle);
    if (cq == nullptr || !cq->has_channel) return EINVAL;
    for (uint32_t i = cq->recent.first(); i != cq->recent.next(); ++i) {
        const Cq::Recent& r = cq->recent.at(i);
        if (r.visible_at <= t || (solicited_only && !r.solicited)) continue;
        cq->arm = CqArm::None;
        const sim::SimTime seen = std::max(r.visible_at, device_->host_port.doorbell_arrival(t));
        cq->recent.clear();
        if (device_->sink != nullptr) device_->sink->on_cq_event(handle, seen + device_->timing.interrupt);
        return 0;
    }
    cq->recent.clear();
    // "Any" is the stronger request: a later solicited-only one does not weaken it.
    if (cq->arm != CqArm::Any) cq->arm = solicited_only ? CqArm::Solicited : CqArm::Any;
    cq->armed_at = t;
    return 0;
}

int Hca::cq_consumed(CqHandle handle, uint32_t count) {
    Cq* cq = device_->find_cq(handle);
    if (cq == nullptr || count > cq->unpolled) return EINVAL;
    cq->unpolled -= count;
    return 0;
}

}  // namespace simverbs::hca
