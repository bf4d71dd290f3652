#include "verbs_shim/client/verbs/pd.hpp"

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

ibv_pd* alloc_pd(ibv_context* context) {
    return call_for_object(context, [&](int& error) -> ibv_pd* {
        const auto request = object_request(protocol::Op::AllocPd, context, 0);
        protocol::HandleReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        auto* const pd = make_object<Pd>();
        if (pd == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        pd->ibv.context = context;
        pd->ibv.handle = reply.handle;
        return &pd->ibv;
    });
}

int dealloc_pd(ibv_pd* pd) {
    return call(pd->context, [&] {
        if (const int error = destroy_object(protocol::Op::DeallocPd, pd->context, pd->handle)) return error;
        free_object(reinterpret_cast<Pd*>(pd));
        return 0;
    });
}

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
    return call_for_object(context, [&](int& error) -> ibv_xrcd* {
        constexpr uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
        if (attr->comp_mask != kNeeded) {
            error = explain(EINVAL,
                            "ibv_open_xrcd: comp_mask is 0x%x, required are IBV_XRCD_INIT_ATTR_FD and "
                            "IBV_XRCD_INIT_ATTR_OFLAGS.",
                            attr->comp_mask);
            return nullptr;
        }
        const auto request = object_request(protocol::Op::OpenXrcd, context, static_cast<uint32_t>(attr->fd),
                                            static_cast<uint64_t>(static_cast<uint32_t>(attr->oflags)));
        protocol::HandleReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        auto* const xrcd = make_object<Xrcd>();
        if (xrcd == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        xrcd->ibv.context = context;
        xrcd->handle = reply.handle;
        return &xrcd->ibv;
    });
}

int close_xrcd(ibv_xrcd* xrcd) {
    return call(xrcd->context, [&] {
        auto* const x = reinterpret_cast<Xrcd*>(xrcd);
        if (const int error = destroy_object(protocol::Op::CloseXrcd, xrcd->context, x->handle)) return error;
        free_object(x);
        return 0;
    });
}

}  // namespace simverbs::client::verbs
