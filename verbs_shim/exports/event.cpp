// Asynchronous events.
#include "verbs_shim/client/verbs/async_event.hpp"
#include "verbs_shim/exports/export.hpp"

namespace {

/// Context of the object that an event is about; null for a port or the device, which need no acknowledgement.
ibv_context* context_of(const ibv_async_event& event) {
    switch (static_cast<int>(event.event_type)) {
        case IBV_EVENT_CQ_ERR:
            return event.element.cq->context;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            return event.element.qp->context;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return event.element.srq->context;
        case IBV_EVENT_WQ_FATAL:
            return event.element.wq->context;
        default:
            return nullptr;
    }
}

}  // namespace

SIMVERBS_EXPORT int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_get_async_event, "IBVERBS_1.1", context, event);
    return verbs::get_async_event(context, event);
}

SIMVERBS_EXPORT void ibv_ack_async_event(ibv_async_event* event) {
    ibv_context* const context = context_of(*event);
    if (context == nullptr) return;
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_ack_async_event, "IBVERBS_1.1", event);
    verbs::ack_async_event(event);
}
