#include <new>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/doorbell.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/post_check.hpp"

namespace simverbs::client::verbs {

using protocol::RecvSlot;
using protocol::WireSge;

namespace {

/// A receive queue or shared receive queue as the loop below sees it.
struct Queue {
    const Ring& ring;
    uint32_t& posted;
    std::atomic<uint32_t>& retired;
    uint32_t max_wr;
    uint32_t max_sge;
};

enum class Refusal { None, Full, Sges };

void fill_slot(uint8_t* at, const ibv_recv_wr& wr) {
    auto* const slot = new (at) RecvSlot{wr.wr_id, static_cast<uint32_t>(wr.num_sge), 0};
    auto* const sges = reinterpret_cast<WireSge*>(slot + 1);
    for (int i = 0; i < wr.num_sge; ++i) sges[i] = {wr.sg_list[i].addr, wr.sg_list[i].length, wr.sg_list[i].lkey};
}

/// Writes the list into the ring; `wr` ends at the first that does not fit, or null. Returns how many.
uint32_t fill_slots(Queue& q, ibv_recv_wr*& wr, Refusal& refusal) {
    uint32_t count = 0;
    for (; wr != nullptr; wr = wr->next, ++count) {
        if (q.posted + count - q.retired.load(std::memory_order_acquire) >= q.max_wr) {
            refusal = Refusal::Full;
            break;
        }
        if (wr->num_sge < 0 || static_cast<uint32_t>(wr->num_sge) > q.max_sge) {
            refusal = Refusal::Sges;
            break;
        }
        fill_slot(q.ring.slot(q.posted + count), *wr);
    }
    q.posted += count;
    q.ring.header->produced.store(q.posted, std::memory_order_release);
    return count;
}

int explain_refusal(Refusal refusal, const char* what, uint32_t number, const Queue& q, const ibv_recv_wr* wr) {
    switch (refusal) {
        case Refusal::None:
            return 0;
        case Refusal::Full:
            return explain(ENOMEM,
                           "%s 0x%06x: the queue is full (max_wr %u). A place becomes free when the completion of a "
                           "receive is polled.",
                           what, number, q.max_wr);
        case Refusal::Sges:
            return explain(EINVAL, "%s 0x%06x: wr.num_sge is %d, the queue was created with max_sge %u.", what, number,
                           wr->num_sge, q.max_sge);
    }
    return EINVAL;
}

}  // namespace

int post_recv(ibv_qp* ibv, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    Qp& qp = *to_qp(ibv);
    const turn::InShim in_shim;
    *bad = wr;
    if (const int error = liveness(ibv->context)) return error;
    if (ibv->srq != nullptr) {
        return explain(EINVAL,
                       "ibv_post_recv on QP 0x%06x: the QP takes its receives from an SRQ. Use ibv_post_srq_recv.",
                       ibv->qp_num);
    }
    if (qp.rq.header == nullptr) return EINVAL;
    const auto* const state_of = qp.sq.header != nullptr ? qp.sq.header : qp.rq.header;
    if (!takes_receives(state_of->state.load(std::memory_order_acquire))) {
        return explain(
            EINVAL,
            "ibv_post_recv on QP 0x%06x: qp_state is RESET, receives can be posted from INIT on. Move the QP "
            "to INIT with ibv_modify_qp first.",
            ibv->qp_num);
    }
    Queue q{qp.rq, qp.rq_posted, qp.rq_retired, qp.max_recv_wr, qp.max_recv_sge};
    Refusal refusal = Refusal::None;
    {
        const Guard guard(qp.recv_lock);
        const uint32_t count = fill_slots(q, wr, refusal);
        turn::charge(qp.context()->info->post_recv_ps * count);
        if (count != 0) ring_doorbell(*qp.context(), ibv->handle, protocol::DoorbellKind::Recv, count);
        connection::count(protocol::Stat::PostRecv);
        connection::count(protocol::Stat::PostRecvWr, count);
    }
    *bad = wr;
    return explain_refusal(refusal, "ibv_post_recv on QP", ibv->qp_num, q, wr);
}

int post_srq_recv(ibv_srq* ibv, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    Srq& srq = *to_srq(ibv);
    const turn::InShim in_shim;
    *bad = wr;
    if (const int error = liveness(ibv->context)) return error;
    Context& context = *to_context(ibv->context);
    Queue q{srq.ring, srq.posted, srq.completed, srq.max_wr, srq.max_sge};
    Refusal refusal = Refusal::None;
    {
        const Guard guard(srq.lock);
        const uint32_t count = fill_slots(q, wr, refusal);
        turn::charge(context.info->post_recv_ps * count);
        if (count != 0) ring_doorbell(context, ibv->handle, protocol::DoorbellKind::SrqRecv, count);
        connection::count(protocol::Stat::PostSrqRecv, count);
    }
    *bad = wr;
    return explain_refusal(refusal, "ibv_post_srq_recv on SRQ", ibv->handle, q, wr);
}

}  // namespace simverbs::client::verbs
