// Shared receive queues.
#include "verbs_shim/client/verbs/srq.hpp"

#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_create_srq, "IBVERBS_1.1", pd, attr);
    return verbs::create_srq(pd, attr);
}

SIMVERBS_EXPORT int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask) {
    if (!verbs::is_ours(srq->context)) return SIMVERBS_FORWARD(ibv_modify_srq, "IBVERBS_1.1", srq, attr, attr_mask);
    return verbs::modify_srq(srq, attr, attr_mask);
}

SIMVERBS_EXPORT int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
    if (!verbs::is_ours(srq->context)) return SIMVERBS_FORWARD(ibv_query_srq, "IBVERBS_1.1", srq, attr);
    return verbs::query_srq(srq, attr);
}

SIMVERBS_EXPORT int ibv_destroy_srq(ibv_srq* srq) {
    if (!verbs::is_ours(srq->context)) return SIMVERBS_FORWARD(ibv_destroy_srq, "IBVERBS_1.1", srq);
    return verbs::destroy_srq(srq);
}
