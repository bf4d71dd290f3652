// Multicast groups.
#include "verbs_shim/client/verbs/qp.hpp"
#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_attach_mcast, "IBVERBS_1.1", qp, gid, lid);
    return verbs::attach_mcast(qp, gid, lid);
}

SIMVERBS_EXPORT int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
    if (!verbs::is_ours(qp->context)) return SIMVERBS_FORWARD(ibv_detach_mcast, "IBVERBS_1.1", qp, gid, lid);
    return verbs::detach_mcast(qp, gid, lid);
}
