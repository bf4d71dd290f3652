#include "verbs_shim/client/verbs/srq.hpp"

#include <algorithm>

#include "verbs_shim/client/verbs/acknowledged.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/huge_pages.hpp"
#include "verbs_shim/protocol/enum_value.hpp"

namespace simverbs::client::verbs {

namespace {

Srq* make_srq(ibv_context* context, ibv_pd* pd, void* srq_context, const protocol::CreateSrqReply& reply) {
    auto* const srq = make_object<Srq>();
    if (srq == nullptr) return nullptr;
    if (!attach_ring(reply.ring, srq->ring) || srq->ring.header == nullptr ||
        srq->ring.stride < sizeof(protocol::RecvSlot)) {
        free_object(srq);
        return nullptr;
    }
    srq->ibv.context = context;
    srq->ibv.srq_context = srq_context;
    srq->ibv.pd = pd;
    srq->ibv.handle = reply.handle;
    pthread_mutex_init(&srq->ibv.mutex, nullptr);
    pthread_cond_init(&srq->ibv.cond, nullptr);
    const auto room = static_cast<uint32_t>(srq->ring.stride - sizeof(protocol::RecvSlot));
    srq->max_wr = std::min(reply.attr.max_wr, srq->ring.mask + 1);
    srq->max_sge = std::min<uint32_t>(reply.attr.max_sge, room / sizeof(protocol::WireSge));
    srq->srq_num = reply.srq_num;
    to_context(context)->srqs.insert(reply.handle, srq);
    return srq;
}

Srq* create(ibv_context* context, ibv_pd* pd, const protocol::CreateSrqRequest& request, void* srq_context,
            ibv_srq_attr& attr, int& error) {
    error = check_allocation_type("MLX_SRQ_ALLOC_TYPE", to_context(context)->info->vendor_id);
    if (error != 0) return nullptr;
    protocol::CreateSrqReply reply;
    error = control(request, reply);
    if (error != 0) return nullptr;
    Srq* const srq = make_srq(context, pd, srq_context, reply);
    if (srq == nullptr) {
        destroy_object(protocol::Op::DestroySrq, context, reply.handle);
        error = ENOMEM;
        return nullptr;
    }
    attr = reply.attr;
    return srq;
}

protocol::CreateSrqRequest creation(ibv_context* context, ibv_pd* pd, const ibv_srq_attr& attr) {
    auto r = connection::make_request<protocol::CreateSrqRequest>(protocol::Op::CreateSrq);
    r.context = to_context(context)->handle;
    r.pd = pd->handle;
    r.srq_type = IBV_SRQT_BASIC;
    r.attr = attr;
    return r;
}

int check_extended(const ibv_srq_init_attr_ex& attr) {
    if ((attr.comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0) {
        return explain(EINVAL,
                       "ibv_create_srq_ex: comp_mask lacks IBV_SRQ_INIT_ATTR_PD; an SRQ needs a protection domain.");
    }
    if ((attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0) return 0;
    const uint32_t type = protocol::enum_value(attr.srq_type);
    if (type != IBV_SRQT_BASIC && type != IBV_SRQT_XRC) {
        return explain(EOPNOTSUPP, "ibv_create_srq_ex: this device has no tag matching (srq_type IBV_SRQT_TM).");
    }
    return 0;
}

}  // namespace

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
    return call_for_object(pd->context, [&](int& error) -> ibv_srq* {
        const auto request = creation(pd->context, pd, attr->attr);
        Srq* const srq = create(pd->context, pd, request, attr->srq_context, attr->attr, error);
        return srq == nullptr ? nullptr : &srq->ibv;
    });
}

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr) {
    return call_for_object(context, [&](int& error) -> ibv_srq* {
        error = check_extended(*attr);
        if (error != 0) return nullptr;
        auto request = creation(context, attr->pd, attr->attr);
        if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0) request.srq_type = attr->srq_type;
        if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) != 0) request.cq = attr->cq->handle;
        if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) != 0) {
            request.xrcd = reinterpret_cast<Xrcd*>(attr->xrcd)->handle;
        }
        Srq* const srq = create(context, attr->pd, request, attr->srq_context, attr->attr, error);
        return srq == nullptr ? nullptr : &srq->ibv;
    });
}

int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
    return call(srq->context, [&] {
        auto request = connection::make_request<protocol::ModifySrqRequest>(protocol::Op::ModifySrq);
        request.context = to_context(srq->context)->handle;
        request.handle = srq->handle;
        request.mask = static_cast<uint32_t>(mask);
        request.attr = *attr;
        protocol::ReplyHeader reply;
        if (const int error = control(request, reply)) return error;
        if ((mask & IBV_SRQ_MAX_WR) != 0) to_srq(srq)->max_wr = std::min(attr->max_wr, to_srq(srq)->ring.mask + 1);
        return 0;
    });
}

int query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
    return call(srq->context, [&] {
        protocol::QuerySrqReply reply;
        const auto request = object_request(protocol::Op::QuerySrq, srq->context, srq->handle);
        if (const int error = control(request, reply)) return error;
        *attr = reply.attr;
        return 0;
    });
}

int get_srq_num(ibv_srq* srq, uint32_t* srq_num) {
    return call(srq->context, [&] {
        *srq_num = to_srq(srq)->srq_num;
        return 0;
    });
}

int destroy_srq(ibv_srq* srq) {
    Srq* const s = to_srq(srq);
    ibv_context* const context = srq->context;
    const int error = call(context, [&] {
        if (const int failed = destroy_object(protocol::Op::DestroySrq, context, srq->handle)) return failed;
        to_context(context)->srqs.erase(s);
        return 0;
    });
    if (error != 0) return error;
    wait_acknowledged(srq->mutex, srq->cond, srq->events_completed, s->async_handed_out);
    pthread_cond_destroy(&srq->cond);
    pthread_mutex_destroy(&srq->mutex);
    free_object(s);
    return 0;
}

}  // namespace simverbs::client::verbs
