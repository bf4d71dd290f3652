#include "verbs_shim/client/verbs/wq.hpp"

#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/qp.hpp"

namespace simverbs::client::verbs {

namespace {

template <typename T>
T* refuse(int error) {
    errno = error;
    return nullptr;
}

int post_receive(ibv_wq* wq, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return post_recv(to_wq(wq)->qp, wr, bad);
}

int move(ibv_qp* qp, ibv_qp_state to) {
    ibv_qp_attr attr{};
    attr.qp_state = to;
    attr.port_num = 1;
    return modify_qp(qp, &attr, IBV_QP_STATE | (to == IBV_QPS_INIT ? int{IBV_QP_PORT} : 0));
}

int enter(Wq& wq, ibv_wq_state to) {
    switch (to) {
        case IBV_WQS_RDY:
            if (const int error = move(wq.qp, IBV_QPS_INIT)) return error;
            return move(wq.qp, IBV_QPS_RTR);
        case IBV_WQS_RESET:
            return move(wq.qp, IBV_QPS_RESET);
        case IBV_WQS_ERR:
            return move(wq.qp, IBV_QPS_ERR);
        case IBV_WQS_UNKNOWN:
            break;
    }
    return EINVAL;
}

/// Transitions of a WQ: from RESET to RDY, from RDY to ERR, from any to RESET; none is one, too.
bool is_transition(ibv_wq_state from, ibv_wq_state to) {
    if (to == IBV_WQS_RESET || from == to) return true;
    return from == IBV_WQS_RESET ? to == IBV_WQS_RDY : from == IBV_WQS_RDY && to == IBV_WQS_ERR;
}

}  // namespace

ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attr) {
    if (attr->wq_type != IBV_WQT_RQ || attr->pd == nullptr || attr->cq == nullptr) {
        explain(EINVAL, "ibv_create_wq: a type IBV_WQT_RQ, a protection domain and a CQ are needed.");
        return refuse<ibv_wq>(EINVAL);
    }
    if ((attr->comp_mask & ~uint32_t{IBV_WQ_INIT_ATTR_FLAGS}) != 0 ||
        ((attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS) != 0 && attr->create_flags != 0)) {
        explain(EOPNOTSUPP, "ibv_create_wq: this device has none of the create_flags.");
        return refuse<ibv_wq>(EOPNOTSUPP);
    }
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = attr->cq;
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.cap.max_recv_wr = attr->max_wr;
    init.cap.max_recv_sge = attr->max_sge;
    ibv_qp* const qp = create_qp(attr->pd, &init);
    if (qp == nullptr) return nullptr;
    auto* const wq = make_object<Wq>();
    if (wq == nullptr) {
        (void)destroy_qp(qp);
        return refuse<ibv_wq>(ENOMEM);
    }
    wq->qp = qp;
    ibv_wq& w = wq->ibv;
    w.context = context;
    w.wq_context = attr->wq_context;
    w.pd = attr->pd;
    w.cq = attr->cq;
    w.wq_num = qp->qp_num;
    w.handle = qp->handle;
    w.state = IBV_WQS_RESET;
    w.wq_type = attr->wq_type;
    w.post_recv = post_receive;
    pthread_mutex_init(&w.mutex, nullptr);
    pthread_cond_init(&w.cond, nullptr);
    attr->max_wr = init.cap.max_recv_wr;
    attr->max_sge = init.cap.max_recv_sge;
    return &w;
}

