#include "verbs_shim/ops/context_ops.hpp"

#include "verbs_shim/client/verbs/cq.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/flow.hpp"
#include "verbs_shim/client/verbs/pd.hpp"
#include "verbs_shim/client/verbs/qp.hpp"
#include "verbs_shim/client/verbs/query.hpp"
#include "verbs_shim/client/verbs/srq.hpp"
#include "verbs_shim/client/verbs/wq.hpp"

namespace simverbs::client::ops {

void fill_context(verbs_context& v) {
    fill_unsupported(v);
    ibv_context_ops& o = v.context.ops;
    o.alloc_mw = verbs::alloc_mw;
    o.bind_mw = verbs::bind_mw;
    o.dealloc_mw = verbs::dealloc_mw;
    o.poll_cq = verbs::poll_cq;
    o.req_notify_cq = verbs::req_notify_cq;
    o.post_srq_recv = verbs::post_srq_recv;
    o.post_send = verbs::post_send;
    o.post_recv = verbs::post_recv;
    o._compat_query_device = verbs::query_device;

    v.ibv_create_flow = verbs::create_flow;
    v.ibv_destroy_flow = verbs::destroy_flow;
    v.create_wq = verbs::create_wq;
    v.modify_wq = verbs::modify_wq;
    v.destroy_wq = verbs::destroy_wq;
    v.create_rwq_ind_table = verbs::create_rwq_ind_table;
    v.destroy_rwq_ind_table = verbs::destroy_rwq_ind_table;
    v.query_port = verbs::query_port;
    v.query_rt_values = verbs::query_rt_values;
    v.create_cq_ex = verbs::create_cq_ex;
    v.query_device_ex = verbs::query_device_ex;
    v.create_qp_ex = verbs::create_qp_ex;
    v.get_srq_num = verbs::get_srq_num;
    v.create_srq_ex = verbs::create_srq_ex;
    v.open_xrcd = verbs::open_xrcd;
    v.close_xrcd = verbs::close_xrcd;
    v.open_qp = verbs::open_qp;
    v.alloc_null_mr = verbs::alloc_null_mr;
    v.advise_mr = verbs::advise_mr;
    v.alloc_dm = verbs::alloc_dm;
    v.free_dm = verbs::free_dm;
    v.reg_dm_mr = verbs::reg_dm_mr;
    v.alloc_td = verbs::alloc_td;
    v.dealloc_td = verbs::dealloc_td;
    v.alloc_parent_domain = verbs::alloc_parent_domain;
    v.modify_cq = verbs::modify_cq;
}

}  // namespace simverbs::client::ops
