// The interface of 2006 (IBVERBS_1.0, and the driver registration of 1.1): its structs are not emulated. Outside a lab
// the real library answers; inside one there are no devices for such a program.
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/exports/export.hpp"

namespace {

// Every function of that interface takes at most six arguments of register size and returns at most one.
using Word = long;
using AnyFunction = Word (*)(Word, Word, Word, Word, Word, Word);

Word forward(const char* name, const char* version, Word failure, Word a, Word b, Word c, Word d, Word e, Word f) {
    if (simverbs::client::connection::lab() == nullptr) {
        const auto real = reinterpret_cast<AnyFunction>(simverbs::client::exports::find_real(name, version));
        if (real != nullptr) return real(a, b, c, d, e, f);
    }
    errno = ENOSYS;
    return failure;
}

}  // namespace

#define SIMVERBS_COMPAT(name, version, failure)                                                                        \
    SIMVERBS_EXPORT __attribute__((used)) Word simverbs_compat_##name(Word a, Word b, Word c, Word d, Word e, Word f); \
    Word simverbs_compat_##name(Word a, Word b, Word c, Word d, Word e, Word f) {                                      \
        return forward(#name, version, failure, a, b, c, d, e, f);                                                     \
    }                                                                                                                  \
    __asm__(".symver simverbs_compat_" #name "," #name "@" version)

SIMVERBS_COMPAT(ibv_ack_async_event, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_ack_cq_events, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_alloc_pd, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_attach_mcast, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_close_device, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_create_ah, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_create_cq, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_create_qp, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_create_srq, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_dealloc_pd, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_dereg_mr, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_destroy_ah, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_destroy_cq, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_destroy_qp, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_destroy_srq, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_detach_mcast, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_free_device_list, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_get_async_event, "IBVERBS_1.0", -1);
SIMVERBS_COMPAT(ibv_get_cq_event, "IBVERBS_1.0", -1);
SIMVERBS_COMPAT(ibv_get_device_guid, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_get_device_list, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_get_device_name, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_modify_qp, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_modify_srq, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_open_device, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_query_device, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_query_gid, "IBVERBS_1.0", -1);
SIMVERBS_COMPAT(ibv_query_pkey, "IBVERBS_1.0", -1);
SIMVERBS_COMPAT(ibv_query_port, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_query_qp, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_query_srq, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_reg_mr, "IBVERBS_1.0", 0);
SIMVERBS_COMPAT(ibv_resize_cq, "IBVERBS_1.0", ENOSYS);
SIMVERBS_COMPAT(ibv_register_driver, "IBVERBS_1.1", 0);
