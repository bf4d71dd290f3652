// Completion queues and channels.
#include "verbs_shim/client/verbs/cq.hpp"

#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_create_comp_channel, "IBVERBS_1.0", context);
    return verbs::create_comp_channel(context);
}

SIMVERBS_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
    if (!verbs::is_ours(channel->context)) return SIMVERBS_FORWARD(ibv_destroy_comp_channel, "IBVERBS_1.0", channel);
    return verbs::destroy_comp_channel(channel);
}

SIMVERBS_EXPORT ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                                      int comp_vector) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_create_cq, "IBVERBS_1.1", context, cqe, cq_context, channel, comp_vector);
    }
    return verbs::create_cq(context, cqe, cq_context, channel, comp_vector);
}

SIMVERBS_EXPORT int ibv_resize_cq(ibv_cq* cq, int cqe) {
    if (!verbs::is_ours(cq->context)) return SIMVERBS_FORWARD(ibv_resize_cq, "IBVERBS_1.1", cq, cqe);
    return verbs::resize_cq(cq, cqe);
}

SIMVERBS_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
    if (!verbs::is_ours(cq->context)) return SIMVERBS_FORWARD(ibv_destroy_cq, "IBVERBS_1.1", cq);
    return verbs::destroy_cq(cq);
}

SIMVERBS_EXPORT int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
    if (!verbs::is_ours(channel->context)) {
        return SIMVERBS_FORWARD(ibv_get_cq_event, "IBVERBS_1.1", channel, cq, cq_context);
    }
    return verbs::get_cq_event(channel, cq, cq_context);
}

SIMVERBS_EXPORT void ibv_ack_cq_events(ibv_cq* cq, unsigned int nevents) {
    if (!verbs::is_ours(cq->context)) return SIMVERBS_FORWARD(ibv_ack_cq_events, "IBVERBS_1.1", cq, nevents);
    verbs::ack_cq_events(cq, nevents);
}
