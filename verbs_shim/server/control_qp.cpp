// Queue pairs and multicast.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/ibv_translate.hpp"

namespace simverbs::server {

namespace {

bool known_type(uint32_t qp_type) {
    switch (qp_type) {
        case IBV_QPT_RC:
        case IBV_QPT_UC:
        case IBV_QPT_UD:
        case IBV_QPT_RAW_PACKET:
        case IBV_QPT_XRC_SEND:
        case IBV_QPT_XRC_RECV:
            return true;
        default:
            return false;
    }
}

/// The objects that a new QP names, all of one context.
int resolve_parts(Call& call, const protocol::CreateQpRequest& request, hca::QpInitAttr& init) {
    init.type = static_cast<hca::QpType>(request.qp_type);
    init.cap = cap_from(request.cap);
    init.sq_sig_all = request.sq_sig_all != 0;
    init.memory = call.client.memory_node;
    const auto here = [&](const auto* object) { return object != nullptr && object->context == request.context; };
    if (init.type == hca::QpType::XrcRecv) {
        const XrcdObject* xrcd = call.client.xrcds.find(request.xrcd);
        if (!here(xrcd)) return EINVAL;
        init.xrcd = xrcd->xrcd;
        return 0;
    }
    const PdObject* pd = call.client.pds.find(request.pd);
    const CqObject* send_cq = call.client.cqs.find(request.send_cq);
    if (!here(pd) || !here(send_cq)) return EINVAL;
    init.pd = pd->pd;
    init.send_cq = send_cq->cq;
    if (init.type == hca::QpType::XrcSend) return 0;
    const CqObject* recv_cq = call.client.cqs.find(request.recv_cq);
    if (!here(recv_cq)) return EINVAL;
    init.recv_cq = recv_cq->cq;
    if (request.srq != 0) {
        const SrqObject* srq = call.client.srqs.find(request.srq);
        if (srq == nullptr || srq->context != request.context) return EINVAL;
        init.srq = srq->srq;
    }
    return 0;
}

/// Rings for what the HCA allocated. False if the arena is full.
bool make_rings(Client& client, QpObject& qp) {
    if (qp.type == hca::QpType::XrcRecv) return true;
    // A QP of no capabilities has a slot with room, too.
    const uint64_t payload = std::max({uint64_t{qp.cap.max_send_sge} * sizeof(protocol::WireSge),
                                       uint64_t{qp.cap.max_inline_data}, uint64_t{sizeof(protocol::WireSge)}});
    const auto sq = client.arena->allocate(qp.cap.max_send_wr, sizeof(protocol::SendSlot) + payload);
    if (!sq) return false;
    qp.sq = *sq;
    if (qp.srq != 0 || qp.type == hca::QpType::XrcSend) return true;
    const auto rq = client.arena->allocate(
        qp.cap.max_recv_wr, sizeof(protocol::RecvSlot) + uint64_t{qp.cap.max_recv_sge} * sizeof(protocol::WireSge));
    if (!rq) {
        client.arena->release(qp.sq);
        return false;
    }
    qp.rq = *rq;
    return true;
}

/// RESET forgets what the process has posted; from then on its ring and the HCA count from different places.
void rebase(const Ring& ring, uint32_t counted, uint32_t& taken, uint32_t& base) {
    if (!ring.valid()) return;
    taken = ring.header->produced.load(std::memory_order_acquire);
    base = taken - counted;
}

void set_state(const hca::Hca& hca, QpObject& qp, hca::QpState state, protocol::ProcessEntry& entry) {
    qp.state = state;
    if (qp.sq.valid()) qp.sq.header->state.store(static_cast<uint32_t>(state), std::memory_order_release);
    if (qp.rq.valid()) qp.rq.header->state.store(static_cast<uint32_t>(state), std::memory_order_release);
    if (state == hca::QpState::Reset) {
        const auto counts = hca.queue_counts(qp.qp_num);
        rebase(qp.sq, counts.sends, qp.sq_taken, qp.sq_base);
        rebase(qp.rq, counts.receives, qp.rq_taken, qp.rq_base);
    }
    if (state == hca::QpState::Rtr || state == hca::QpState::Rts) entry.exposed.store(1);
}

}  // namespace

uint32_t add_qp(Client& client, QpObject&& qp) {
    for (uint32_t handle = qp.qp_num; handle >= qp.qp_num; handle += 1U << 24) {
        if (client.qps.find(handle) != nullptr) continue;
        client.qps.add_as(handle, std::move(qp));
        return handle;
    }
    return 0;
}

int create_qp(Call& call, const protocol::CreateQpRequest& request, protocol::CreateQpReply& reply) {
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    // A datagram or a frame is never delivered to the QP that sent it, with the flag or without.
    const bool hears_groups = request.qp_type == IBV_QPT_UD || request.qp_type == IBV_QPT_RAW_PACKET;
    const uint32_t flags = hears_groups ? uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB} : 0U;
    if (!known_type(request.qp_type)) return EINVAL;
    if (request.qp_type == IBV_QPT_RAW_PACKET && !may_use_raw_packets(call.client.pid)) return EPERM;
    if ((request.create_flags & ~flags) != 0) return EOPNOTSUPP;
    hca::QpInitAttr init;
    if (const int error = resolve_parts(call, request, init); error != 0) return error;
    const auto created = context->hca->create_qp(call.by(*context), init);
    if (!created.ok()) return created.error;
    QpObject qp;
    qp.context = request.context;
    qp.qp_num = created.value.qp_num;
    qp.type = init.type;
    qp.pd = request.pd;
    qp.send_cq = request.send_cq;
    qp.recv_cq = request.recv_cq;
    qp.srq = request.srq;
    qp.sq_sig_all = init.sq_sig_all;
    qp.cap = created.value.cap;
    uint32_t handle = 0;
    if (make_rings(call.client, qp)) {
        if (qp.sq.valid()) reply.sq = qp.sq.ref();
        if (qp.rq.valid()) reply.rq = qp.rq.ref();
        handle = add_qp(call.client, std::move(qp));
    }
    if (handle == 0) {
        (void)context->hca->destroy_qp({context->owner, call.now, nullptr}, created.value.qp_num);
        return ENOMEM;
    }
    call.nic(*context).sink->qps[created.value.qp_num] = {&call.client, handle};
    reply.handle = handle;
    reply.qp_num = created.value.qp_num;
    reply.cap = cap_to(created.value.cap);
    return 0;
}

