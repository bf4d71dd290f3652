#include "verbs_shim/client/verbs/qp.hpp"

#include <algorithm>
#include <cstring>

#include "verbs_shim/client/verbs/acknowledged.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/huge_pages.hpp"
#include "verbs_shim/client/verbs/post_check.hpp"
#include "verbs_shim/client/verbs/wq.hpp"
#include "verbs_shim/protocol/enum_value.hpp"

namespace simverbs::client::verbs {

namespace {

constexpr uint64_t kSendOps = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
                              IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                              IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                              IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |
                              IBV_QP_EX_WITH_ATOMIC_WRITE;

uint32_t handle_of(ibv_cq* cq) {
    return cq == nullptr ? 0 : cq->handle;
}

protocol::CreateQpRequest creation(ibv_context* context, const ibv_qp_init_attr_ex& attr) {
    auto r = connection::make_request<protocol::CreateQpRequest>(protocol::Op::CreateQp);
    r.context = to_context(context)->handle;
    r.pd = attr.pd == nullptr ? 0 : attr.pd->handle;
    r.send_cq = handle_of(attr.send_cq);
    r.recv_cq = handle_of(attr.recv_cq);
    r.srq = attr.srq == nullptr ? 0 : attr.srq->handle;
    r.qp_type = protocol::enum_value(attr.qp_type);
    r.sq_sig_all = attr.sq_sig_all != 0 ? 1 : 0;
    r.cap = attr.cap;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0) r.xrcd = reinterpret_cast<Xrcd*>(attr.xrcd)->handle;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0) {
        r.create_flags = attr.create_flags;
        r.source_qpn = attr.source_qpn;
    }
    return r;
}

/// What fits behind a slot's header, whatever the server says.
void take_limits(Qp& qp, const ibv_qp_cap& cap) {
    const auto room = [](const Ring& ring, size_t header) {
        return ring.header == nullptr ? 0U : static_cast<uint32_t>(ring.stride - header);
    };
    const uint32_t send_room = room(qp.sq, sizeof(protocol::SendSlot));
    const uint32_t recv_room = room(qp.rq, sizeof(protocol::RecvSlot));
    qp.max_send_wr = qp.sq.header == nullptr ? 0 : std::min(cap.max_send_wr, qp.sq.mask + 1);
    qp.max_recv_wr = qp.rq.header == nullptr ? 0 : std::min(cap.max_recv_wr, qp.rq.mask + 1);
    qp.max_send_sge = std::min<uint32_t>(cap.max_send_sge, send_room / sizeof(protocol::WireSge));
    qp.max_recv_sge = std::min<uint32_t>(cap.max_recv_sge, recv_room / sizeof(protocol::WireSge));
    qp.max_inline = std::min(cap.max_inline_data, send_room);
}

bool rings_fit(const protocol::CreateQpReply& reply, Qp& qp) {
    if (!attach_ring(reply.sq, qp.sq) || !attach_ring(reply.rq, qp.rq)) return false;
    const bool send_ok = qp.sq.header == nullptr || qp.sq.stride >= sizeof(protocol::SendSlot) + 16;
    const bool recv_ok = qp.rq.header == nullptr || qp.rq.stride >= sizeof(protocol::RecvSlot);
    return send_ok && recv_ok;
}

