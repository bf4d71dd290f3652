// ibv_wr_start … ibv_wr_complete: work requests built directly in the send queue. An error inside a batch is kept and
// fails the whole batch at ibv_wr_complete; nothing of it becomes visible then.
#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/post_check.hpp"
#include "verbs_shim/client/verbs/send_slot.hpp"

namespace simverbs::client::verbs {

using protocol::SendSlot;

namespace {

void fail(Qp& qp, int error) {
    if (qp.batch.error == 0) qp.batch.error = error;
    qp.batch.current = nullptr;
}

void check_state(Qp& qp) {
    if (qp.sq.header == nullptr) return fail(qp, EINVAL);
    const uint32_t state = qp.sq.header->state.load(std::memory_order_acquire);
    if (takes_sends(state)) return;
    fail(qp, explain(EINVAL,
                     "ibv_wr_start on QP 0x%06x: qp_state is %s, sends need RTS. Move the QP with ibv_modify_qp: INIT, "
                     "RTR (with the peer's address), RTS.",
                     qp.qp()->qp_num, name_of_state(state)));
}

void wr_start(ibv_qp_ex* ex) {
    Qp& qp = *to_qp(ex);
    const turn::InShim in_shim;
    if (const int error = liveness(qp.qp()->context)) {
        qp.batch = WrBatch{};
        return fail(qp, error);
    }
    qp.send_lock.lock();
    qp.batch = WrBatch{};
    qp.batch.locked = true;
    qp.sq_kept = 0;
    turn::charge(qp.context()->info->post_send_ps);
    check_state(qp);
}

void end_batch(Qp& qp) {
    const bool locked = qp.batch.locked;
    qp.batch = WrBatch{};
    if (locked) qp.send_lock.unlock();
}

int wr_complete(ibv_qp_ex* ex) {
    Qp& qp = *to_qp(ex);
    const turn::InShim in_shim;
    const int error = qp.batch.error;
    if (error == 0) publish_sends(qp, qp.batch.count);
    end_batch(qp);
    return error;
}

void wr_abort(ibv_qp_ex* ex) {
    const turn::InShim in_shim;
    end_batch(*to_qp(ex));
}

/// Begins the next WQE; null (and an error kept) if it cannot be.
SendSlot* begin(ibv_qp_ex* ex, ibv_wr_opcode opcode, uint64_t needed_op) {
    Qp& qp = *to_qp(ex);
    if (qp.batch.error != 0) return nullptr;
    const OpcodeRow& row = *find_opcode(opcode);
    if (!allows(row, qp.qp()->qp_type) || (qp.send_ops & needed_op) == 0) {
        fail(qp, explain(EINVAL, "ibv_wr_* on QP 0x%06x: %s %s.", qp.qp()->qp_num, row.name,
                         allows(row, qp.qp()->qp_type) ? "was not asked for in send_ops_flags when the QP was created"
                                                       : "is not allowed on this type of QP"));
        return nullptr;
    }
    SendSlot* const slot = claim_send_slot(qp, qp.batch.count);
    if (slot == nullptr) {
        fail(qp, explain(ENOMEM,
                         "ibv_wr_* on QP 0x%06x: the send queue is full (cap.max_send_wr %u). Places become free when "
                         "the completion of a signalled work request is polled.",
                         qp.qp()->qp_num, qp.max_send_wr));
        return nullptr;
    }
    turn::charge(qp.context()->info->post_wr_ps);
    slot->wr_id = ex->wr_id;
    slot->send_flags = ex->wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
    slot->opcode = opcode;
    slot->stamp_ps = turn::now_ps();
    ++qp.batch.count;
    qp.batch.current = slot;
    return slot;
}

void wr_atomic_cmp_swp(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap) {
    SendSlot* const slot = begin(ex, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
    if (slot == nullptr) return;
    slot->rkey = rkey;
    slot->remote_addr = remote_addr;
    slot->compare_add = compare;
    slot->swap = swap;
}

void wr_atomic_fetch_add(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr, uint64_t add) {
    SendSlot* const slot = begin(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
    if (slot == nullptr) return;
    slot->rkey = rkey;
    slot->remote_addr = remote_addr;
    slot->compare_add = add;
}

void wr_bind_mw(ibv_qp_ex* ex, ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info* info) {
    SendSlot* const slot = begin(ex, IBV_WR_BIND_MW, IBV_QP_EX_WITH_BIND_MW);
    if (slot == nullptr) return;
    if (const int error = fill_bind(*slot, mw, rkey, *info)) fail(*to_qp(ex), error);
}

void wr_local_inv(ibv_qp_ex* ex, uint32_t rkey) {
    if (SendSlot* const slot = begin(ex, IBV_WR_LOCAL_INV, IBV_QP_EX_WITH_LOCAL_INV)) slot->imm_or_rkey = rkey;
}

void set_remote(SendSlot* slot, uint32_t rkey, uint64_t remote_addr) {
    if (slot == nullptr) return;
    slot->rkey = rkey;
    slot->remote_addr = remote_addr;
}

void wr_rdma_read(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr) {
    set_remote(begin(ex, IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ), rkey, remote_addr);
}

void wr_rdma_write(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr) {
    set_remote(begin(ex, IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE), rkey, remote_addr);
}

void wr_rdma_write_imm(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr, __be32 imm_data) {
    SendSlot* const slot = begin(ex, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
    set_remote(slot, rkey, remote_addr);
    if (slot != nullptr) slot->imm_or_rkey = imm_data;
}

void wr_send(ibv_qp_ex* ex) {
    begin(ex, IBV_WR_SEND, IBV_QP_EX_WITH_SEND);
}

void wr_send_imm(ibv_qp_ex* ex, __be32 imm_data) {
    SendSlot* const slot = begin(ex, IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM);
    if (slot != nullptr) slot->imm_or_rkey = imm_data;
}

void wr_send_inv(ibv_qp_ex* ex, uint32_t rkey) {
    SendSlot* const slot = begin(ex, IBV_WR_SEND_WITH_INV, IBV_QP_EX_WITH_SEND_WITH_INV);
    if (slot != nullptr) slot->imm_or_rkey = rkey;
}

void wr_send_tso(ibv_qp_ex* ex, void*, uint16_t, uint16_t) {
    fail(*to_qp(ex), explain(EOPNOTSUPP, "ibv_wr_send_tso: this device has no TSO."));
}

void wr_set_ud_addr(ibv_qp_ex* ex, ibv_ah* ah, uint32_t remote_qpn, uint32_t remote_qkey) {
    SendSlot* const slot = to_qp(ex)->batch.current;
    if (slot == nullptr) return;
    if (ah == nullptr) return fail(*to_qp(ex), EINVAL);
    slot->ah = ah->handle;
    slot->remote_qpn = remote_qpn;
    slot->remote_qkey = remote_qkey;
}

void wr_set_xrc_srqn(ibv_qp_ex* ex, uint32_t remote_srqn) {
    if (SendSlot* const slot = to_qp(ex)->batch.current) slot->remote_srqn = remote_srqn;
}

void set_inline(Qp& qp, size_t num_buf, const ibv_data_buf* buffers) {
    SendSlot* const slot = qp.batch.current;
    if (slot == nullptr) return;
    uint64_t total = 0;
    for (size_t i = 0; i < num_buf; ++i) total += buffers[i].length;
    if (total > qp.max_inline) {
        return fail(qp, explain(inline_too_long_errno(qp.context()->info->vendor_id),
                                "ibv_wr_set_inline_data on QP 0x%06x: %llu bytes, the QP was created with "
                                "cap.max_inline_data %u.",
                                qp.qp()->qp_num, static_cast<unsigned long long>(total), qp.max_inline));
    }
    uint8_t* out = inline_data_of(*slot);
    for (size_t i = 0; i < num_buf; ++i) {
        std::memcpy(out, buffers[i].addr, buffers[i].length);
        out += buffers[i].length;
    }
    slot->inline_bytes = static_cast<uint32_t>(total);
    slot->num_sge = 0;
    slot->send_flags |= IBV_SEND_INLINE;
    turn::charge(qp.context()->info->inline_byte_ps * static_cast<int64_t>(total));
    slot->stamp_ps = turn::now_ps();
}

void wr_set_inline_data(ibv_qp_ex* ex, void* addr, size_t length) {
    const turn::InShim in_shim;
    const ibv_data_buf buffer{addr, length};
    set_inline(*to_qp(ex), 1, &buffer);
}

void wr_set_inline_data_list(ibv_qp_ex* ex, size_t num_buf, const ibv_data_buf* buffers) {
    const turn::InShim in_shim;
    set_inline(*to_qp(ex), num_buf, buffers);
}

void set_sges(Qp& qp, size_t num_sge, const ibv_sge* list) {
    SendSlot* const slot = qp.batch.current;
    if (slot == nullptr) return;
    if (num_sge > qp.max_send_sge) {
        return fail(qp, explain(EINVAL,
                                "ibv_wr_set_sge_list on QP 0x%06x: num_sge is %zu, the QP was created with "
                                "cap.max_send_sge %u.",
                                qp.qp()->qp_num, num_sge, qp.max_send_sge));
    }
    protocol::WireSge* const sges = sges_of(*slot);
    for (size_t i = 0; i < num_sge; ++i) sges[i] = {list[i].addr, list[i].length, list[i].lkey};
    slot->num_sge = static_cast<uint32_t>(num_sge);
}

void wr_set_sge(ibv_qp_ex* ex, uint32_t lkey, uint64_t addr, uint32_t length) {
    const ibv_sge sge{addr, length, lkey};
    set_sges(*to_qp(ex), 1, &sge);
}

void wr_set_sge_list(ibv_qp_ex* ex, size_t num_sge, const ibv_sge* list) {
    const turn::InShim in_shim;
    set_sges(*to_qp(ex), num_sge, list);
}

void wr_atomic_write(ibv_qp_ex* ex, uint32_t rkey, uint64_t remote_addr, const void* value) {
    const turn::InShim in_shim;
    SendSlot* const slot = begin(ex, IBV_WR_ATOMIC_WRITE, IBV_QP_EX_WITH_ATOMIC_WRITE);
    if (slot == nullptr) return;
    set_remote(slot, rkey, remote_addr);
    // The eight bytes travel in the WQE whatever max_inline_data is; a slot has room for one SGE, which is more.
    std::memcpy(inline_data_of(*slot), value, sizeof(uint64_t));
    slot->inline_bytes = sizeof(uint64_t);
    slot->send_flags |= IBV_SEND_INLINE;
}

}  // namespace

void fill_wr_api(ibv_qp_ex& qp) {
    qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
    qp.wr_bind_mw = wr_bind_mw;
    qp.wr_local_inv = wr_local_inv;
    qp.wr_rdma_read = wr_rdma_read;
    qp.wr_rdma_write = wr_rdma_write;
    qp.wr_rdma_write_imm = wr_rdma_write_imm;
    qp.wr_send = wr_send;
    qp.wr_send_imm = wr_send_imm;
    qp.wr_send_inv = wr_send_inv;
    qp.wr_send_tso = wr_send_tso;
    qp.wr_set_ud_addr = wr_set_ud_addr;
    qp.wr_set_xrc_srqn = wr_set_xrc_srqn;
    qp.wr_set_inline_data = wr_set_inline_data;
    qp.wr_set_inline_data_list = wr_set_inline_data_list;
    qp.wr_set_sge = wr_set_sge;
    qp.wr_set_sge_list = wr_set_sge_list;
    qp.wr_start = wr_start;
    qp.wr_complete = wr_complete;
    qp.wr_abort = wr_abort;
    qp.wr_atomic_write = wr_atomic_write;
}

}  // namespace simverbs::client::verbs
