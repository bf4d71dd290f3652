#include "verbs_shim/client/verbs/pd.hpp"

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

namespace {

/// The server knows only the PD that a parent domain stands for.
void free_parent_domain(Pd& pd) {
    auto* const parent = reinterpret_cast<ParentDomain*>(&pd);
    pd.protection->parents.fetch_sub(1, std::memory_order_acq_rel);
    if (parent->td != nullptr) parent->td->parents.fetch_sub(1, std::memory_order_acq_rel);
    free_object(parent);
}

int check_parent(const ibv_parent_domain_init_attr& attr) {
    constexpr uint32_t kMask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    if ((attr.comp_mask & ~kMask) != 0 || attr.pd == nullptr) {
        return explain(EINVAL,
                       "ibv_alloc_parent_domain: a PD is needed, and comp_mask (0x%x) may only name the "
                       "allocators and their context.",
                       attr.comp_mask);
    }
    const bool allocators = (attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
    if (!allocators || (attr.alloc != nullptr && attr.free != nullptr)) return 0;
    return explain(EINVAL, "ibv_alloc_parent_domain: IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS needs both functions.");
}

}  // namespace

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) {
    return call_for_object(context, [&](int& error) -> ibv_td* {
        if (attr->comp_mask != 0) {
            error = explain(EINVAL, "ibv_alloc_td: comp_mask is 0x%x, no bit of it has a meaning.", attr->comp_mask);
            return nullptr;
        }
        auto* const td = make_object<Td>();
        if (td == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        td->ibv.context = context;
        return &td->ibv;
    });
}

int dealloc_td(ibv_td* td) {
    return call(td->context, [&] {
        auto* const t = reinterpret_cast<Td*>(td);
        if (t->parents.load(std::memory_order_acquire) != 0) {
            return explain(EBUSY, "ibv_dealloc_td: a parent domain was made of it; deallocate that first.");
        }
        free_object(t);
        return 0;
    });
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
    return call_for_object(context, [&](int& error) -> ibv_pd* {
        error = check_parent(*attr);
        if (error != 0) return nullptr;
        auto* const parent = make_object<ParentDomain>();
        if (parent == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        Pd* const pd = reinterpret_cast<Pd*>(attr->pd);
        parent->pd.protection = pd->protection != nullptr ? pd->protection : pd;
        parent->pd.protection->parents.fetch_add(1, std::memory_order_acq_rel);
        parent->td = reinterpret_cast<Td*>(attr->td);
        if (parent->td != nullptr) parent->td->parents.fetch_add(1, std::memory_order_acq_rel);
        parent->pd.ibv.context = context;
        parent->pd.ibv.handle = attr->pd->handle;
        return &parent->pd.ibv;
    });
}

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
        Pd* const p = reinterpret_cast<Pd*>(pd);
        if (p->protection != nullptr) {
            free_parent_domain(*p);
            return 0;
        }
        if (p->parents.load(std::memory_order_acquire) != 0) {
            return explain(EBUSY, "ibv_dealloc_pd: a parent domain was made of this PD; deallocate it first.");
        }
        if (const int error = destroy_object(protocol::Op::DeallocPd, pd->context, pd->handle)) return error;
        free_object(p);
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
