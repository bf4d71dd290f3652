// Sharing a context, PD, MR or DM between processes: not for simulated devices. ibv_import_device gets a descriptor of
// the kernel's, so it can only mean a real device.
#include "verbs_shim/exports/export.hpp"

namespace {

template <typename T>
T* refuse() {
    errno = EOPNOTSUPP;
    return nullptr;
}

}  // namespace

SIMVERBS_EXPORT ibv_context* ibv_import_device(int cmd_fd) {
    if (verbs::num_devices() != 0) return refuse<ibv_context>();
    return SIMVERBS_FORWARD(ibv_import_device, "IBVERBS_1.10", cmd_fd);
}

SIMVERBS_EXPORT ibv_pd* ibv_import_pd(ibv_context* context, uint32_t pd_handle) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_import_pd, "IBVERBS_1.10", context, pd_handle);
    return refuse<ibv_pd>();
}

SIMVERBS_EXPORT void ibv_unimport_pd(ibv_pd* pd) {
    if (!verbs::is_ours(pd->context)) SIMVERBS_FORWARD(ibv_unimport_pd, "IBVERBS_1.10", pd);
}

SIMVERBS_EXPORT ibv_mr* ibv_import_mr(ibv_pd* pd, uint32_t mr_handle) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_import_mr, "IBVERBS_1.10", pd, mr_handle);
    return refuse<ibv_mr>();
}

SIMVERBS_EXPORT void ibv_unimport_mr(ibv_mr* mr) {
    if (!verbs::is_ours(mr->context)) SIMVERBS_FORWARD(ibv_unimport_mr, "IBVERBS_1.10", mr);
}

SIMVERBS_EXPORT ibv_dm* ibv_import_dm(ibv_context* context, uint32_t dm_handle) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_import_dm, "IBVERBS_1.13", context, dm_handle);
    return refuse<ibv_dm>();
}

SIMVERBS_EXPORT void ibv_unimport_dm(ibv_dm* dm) {
    if (!verbs::is_ours(dm->context)) SIMVERBS_FORWARD(ibv_unimport_dm, "IBVERBS_1.13", dm);
}