Qp* make_qp(ibv_context* context, const ibv_qp_init_attr_ex& attr, const protocol::CreateQpReply& reply) {
    auto* const qp = make_object<Qp>();
    if (qp == nullptr) return nullptr;
    if (!rings_fit(reply, *qp)) {
        free_object(qp);
        return nullptr;
    }
    ibv_qp& base = *qp->qp();
    base.context = context;
    base.qp_context = attr.qp_context;
    base.pd = attr.pd;
    base.send_cq = attr.send_cq;
    base.recv_cq = attr.recv_cq;
    base.srq = attr.srq;
    base.handle = reply.handle;
    base.qp_num = reply.qp_num;
    base.state = IBV_QPS_RESET;
    base.qp_type = attr.qp_type;
    pthread_mutex_init(&base.mutex, nullptr);
    pthread_cond_init(&base.cond, nullptr);
    take_limits(*qp, reply.cap);
    qp->sq_sig_all = attr.sq_sig_all != 0;
    qp->has_wr_api = (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    qp->send_ops = qp->has_wr_api ? attr.send_ops_flags : 0;
    fill_wr_api(qp->ibv);
    to_context(context)->qps.insert(reply.qp_num, qp);
    return qp;
}

int check_extended(const ibv_qp_init_attr_ex& attr) {
    constexpr uint32_t kMask =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    if ((attr.comp_mask & ~kMask) != 0) {
        return explain(EOPNOTSUPP, "ibv_create_qp_ex: comp_mask 0x%x asks for TSO, which this device lacks.",
                       attr.comp_mask);
    }
    const bool wants_ops = (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (wants_ops && (attr.send_ops_flags & ~kSendOps) != 0) {
        return explain(EOPNOTSUPP,
                       "ibv_create_qp_ex: send_ops_flags 0x%llx has operations that this device lacks (0x%llx).",
                       static_cast<unsigned long long>(attr.send_ops_flags),
                       static_cast<unsigned long long>(attr.send_ops_flags & ~kSendOps));
    }
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 && protocol::enum_value(attr.qp_type) != IBV_QPT_XRC_RECV) {
        return explain(EINVAL,
                       "ibv_create_qp_ex: comp_mask lacks IBV_QP_INIT_ATTR_PD; a %s QP needs a protection domain.",
                       name_of_type(protocol::enum_value(attr.qp_type)));
    }
    return 0;
}

Qp* create(ibv_context* context, ibv_qp_init_attr_ex& attr, int& error) {
    error = check_allocation_type("MLX_QP_ALLOC_TYPE", to_context(context)->info->vendor_id);
    if (error != 0) return nullptr;
    const auto request = creation(context, attr);
    protocol::CreateQpReply reply;
    error = control(request, reply);
    if (error != 0) return nullptr;
    Qp* const qp = make_qp(context, attr, reply);
    if (qp == nullptr) {
        destroy_object(protocol::Op::DestroyQp, context, reply.handle);
        error = ENOMEM;
        return nullptr;
    }
    attr.cap = reply.cap;
    return qp;
}

ibv_qp_init_attr_ex extended(ibv_pd* pd, const ibv_qp_init_attr& attr) {
    ibv_qp_init_attr_ex e{};
    e.qp_context = attr.qp_context;
    e.send_cq = attr.send_cq;
    e.recv_cq = attr.recv_cq;
    e.srq = attr.srq;
    e.cap = attr.cap;
    std::memcpy(&e.qp_type, &attr.qp_type, sizeof e.qp_type);  // any number: the server refuses what it does not know
    e.sq_sig_all = attr.sq_sig_all;
    e.comp_mask = IBV_QP_INIT_ATTR_PD;
    e.pd = pd;
    return e;
}

/// The QP is empty: nothing that was posted before will complete.
void forget_work(Qp& qp) {
    if (qp.qp()->send_cq != nullptr) forget_completions(*to_cq(qp.qp()->send_cq), qp);
    if (qp.qp()->recv_cq != nullptr) forget_completions(*to_cq(qp.qp()->recv_cq), qp);
    qp.sq_kept = 0;
    qp.sq_retired.store(qp.sq_posted, std::memory_order_release);
    qp.rq_retired.store(qp.rq_posted, std::memory_order_release);
}

int change_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid, protocol::Op op) {
    return call(qp->context, [&] {
        auto request = connection::make_request<protocol::McastRequest>(op);
        request.context = to_context(qp->context)->handle;
        request.qp = qp->handle;
        request.gid = *gid;
        request.lid = lid;
        protocol::ReplyHeader reply;
        return control(request, reply);
    });
}

}  // namespace

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
    return call_for_object(pd->context, [&](int& error) -> ibv_qp* {
        ibv_qp_init_attr_ex e = extended(pd, *attr);
        Qp* const qp = create(pd->context, e, error);
        if (qp == nullptr) return nullptr;
        attr->cap = e.cap;
        return qp->qp();
    });
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
    if ((attr->comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)) != 0)
        return create_rss_qp(context, attr);
    return call_for_object(context, [&](int& error) -> ibv_qp* {
        error = check_extended(*attr);
        if (error != 0) return nullptr;
        // Callers with older headers pass a shorter struct: fields beyond what comp_mask names are not touched.
        ibv_qp_init_attr_ex e = extended((attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? attr->pd : nullptr,
                                         *reinterpret_cast<ibv_qp_init_attr*>(attr));
        e.comp_mask = attr->comp_mask;
        if ((attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0) e.xrcd = attr->xrcd;
        if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0) {
            e.create_flags = attr->create_flags;
            if ((e.create_flags & IBV_QP_CREATE_SOURCE_QPN) != 0) e.source_qpn = attr->source_qpn;
        }
        if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) e.send_ops_flags = attr->send_ops_flags;
        Qp* const qp = create(context, e, error);
        if (qp == nullptr) return nullptr;
        attr->cap = e.cap;
        return qp->qp();
    });
}

ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
    return call_for_object(context, [&](int& error) -> ibv_qp* {
        constexpr uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
        if ((attr->comp_mask & kNeeded) != kNeeded || protocol::enum_value(attr->qp_type) != IBV_QPT_XRC_RECV) {
            error = explain(EINVAL,
                            "ibv_open_qp: comp_mask 0x%x; number, XRC domain and type are needed, and the type "
                            "is IBV_QPT_XRC_RECV.",
                            attr->comp_mask);
            return nullptr;
        }
        auto request = connection::make_request<protocol::OpenQpRequest>(protocol::Op::OpenQp);
        request.context = to_context(context)->handle;
        request.xrcd = reinterpret_cast<Xrcd*>(attr->xrcd)->handle;
        request.qp_num = attr->qp_num;
        protocol::OpenQpReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        ibv_qp_init_attr_ex init{};
        init.qp_type = IBV_QPT_XRC_RECV;
        if ((attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0) init.qp_context = attr->qp_context;
        protocol::CreateQpReply made;
        made.handle = reply.handle;
        made.qp_num = attr->qp_num;
        Qp* const qp = make_qp(context, init, made);
        if (qp != nullptr) return qp->qp();
        destroy_object(protocol::Op::DestroyQp, context, reply.handle);
        error = ENOMEM;
        return nullptr;
    });
}

