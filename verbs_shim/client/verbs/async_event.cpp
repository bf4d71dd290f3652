#include "verbs_shim/client/verbs/async_event.hpp"

#include "verbs_shim/client/verbs/acknowledged.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/event_fd.hpp"

namespace simverbs::client::verbs {

namespace {

enum class About { Qp, Cq, Srq, Port };

About about(ibv_event_type type) {
    switch (static_cast<int>(type)) {
        case IBV_EVENT_CQ_ERR:
            return About::Cq;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            return About::Qp;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return About::Srq;
        default:
            return About::Port;
    }
}

/// Fills the element; false if the object has been destroyed since (nobody wants to hear of it).
bool translate(Context& context, const protocol::ChannelEvent& from, ibv_async_event& to) {
    if (from.kind == 0) return false;
    to.event_type = static_cast<ibv_event_type>(from.kind - 1);
    switch (about(to.event_type)) {
        case About::Qp: {
            // Handles of QPs are their numbers, with more bits above where two devices gave the same number.
            Qp* const qp = context.qps.find(from.object & 0xFFFFFF);
            if (qp == nullptr) return false;
            to.element.qp = qp->qp();
            return true;
        }
        case About::Cq: {
            Cq* const cq = context.cqs.find(from.object);
            if (cq == nullptr) return false;
            to.element.cq = cq->cq();
            return true;
        }
        case About::Srq: {
            Srq* const srq = context.srqs.find(from.object);
            if (srq == nullptr) return false;
            to.element.srq = &srq->ibv;
            return true;
        }
        case About::Port:
            to.element.port_num = static_cast<int>(from.object);
            return true;
    }
    return false;
}

void note_handed_out(const ibv_async_event& event) {
    switch (about(event.event_type)) {
        case About::Qp: {
            Qp* const qp = to_qp(event.element.qp);
            return hand_out(qp->qp()->mutex, qp->async_handed_out);
        }
        case About::Cq: {
            Cq* const cq = to_cq(event.element.cq);
            return hand_out(cq->ibv.mutex, cq->async_handed_out);
        }
        case About::Srq: {
            Srq* const srq = to_srq(event.element.srq);
            return hand_out(srq->ibv.mutex, srq->async_handed_out);
        }
        case About::Port:
            return;
    }
}

int next_event(Context& context, ibv_async_event& event) {
    if (context.epoch != connection::epoch()) return EIO;
    for (;;) {
        protocol::ChannelEvent raw;
        const int error = read_event(context.ibv()->async_fd, context.async_key, "ibv_get_async_event", raw);
        if (error == EIO && !context.fatal_told.exchange(true)) {
            event = ibv_async_event{};
            event.event_type = IBV_EVENT_DEVICE_FATAL;
            return 0;
        }
        if (error != 0) return error;
        if (translate(context, raw, event)) return 0;
    }
}

}  // namespace

int get_async_event(ibv_context* context, ibv_async_event* event) {
    int error = 0;
    {
        const turn::InShim in_shim;
        error = next_event(*to_context(context), *event);
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    note_handed_out(*event);
    return 0;
}

void ack_async_event(ibv_async_event* event) {
    switch (about(event->event_type)) {
        case About::Qp: {
            ibv_qp* const qp = event->element.qp;
            return acknowledge(qp->mutex, qp->cond, qp->events_completed, 1);
        }
        case About::Cq: {
            ibv_cq* const cq = event->element.cq;
            return acknowledge(cq->mutex, cq->cond, cq->async_events_completed, 1);
        }
        case About::Srq: {
            ibv_srq* const srq = event->element.srq;
            return acknowledge(srq->mutex, srq->cond, srq->events_completed, 1);
        }
        case About::Port:
            return;
    }
}

}  // namespace simverbs::client::verbs
