// Shared receive queues.
#include <cerrno>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

int create_srq(Call& call, const protocol::CreateSrqRequest& request, protocol::CreateSrqReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    if (request.srq_type != IBV_SRQT_BASIC && request.srq_type != IBV_SRQT_XRC) return EOPNOTSUPP;
    hca::SrqSpec spec{pd->pd, request.attr.max_wr, request.attr.max_sge, request.attr.srq_limit, 0, 0};
    if (request.srq_type == IBV_SRQT_XRC) {
        const XrcdObject* xrcd = call.client.xrcds.find(request.xrcd);
        const CqObject* cq = call.client.cqs.find(request.cq);
        if (xrcd == nullptr || cq == nullptr) return EINVAL;
        if (xrcd->context != request.context || cq->context != request.context) return EINVAL;
        spec.xrcd = xrcd->xrcd;
        spec.cq = cq->cq;
    }
    const auto srq = context->hca->create_srq(call.by(*context), spec);
    if (!srq.ok()) return srq.error;
    const auto ring = call.client.arena->allocate(
        spec.max_wr, sizeof(protocol::RecvSlot) + uint64_t{spec.max_sge} * sizeof(protocol::WireSge));
    uint32_t handle = 0;
    if (ring) handle = call.client.srqs.add({request.context, srq.value, request.pd, spec.max_sge, *ring, 0});
    if (handle == 0) {
        (void)context->hca->destroy_srq({context->owner, call.now, nullptr}, srq.value);
        return ENOMEM;
    }
    call.nic(*context).sink->srqs[srq.value] = {&call.client, handle};
    reply.handle = handle;
    reply.srq_num = srq.value;
    reply.attr = {spec.max_wr, spec.max_sge, spec.srq_limit};
    reply.ring = ring->ref();
    return 0;
}

int modify_srq(Call& call, const protocol::ModifySrqRequest& request, protocol::ReplyHeader&) {
    const SrqObject* srq = call.client.srqs.find(request.handle);
    ContextObject* context = srq == nullptr ? nullptr : call.context(srq->context);
    if (context == nullptr) return EINVAL;
    // The ring's size is fixed when it is made; the HCA may refuse more on its own account as well.
    if ((request.mask & hca::kSrqMaxWr) != 0 && request.attr.max_wr > srq->ring.capacity) return EOPNOTSUPP;
    return context->hca->modify_srq(call.by(*context), srq->srq,
                                    {request.attr.max_wr, request.attr.max_sge, request.attr.srq_limit}, request.mask);
}

int query_srq(Call& call, const protocol::ObjectRequest& request, protocol::QuerySrqReply& reply) {
    const SrqObject* srq = call.client.srqs.find(request.handle);
    ContextObject* context = srq == nullptr ? nullptr : call.context(srq->context);
    if (context == nullptr) return EINVAL;
    const auto attr = context->hca->query_srq(call.by(*context), srq->srq);
    reply.attr = {attr.value.max_wr, attr.value.max_sge, attr.value.srq_limit};
    return attr.error;
}

int destroy_srq(Call& call, const protocol::ObjectRequest& request, protocol::DestroyReply&) {
    SrqObject* srq = call.client.srqs.find(request.handle);
    ContextObject* context = srq == nullptr ? nullptr : call.context(srq->context);
    if (context == nullptr) return EINVAL;
    if (const int error = context->hca->destroy_srq(call.by(*context), srq->srq); error != 0) return error;
    call.nic(*context).sink->srqs.erase(srq->srq);
    call.client.arena->release(srq->ring);
    call.client.srqs.remove(request.handle);
    return 0;
}

}  // namespace simverbs::server