namespace {

/// Enhanced connection establishment is the vendor's: of Mellanox adapters, and here without any option.
constexpr uint32_t kMellanox = 0x15b3;
constexpr uint32_t kMellanoxOui = 0x02c9;

bool has_ece(ibv_qp* qp) {
    return to_qp(qp)->context()->info->vendor_id == kMellanoxOui;
}

}  // namespace

int set_ece(ibv_qp* qp, const ibv_ece& ece) {
    if (ece.vendor_id == 0 || !has_ece(qp)) return EOPNOTSUPP;
    if (ece.comp_mask != 0 || ece.vendor_id != kMellanox) return EINVAL;
    to_qp(qp)->ece_options = ece.options;
    return 0;
}

int query_ece(ibv_qp* qp, ibv_ece& ece) {
    ece = ibv_ece{};
    if (!has_ece(qp)) return EOPNOTSUPP;
    ece.vendor_id = kMellanox;
    return 0;
}

int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    return call(qp->context, [&] {
        auto request = connection::make_request<protocol::ModifyQpRequest>(protocol::Op::ModifyQp);
        request.context = to_context(qp->context)->handle;
        request.handle = qp->handle;
        request.mask = static_cast<uint32_t>(mask);
        request.attr = *attr;
        protocol::ReplyHeader reply;
        if (const int error = control(request, reply)) return error;
        if ((mask & IBV_QP_STATE) == 0) return 0;
        qp->state = attr->qp_state;
        if (attr->qp_state == IBV_QPS_RESET) forget_work(*to_qp(qp));
        return 0;
    });
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
    return call(qp->context, [&] {
        protocol::QueryQpReply reply;
        const auto request = object_request(protocol::Op::QueryQp, qp->context, qp->handle);
        if (const int error = control(request, reply)) return error;
        *attr = reply.attr;
        qp->state = attr->qp_state;
        if (init == nullptr) return 0;
        *init = ibv_qp_init_attr{};
        init->qp_context = qp->qp_context;
        init->send_cq = qp->send_cq;
        init->recv_cq = qp->recv_cq;
        init->srq = qp->srq;
        init->qp_type = qp->qp_type;
        init->cap = reply.cap;
        init->sq_sig_all = reply.sq_sig_all != 0 ? 1 : 0;
        return 0;
    });
}

int destroy_qp(ibv_qp* qp) {
    Qp* const q = to_qp(qp);
    ibv_context* const context = qp->context;
    const int error = call(context, [&] {
        if (const int failed = destroy_object(protocol::Op::DestroyQp, context, qp->handle)) return failed;
        to_context(context)->qps.erase(q);
        forget_work(*q);
        return 0;
    });
    if (error != 0) return error;
    if (q->table != nullptr) --q->table->users;
    wait_acknowledged(qp->mutex, qp->cond, qp->events_completed, q->async_handed_out);
    pthread_cond_destroy(&qp->cond);
    pthread_mutex_destroy(&qp->mutex);
    free_object(q);
    return 0;
}

ibv_qp_ex* qp_to_qp_ex(ibv_qp* qp) {
    return to_qp(qp)->has_wr_api ? &to_qp(qp)->ibv : nullptr;
}

int attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
    return change_mcast(qp, gid, lid, protocol::Op::AttachMcast);
}

int detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
    return change_mcast(qp, gid, lid, protocol::Op::DetachMcast);
}

}  // namespace simverbs::client::verbs