int modify_qp(Call& call, const protocol::ModifyQpRequest& request, protocol::ReplyHeader&) {
    QpObject* qp = call.client.qps.find(request.handle);
    ContextObject* context = qp == nullptr ? nullptr : call.context(qp->context);
    if (context == nullptr) return EINVAL;
    const hca::QpAttr attr = qp_attr_from(request.attr);
    if (const int error = context->hca->modify_qp(call.by(*context), qp->qp_num, attr, request.mask); error != 0)
        return error;
    if ((request.mask & hca::kState) != 0)
        set_state(*context->hca, *qp, attr.qp_state, call.lab.shared().processes[call.client.process]);
    return 0;
}

int query_qp(Call& call, const protocol::ObjectRequest& request, protocol::QueryQpReply& reply) {
    const QpObject* qp = call.client.qps.find(request.handle);
    ContextObject* context = qp == nullptr ? nullptr : call.context(qp->context);
    if (context == nullptr) return EINVAL;
    const auto query = context->hca->query_qp(call.by(*context), qp->qp_num);
    if (!query.ok()) return query.error;
    reply.attr = qp_attr_to(query.value.attr);
    reply.cap = cap_to(query.value.init.cap);
    reply.attr.cap = reply.cap;
    reply.sq_sig_all = query.value.init.sq_sig_all ? 1 : 0;
    return 0;
}

int destroy_qp(Call& call, const protocol::ObjectRequest& request, protocol::DestroyReply&) {
    QpObject* qp = call.client.qps.find(request.handle);
    ContextObject* context = qp == nullptr ? nullptr : call.context(qp->context);
    if (context == nullptr) return EINVAL;
    if (const int error = context->hca->destroy_qp(call.by(*context), qp->qp_num); error != 0) return error;
    auto& named = call.nic(*context).sink->qps;
    const auto it = named.find(qp->qp_num);
    if (it != named.end() && it->second.client == &call.client && it->second.handle == request.handle) named.erase(it);
    if (qp->sq.valid()) call.client.arena->release(qp->sq);
    if (qp->rq.valid()) call.client.arena->release(qp->rq);
    call.client.qps.remove(request.handle);
    return 0;
}

namespace {

int change_mcast(Call& call, const protocol::McastRequest& request, bool attach) {
    const QpObject* qp = call.client.qps.find(request.qp);
    ContextObject* context = qp == nullptr ? nullptr : call.context(qp->context);
    if (context == nullptr) return EINVAL;
    hca::Gid gid;
    std::memcpy(gid.data(), request.gid.raw, gid.size());
    const auto lid = static_cast<uint16_t>(request.lid);
    const auto by = call.by(*context);
    return attach ? context->hca->attach_mcast(by, qp->qp_num, gid, lid)
                  : context->hca->detach_mcast(by, qp->qp_num, gid, lid);
}

}  // namespace

int attach_mcast(Call& call, const protocol::McastRequest& request, protocol::ReplyHeader&) {
    return change_mcast(call, request, true);
}

int detach_mcast(Call& call, const protocol::McastRequest& request, protocol::ReplyHeader&) {
    return change_mcast(call, request, false);
}

}  // namespace simverbs::server
