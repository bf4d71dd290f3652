// Memory regions.
#include "verbs_shim/client/verbs/pd.hpp"
#include "verbs_shim/exports/export.hpp"

SIMVERBS_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length, int access) {
    if (!verbs::is_ours(pd->context)) return SIMVERBS_FORWARD(ibv_reg_mr, "IBVERBS_1.1", pd, addr, length, access);
    return verbs::reg_mr(pd, addr, length, reinterpret_cast<uint64_t>(addr), static_cast<unsigned>(access));
}

SIMVERBS_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length, uint64_t iova, int access) {
    if (!verbs::is_ours(pd->context)) {
        return SIMVERBS_FORWARD(ibv_reg_mr_iova, "IBVERBS_1.7", pd, addr, length, iova, access);
    }
    return verbs::reg_mr(pd, addr, length, iova, static_cast<unsigned>(access));
}

SIMVERBS_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length, uint64_t iova, unsigned int access) {
    if (!verbs::is_ours(pd->context)) {
        return SIMVERBS_FORWARD(ibv_reg_mr_iova2, "IBVERBS_1.8", pd, addr, length, iova, access);
    }
    return verbs::reg_mr(pd, addr, length, iova, access);
}

SIMVERBS_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                          int access) {
    if (!verbs::is_ours(pd->context)) {
        return SIMVERBS_FORWARD(ibv_reg_dmabuf_mr, "IBVERBS_1.12", pd, offset, length, iova, fd, access);
    }
    return verbs::reg_dmabuf_mr(pd, offset, length, iova, fd, static_cast<unsigned>(access));
}

SIMVERBS_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, size_t length, int access) {
    if (!verbs::is_ours(mr->context)) {
        return SIMVERBS_FORWARD(ibv_rereg_mr, "IBVERBS_1.1", mr, flags, pd, addr, length, access);
    }
    return verbs::rereg_mr(mr, flags, pd, addr, length, access);
}

SIMVERBS_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
    if (!verbs::is_ours(mr->context)) return SIMVERBS_FORWARD(ibv_dereg_mr, "IBVERBS_1.1", mr);
    return verbs::dereg_mr(mr);
}