int modify_wq(ibv_wq* wq, ibv_wq_attr* attr) {
    constexpr uint32_t kKnown = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
    if ((attr->attr_mask & ~kKnown) != 0)
        return explain(EOPNOTSUPP, "ibv_modify_wq: this device has none of the flags (attr_mask 0x%x).",
                       attr->attr_mask);
    if ((attr->attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0 && attr->curr_wq_state != wq->state)
        return explain(EINVAL, "ibv_modify_wq: curr_wq_state is %d, but the WQ is in state %d.",
                       static_cast<int>(attr->curr_wq_state), static_cast<int>(wq->state));
    if ((attr->attr_mask & IBV_WQ_ATTR_STATE) == 0) return 0;
    if (!is_transition(wq->state, attr->wq_state))
        return explain(EINVAL, "ibv_modify_wq: from state %d to %d; a WQ goes from RESET to RDY, from RDY to ERR.",
                       static_cast<int>(wq->state), static_cast<int>(attr->wq_state));
    if (wq->state != attr->wq_state)
        if (const int error = enter(*to_wq(wq), attr->wq_state)) return error;
    wq->state = attr->wq_state;
    return 0;
}

int destroy_wq(ibv_wq* wq) {
    if (to_wq(wq)->users != 0)
        return explain(EBUSY, "ibv_destroy_wq: an indirection table holds the WQ; destroy that first.");
    if (const int error = destroy_qp(to_wq(wq)->qp)) return error;
    free_object(to_wq(wq));
    return 0;
}

ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attr) {
    if (attr->comp_mask != 0 || attr->log_ind_tbl_size > 31 || (1U << attr->log_ind_tbl_size) > protocol::kMostQueues) {
        explain(EINVAL, "ibv_create_rwq_ind_table: comp_mask must be 0, and the table has at most %u entries.",
                protocol::kMostQueues);
        return refuse<ibv_rwq_ind_table>(EINVAL);
    }
    auto* const table = make_object<IndirectionTable>();
    if (table == nullptr) return refuse<ibv_rwq_ind_table>(ENOMEM);
    table->size = 1U << attr->log_ind_tbl_size;
    for (uint32_t i = 0; i < table->size; ++i) {
        table->queues[i] = to_wq(attr->ind_tbl[i]);
        ++table->queues[i]->users;
    }
    table->ibv.context = context;
    table->ibv.ind_tbl_handle = static_cast<int>(table->queues[0]->ibv.handle);
    table->ibv.ind_tbl_num = static_cast<int>(table->queues[0]->ibv.wq_num);
    return &table->ibv;
}

int destroy_rwq_ind_table(ibv_rwq_ind_table* t) {
    IndirectionTable* const table = to_table(t);
    if (table->users != 0)
        return explain(EBUSY, "ibv_destroy_rwq_ind_table: a QP spreads frames by it; destroy that first.");
    for (uint32_t i = 0; i < table->size; ++i) --table->queues[i]->users;
    free_object(table);
    return 0;
}

ibv_qp* create_rss_qp(ibv_context* context, ibv_qp_init_attr_ex* attr) {
    constexpr uint32_t kNeeded = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
    const ibv_rx_hash_conf& hash = attr->rx_hash_conf;
    const bool has_flags = (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr->create_flags != 0;
    if ((attr->comp_mask & kNeeded) != kNeeded || attr->qp_type != IBV_QPT_RAW_PACKET || attr->rwq_ind_tbl == nullptr) {
        explain(EINVAL,
                "ibv_create_qp_ex: an indirection table needs a raw packet QP, a protection domain and "
                "rx_hash_conf (comp_mask 0x%x).",
                attr->comp_mask);
        return refuse<ibv_qp>(EINVAL);
    }
    if (has_flags || hash.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ ||
        hash.rx_hash_key_len != sizeof Qp::hash_key || (hash.rx_hash_fields_mask & ~uint64_t{0xFF}) != 0) {
        explain(EOPNOTSUPP,
                "ibv_create_qp_ex: RSS here is Toeplitz with a key of 40 bytes over outer addresses and "
                "ports, without create_flags.");
        return refuse<ibv_qp>(EOPNOTSUPP);
    }
    IndirectionTable* const table = to_table(attr->rwq_ind_tbl);
    ibv_qp_init_attr init{};
    init.qp_context = attr->qp_context;
    init.send_cq = init.recv_cq = table->queues[0]->ibv.cq;  // nothing completes there
    init.qp_type = IBV_QPT_RAW_PACKET;
    ibv_qp* const qp = create_qp(attr->pd, &init);
    if (qp == nullptr) return nullptr;
    qp->send_cq = qp->recv_cq = nullptr;
    Qp& rss = *to_qp(qp);
    rss.table = table;
    rss.hash_fields = hash.rx_hash_fields_mask;
    std::memcpy(rss.hash_key, hash.rx_hash_key, sizeof rss.hash_key);
    ++table->users;
    (void)context;
    return qp;
}

}  // namespace simverbs::client::verbs
