// Memory windows.
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/pd.hpp"
#include "verbs_shim/client/verbs/post_send.hpp"

namespace simverbs::client::verbs {

namespace {

/// What a provider library looks at before it makes a bind of a type 1 window. Source: providers/mlx5, mlx5_bind_mw.
int check_bind(const ibv_mw_bind_info& info) {
    if (info.mr == nullptr && (info.addr != 0 || info.length != 0)) {
        return explain(EINVAL,
                       "ibv_bind_mw: bind_info.mr is null, but addr or length is not 0. Without an MR the "
                       "window is unbound: both must be 0.");
    }
    if ((info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) {
        return explain(EINVAL, "ibv_bind_mw: a type 1 window cannot be zero-based (mw_access_flags).");
    }
    if (info.mr == nullptr) return 0;
    const Mr& mr = *reinterpret_cast<const Mr*>(info.mr);
    if (!mr.is_plain) return explain(EOPNOTSUPP, "ibv_bind_mw: windows lie in memory registered by ibv_reg_mr.");
    if ((mr.access & IBV_ACCESS_ZERO_BASED) == 0) return 0;
    return explain(EINVAL, "ibv_bind_mw: the MR is zero-based (IBV_ACCESS_ZERO_BASED).");
}

}  // namespace

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
    return call_for_object(pd->context, [&](int& error) -> ibv_mw* {
        auto request = object_request(protocol::Op::AllocMw, pd->context, pd->handle, type);
        protocol::HandleReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        auto* const mw = make_object<Mw>();
        if (mw == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        mw->ibv.context = pd->context;
        mw->ibv.pd = pd;
        mw->ibv.handle = reply.handle;
        mw->ibv.rkey = reply.arg;
        mw->ibv.type = type;
        return &mw->ibv;
    });
}

int dealloc_mw(ibv_mw* mw) {
    return call(mw->context, [&] {
        if (const int error = destroy_object(protocol::Op::DeallocMw, mw->context, mw->handle)) return error;
        free_object(reinterpret_cast<Mw*>(mw));
        return 0;
    });
}

int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
    {
        const turn::InShim in_shim;
        if (const int error = check_bind(bind->bind_info)) {
            errno = error;
            return error;
        }
    }
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = bind->wr_id;
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = bind->send_flags;
    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
    wr.bind_mw.bind_info = bind->bind_info;
    const int error = post_list(qp, &wr, &bad, BindOf::Type1);
    if (error == 0) mw->rkey = wr.bind_mw.rkey;
    return error;
}

}  // namespace simverbs::client::verbs
