// Receive WQEs: taken by an inbound message, completed at its end.
#include "models/hca/device.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

bool Device::choose_xrc_srq(Qp& qp, const wire::Packet& packet) {
    if (packet.extra == wire::kNoExtra || qp.verbs == nullptr) return false;
    const auto found = srqs.find((*pool)[packet.extra].xrc_srq);
    const auto opened = xrcds.find(qp.verbs->init.xrcd);
    if (found == srqs.end() || opened == xrcds.end()) return false;
    Srq& srq = *found->second;
    if (srq.xrcd == 0 || srq.domain != opened->second.domain) return false;
    qp.verbs->srq = &srq;
    qp.verbs->recv_cq = srq.cq;
    qp.pd = srq.pd;
    return true;
}

void Device::forget_srq(const Srq& srq) {
    if (srq.xrcd == 0) return;
    for (const auto& qp : qps) {
        if (qp->destroyed || qp->type != QpType::XrcRecv || qp->verbs == nullptr || qp->verbs->srq != &srq) continue;
        qp->verbs->srq = nullptr;
        qp->verbs->recv_cq = nullptr;
        qp->rs.has_wqe = false;
        qp->rs.inbound = InboundMessage::None;
    }
}

bool Device::take_receive(Qp& qp, sim::SimTime now) {
    if (qp.verbs == nullptr || qp.rs.has_wqe) return true;
    VerbsQp& v = *qp.verbs;
    ReceiveQueue& queue = v.srq != nullptr ? v.srq->queue : v.rq;
    if (!queue.available(now)) {
        ++ports[qp.port_index]->hw.out_of_buffer;
        return false;
    }
    const ReceiveWqe& w = queue.next();
    CurrentReceive& c = v.receive;
    c.wr_id = w.wr_id;
    c.sges.assign(queue.next_sges(), queue.next_sges() + w.num_sge);
    c.capacity = 0;
    for (const Sge& sge : c.sges) c.capacity += sge.length;
    queue.take();
    qp.rs.has_wqe = true;
    if (v.srq != nullptr && v.srq->limit != 0 && queue.waiting() < v.srq->limit) {
        v.srq->limit = 0;
        raise(EventType::SrqLimitReached, v.srq->owner, v.srq->handle, now);
    }
    return true;
}

void Device::complete_receive(Qp& qp, Cqe& cqe, sim::SimTime now) {
    ++completions;
    qp.rs.has_wqe = false;
    if (qp.verbs == nullptr) return;
    VerbsQp& v = *qp.verbs;
    HwCounters& hw = ports[qp.port_index]->hw;
    if (cqe.status == WcStatus::WrFlushErr)
        ++hw.resp_cqe_flush_error;
    else if (cqe.status != WcStatus::Success)
        ++hw.resp_cqe_error;
    if (v.recv_cq == nullptr) return;
    cqe.wr_id = v.receive.wr_id;
    cqe.is_send = false;
    cqe.srq = v.srq != nullptr ? v.srq->handle : 0;
    cqe.queue_tail = (v.srq != nullptr ? v.srq->queue : v.rq).retire();
    if (cqe.status != WcStatus::Success) cqe.opcode = WcOpcode::Send;
    write_cqe(qp, *v.recv_cq, cqe, now);
}

uint8_t Device::credit_code(const Qp& qp, sim::SimTime now) const noexcept {
    if (qp.verbs == nullptr || qp.verbs->srq != nullptr || qp.type == QpType::XrcRecv)
        return wire::kUnlimitedCreditCode;
    return wire::credit_code_for(qp.verbs->rq.available_count(now));
}

}  // namespace simverbs::hca
