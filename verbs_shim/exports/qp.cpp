// Queue pairs.
#include "verbs_shim/client/verbs/qp.hpp"

#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_create_qp, "IBVERBS_1.1", pd, attr);
    return verbs::create_qp(pd, attr);
}

SIMVERBS_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_modify_qp, "IBVERBS_1.1", qp, attr, attr_mask);
    return verbs::modify_qp(qp, attr, attr_mask);
}

SIMVERBS_EXPORT int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr) {
    if (!verbs::is_ours(qp->context)) {
        return SIMVERBS_FORWARD(ibv_query_qp, "IBVERBS_1.1", qp, attr, attr_mask, init_attr);
    }
    return verbs::query_qp(qp, attr, attr_mask, init_attr);
}

SIMVERBS_EXPORT int ibv_destroy_qp(ibv_qp* qp) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_destroy_qp, "IBVERBS_1.1", qp);
    return verbs::destroy_qp(qp);
}

SIMVERBS_EXPORT ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_qp_to_qp_ex, "IBVERBS_1.6", qp);
    return verbs::qp_to_qp_ex(qp);
}

/// Data may land in any order: completions are the only promise.
SIMVERBS_EXPORT int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode op, uint32_t flags) {
    if (!verbs::is_ours(qp->context)) {
        return SIMVERBS_FORWARD(ibv_query_qp_data_in_order, "IBVERBS_1.14", qp, op, flags);
    }
    return 0;
}

SIMVERBS_EXPORT int ibv_set_ece(ibv_qp* qp, ibv_ece* ece) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_set_ece, "IBVERBS_1.10", qp, ece);
    errno = verbs::set_ece(qp, *ece);
    return errno;
}

SIMVERBS_EXPORT int ibv_query_ece(ibv_qp* qp, ibv_ece* ece) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_query_ece, "IBVERBS_1.10", qp, ece);
    errno = verbs::query_ece(qp, *ece);
    return errno;
}
