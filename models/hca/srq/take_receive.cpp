// Receive WQEs: taken by an inbound message, completed at its end.
#include "models/hca/device.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

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
    cqe.wr_id = v.receive.wr_id;
    cqe.is_send = false;
    cqe.queue_tail = (v.srq != nullptr ? v.srq->queue : v.rq).retire();
    if (cqe.status != WcStatus::Success) cqe.opcode = WcOpcode::Send;
    write_cqe(qp, *v.recv_cq, cqe, now);
}

uint8_t Device::credit_code(const Qp& qp, sim::SimTime now) const noexcept {
    if (qp.verbs == nullptr || qp.verbs->srq != nullptr) return wire::kUnlimitedCreditCode;
    return wire::credit_code_for(qp.verbs->rq.available_count(now));
}

}  // namespace simverbs::hca
