#include "verbs_shim/client/verbs/cq.hpp"

#include "verbs_shim/client/verbs/acknowledged.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/huge_pages.hpp"

namespace simverbs::client::verbs {

namespace {

struct Wanted {
    uint32_t cqe;
    void* cq_context;
    ibv_comp_channel* channel;
    uint32_t comp_vector;
    uint32_t flags;
};

Cq* make_cq(ibv_context* context, const Wanted& wanted, const protocol::CreateCqReply& reply) {
    auto* const cq = make_object<Cq>();
    if (cq == nullptr) return nullptr;
    if (!attach_ring(reply.ring, cq->ring) || cq->ring.header == nullptr) {
        free_object(cq);
        return nullptr;
    }
    cq->ibv.context = context;
    cq->ibv.channel = wanted.channel;
    cq->ibv.cq_context = wanted.cq_context;
    cq->ibv.handle = reply.handle;
    cq->ibv.cqe = static_cast<int>(reply.cqe);
    cq->consumed = cq->ring.header->consumed.load(std::memory_order_relaxed);
    cq->single_threaded = (wanted.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
    pthread_mutex_init(&cq->ibv.mutex, nullptr);
    pthread_cond_init(&cq->ibv.cond, nullptr);
    fill_poll_api(cq->ibv);
    to_context(context)->cqs.insert(reply.handle, cq);
    if (wanted.channel != nullptr) {
        pthread_mutex_lock(&context->mutex);
        ++wanted.channel->refcnt;
        pthread_mutex_unlock(&context->mutex);
    }
    return cq;
}

Cq* create(ibv_context* context, const Wanted& wanted, int& error) {
    error = check_allocation_type("MLX_CQ_ALLOC_TYPE", to_context(context)->info->vendor_id);
    if (error != 0) return nullptr;
    auto request = connection::make_request<protocol::CreateCqRequest>(protocol::Op::CreateCq);
    request.context = to_context(context)->handle;
    request.cqe = wanted.cqe;
    request.channel = wanted.channel == nullptr ? 0 : reinterpret_cast<CompChannel*>(wanted.channel)->handle;
    request.comp_vector = wanted.comp_vector;
    request.flags = wanted.flags;
    protocol::CreateCqReply reply;
    error = control(request, reply);
    if (error != 0) return nullptr;
    Cq* const cq = make_cq(context, wanted, reply);
    if (cq == nullptr) {
        destroy_object(protocol::Op::DestroyCq, context, reply.handle);
        error = ENOMEM;
    }
    return cq;
}

/// As mlx5 says in cq_mod_caps.
constexpr uint16_t kMaxCqPeriod = 0xFFF;

int check_vector(ibv_context* context, int64_t comp_vector) {
    if (comp_vector >= 0 && comp_vector < context->num_comp_vectors) return 0;
    return explain(EINVAL, "ibv_create_cq: comp_vector is %lld, the context has num_comp_vectors %d (0 … %d).",
                   static_cast<long long>(comp_vector), context->num_comp_vectors, context->num_comp_vectors - 1);
}

int check_extended(const ibv_cq_init_attr_ex& attr) {
    constexpr uint64_t kWcFlags = IBV_CREATE_CQ_SUP_WC_FLAGS & ~static_cast<uint64_t>(IBV_WC_EX_WITH_TM_INFO);
    constexpr uint32_t kMask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    constexpr uint32_t kFlags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    if ((attr.wc_flags & ~kWcFlags) != 0) {
        return explain(EOPNOTSUPP,
                       "ibv_create_cq_ex: wc_flags 0x%llx asks for completion fields that this device lacks.",
                       static_cast<unsigned long long>(attr.wc_flags));
    }
    if ((attr.comp_mask & ~kMask) != 0) {
        return explain(EOPNOTSUPP, "ibv_create_cq_ex: comp_mask 0x%x; flags and a parent domain are supported.",
                       attr.comp_mask);
    }
    const bool has_parent = (attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0;
    if (has_parent &&
        (attr.parent_domain == nullptr || reinterpret_cast<Pd*>(attr.parent_domain)->protection == nullptr)) {
        return explain(EINVAL, "ibv_create_cq_ex: parent_domain is not one of ibv_alloc_parent_domain's.");
    }
    if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 && (attr.flags & ~kFlags) != 0) {
        return explain(EOPNOTSUPP, "ibv_create_cq_ex: flags 0x%x are not supported.", attr.flags);
    }
    return 0;
}

}  // namespace

ibv_cq* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
    return call_for_object(context, [&](int& error) -> ibv_cq* {
        error = check_vector(context, comp_vector);
        if (error == 0 && cqe < 1) {
            error = explain(EINVAL, "ibv_create_cq: cqe is %d, a CQ needs at least 1 entry.", cqe);
        }
        if (error != 0) return nullptr;
        const Wanted wanted{static_cast<uint32_t>(cqe), cq_context, channel, static_cast<uint32_t>(comp_vector), 0};
        Cq* const cq = create(context, wanted, error);
        return cq == nullptr ? nullptr : cq->cq();
    });
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
    return call_for_object(context, [&](int& error) -> ibv_cq_ex* {
        error = check_vector(context, attr->comp_vector);
        if (error == 0) error = check_extended(*attr);
        if (error == 0 && attr->cqe < 1) {
            error = explain(EINVAL, "ibv_create_cq_ex: cqe is 0, a CQ needs at least 1 entry.");
        }
        if (error != 0) return nullptr;
        const uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
        const Wanted wanted{attr->cqe, attr->cq_context, attr->channel, attr->comp_vector, flags};
        Cq* const cq = create(context, wanted, error);
        return cq == nullptr ? nullptr : &cq->ibv;
    });
}

/// Events may come as soon as without moderation: its numbers are upper bounds of a delay that this device never makes.
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
    return call(cq->context, [&] {
        if ((attr->attr_mask & ~static_cast<uint32_t>(IBV_CQ_ATTR_MODERATE)) != 0) return EINVAL;
        if ((attr->attr_mask & IBV_CQ_ATTR_MODERATE) == 0) return 0;
        if (attr->moderate.cq_period <= kMaxCqPeriod) return 0;
        return explain(EINVAL, "ibv_modify_cq: moderate.cq_period is %u us, cq_mod_caps.max_cq_period is %u.",
                       static_cast<unsigned>(attr->moderate.cq_period), static_cast<unsigned>(kMaxCqPeriod));
    });
}

