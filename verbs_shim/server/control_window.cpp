// Memory windows, null regions, advice, device memory.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

int alloc_mw(Call& call, const protocol::ObjectRequest& request, protocol::HandleReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.handle, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    const auto type = static_cast<hca::MwType>(std::min<uint64_t>(request.arg, 255));
    const auto mw = context->hca->alloc_mw(call.by(*context), pd->pd, type);
    if (!mw.ok()) return mw.error;
    reply.arg = mw.value.rkey;
    reply.handle = call.client.mws.add({request.context, mw.value.handle});
    return reply.handle == 0 ? ENOMEM : 0;
}

int dealloc_mw(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const MwObject* mw = call.client.mws.find(request.handle);
    ContextObject* context = mw == nullptr ? nullptr : call.context(mw->context);
    if (context == nullptr) return EINVAL;
    const int error = context->hca->dealloc_mw(call.by(*context), mw->mw);
    if (error == 0) call.client.mws.remove(request.handle);
    return error;
}

int alloc_null_mr(Call& call, const protocol::ObjectRequest& request, protocol::RegMrReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.handle, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    const auto keys = context->hca->alloc_null_mr(call.by(*context), pd->pd);
    if (!keys.ok()) return keys.error;
    MrObject mr;
    mr.context = request.context;
    mr.mr = keys.value.handle;
    mr.pd = request.handle;
    return keep_mr(call, std::move(mr), keys.value, reply);
}

int advise_mr(Call& call, const protocol::AdviseMrRequest& request, protocol::ReplyHeader&) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    if (context == nullptr || pd == nullptr || request.num_sge > protocol::kMostAdvisedRanges) return EINVAL;
    std::vector<hca::Sge> ranges;
    for (uint32_t i = 0; i < request.num_sge; ++i)
        ranges.push_back({request.sges[i].addr, request.sges[i].length, request.sges[i].lkey});
    const auto advice = static_cast<hca::MrAdvice>(std::min<uint32_t>(request.advice, 255));
    return context->hca->advise_mr(call.by(*context), pd->pd, advice, ranges);
}

int alloc_dm(Call& call, const protocol::AllocDmRequest& request, protocol::HandleReply& reply) {
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    const hca::DmSpec spec{call.client.space, request.addr, request.length, request.log_align_req};
    const auto dm = context->hca->alloc_dm(call.by(*context), spec);
    if (!dm.ok()) return dm.error;
    reply.handle = call.client.dms.add({request.context, dm.value});
    return reply.handle == 0 ? ENOMEM : 0;
}

int free_dm(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const DmObject* dm = call.client.dms.find(request.handle);
    ContextObject* context = dm == nullptr ? nullptr : call.context(dm->context);
    if (context == nullptr) return EINVAL;
    call.lab.mover().settle_all(call.client.space);
    const int error = context->hca->free_dm(call.by(*context), dm->dm);
    if (error == 0) call.client.dms.remove(request.handle);
    return error;
}

int reg_dm_mr(Call& call, const protocol::RegDmMrRequest& request, protocol::RegMrReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    const DmObject* dm = call.client.dms.find(request.dm);
    if (context == nullptr || pd == nullptr || dm == nullptr || dm->context != request.context) return EINVAL;
    const auto keys =
        context->hca->reg_dm_mr(call.by(*context), {pd->pd, dm->dm, request.offset, request.length, request.access});
    if (!keys.ok()) return keys.error;
    MrObject mr;
    mr.context = request.context;
    mr.mr = keys.value.handle;
    mr.length = request.length;
    mr.access = request.access;
    mr.pd = request.pd;
    return keep_mr(call, std::move(mr), keys.value, reply);
}

}  // namespace simverbs::server
