#include <cerrno>
#include <cstddef>

#include "verbs_shim/ops/context_ops.hpp"

namespace simverbs::client::ops {

namespace {

/// Makes a function of the operation's own type: returns EOPNOTSUPP, or null with errno set.
template <typename Fn>
struct Unsupported;

template <typename... Args>
struct Unsupported<int (*)(Args...)> {
    static int answer(Args...) { return EOPNOTSUPP; }
};
template <typename T, typename... Args>
struct Unsupported<T* (*)(Args...)> {
    static T* answer(Args...) {
        errno = EOPNOTSUPP;
        return nullptr;
    }
};
template <>
struct Unsupported<void (*)()> {
    static void answer() { errno = EOPNOTSUPP; }
};

template <typename Fn>
void refuse(Fn& op) {
    op = Unsupported<Fn>::answer;
}

int refuse_srq_ops(ibv_srq*, ibv_ops_wr* op, ibv_ops_wr** bad) {
    *bad = op;
    return EOPNOTSUPP;
}

void refuse_context_ops(ibv_context_ops& o) {
    refuse(o._compat_query_device);
    refuse(o._compat_query_port);
    refuse(o._compat_alloc_pd);
    refuse(o._compat_dealloc_pd);
    refuse(o._compat_reg_mr);
    refuse(o._compat_rereg_mr);
    refuse(o._compat_dereg_mr);
    refuse(o._compat_create_cq);
    refuse(o._compat_cq_event);
    refuse(o._compat_resize_cq);
    refuse(o._compat_destroy_cq);
    refuse(o._compat_create_srq);
    refuse(o._compat_modify_srq);
    refuse(o._compat_query_srq);
    refuse(o._compat_destroy_srq);
    refuse(o._compat_create_qp);
    refuse(o._compat_query_qp);
    refuse(o._compat_modify_qp);
    refuse(o._compat_destroy_qp);
    refuse(o._compat_create_ah);
    refuse(o._compat_destroy_ah);
    refuse(o._compat_attach_mcast);
    refuse(o._compat_detach_mcast);
    refuse(o._compat_async_event);
}

}  // namespace

void fill_unsupported(verbs_context& v) {
    refuse_context_ops(v.context.ops);
    refuse(v.read_counters);
    refuse(v.attach_counters_point_flow);
    refuse(v.create_counters);
    refuse(v.destroy_counters);
    refuse(v.modify_flow_action_esp);
    refuse(v.destroy_flow_action);
    refuse(v.create_flow_action_esp);
    refuse(v.modify_qp_rate_limit);
    v.post_srq_ops = refuse_srq_ops;
    refuse(v.destroy_rwq_ind_table);
    refuse(v.create_rwq_ind_table);
    refuse(v.destroy_wq);
    refuse(v.modify_wq);
    refuse(v.create_wq);
    refuse(v.ibv_destroy_flow);
    refuse(v.ABI_placeholder2);
    refuse(v.ibv_create_flow);
    refuse(v.ABI_placeholder1);
}

}  // namespace simverbs::client::ops