int resize_cq(ibv_cq* ibv, int cqe) {
    return call(ibv->context, [&] {
        if (cqe < 1) return explain(EINVAL, "ibv_resize_cq: cqe is %d, a CQ needs at least 1 entry.", cqe);
        Cq& cq = *to_cq(ibv);
        auto request = connection::make_request<protocol::CreateCqRequest>(protocol::Op::ResizeCq);
        request.context = to_context(ibv->context)->handle;
        request.handle = ibv->handle;
        request.cqe = static_cast<uint32_t>(cqe);
        protocol::CreateCqReply reply;
        // The server moves what has not been polled into the new ring: nobody may poll meanwhile.
        const Guard guard(cq.lock);
        // The adapter changes the queue at the end of the command, not at its beginning.
        turn::charge(to_context(ibv->context)->info->control_ps);
        turn::checkpoint();
        cq.ring.header->consumed.store(cq.consumed, std::memory_order_release);
        if (const int error = control(request, reply)) return error;
        Ring ring;
        if (!attach_ring(reply.ring, ring) || ring.header == nullptr) return EIO;
        cq.ring = ring;
        cq.consumed = ring.header->consumed.load(std::memory_order_acquire);
        ibv->cqe = static_cast<int>(reply.cqe);
        return 0;
    });
}

int destroy_cq(ibv_cq* ibv) {
    Cq* const cq = to_cq(ibv);
    ibv_context* const context = ibv->context;
    const int error = call(context, [&] { return destroy_object(protocol::Op::DestroyCq, context, ibv->handle); });
    if (error != 0) return error;
    to_context(context)->cqs.erase(cq);
    wait_acknowledged(ibv->mutex, ibv->cond, ibv->comp_events_completed, cq->events_handed_out);
    wait_acknowledged(ibv->mutex, ibv->cond, ibv->async_events_completed, cq->async_handed_out);
    if (ibv->channel != nullptr) {
        pthread_mutex_lock(&context->mutex);
        --ibv->channel->refcnt;
        pthread_mutex_unlock(&context->mutex);
    }
    pthread_cond_destroy(&ibv->cond);
    pthread_mutex_destroy(&ibv->mutex);
    free_object(cq);
    return 0;
}

}  // namespace simverbs::client::verbs
