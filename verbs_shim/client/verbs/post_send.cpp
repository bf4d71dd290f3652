#include <algorithm>
#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/doorbell.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/post_check.hpp"
#include "verbs_shim/client/verbs/post_send.hpp"
#include "verbs_shim/client/verbs/send_slot.hpp"
#include "verbs_shim/protocol/enum_value.hpp"

namespace simverbs::client::verbs {

using protocol::enum_value;
using protocol::SendSlot;
using protocol::WireSge;

namespace {

int refuse_state(Qp& qp, uint32_t state) {
    return explain(EINVAL,
                   "ibv_post_send on QP 0x%06x: qp_state is %s, sends need RTS. Move the QP with ibv_modify_qp: INIT, "
                   "RTR (with the peer's address), RTS.",
                   qp.qp()->qp_num, name_of_state(state));
}

int refuse_opcode(Qp& qp, uint32_t opcode) {
    return explain(EINVAL, "ibv_post_send on QP 0x%06x: wr.opcode %u is not a work request that this device knows.",
                   qp.qp()->qp_num, opcode);
}

/// No provider library looks: the adapter itself finds that it cannot do it.
void warn_of_opcode(Qp& qp, const OpcodeRow& row) {
    explain(0,
            "ibv_post_send on QP 0x%06x: %s is not allowed on a %s QP; it will complete with IBV_WC_LOC_QP_OP_ERR. %s",
            qp.qp()->qp_num, row.name, name_of_type(qp.qp()->qp_type),
            row.rc ? "RC QPs have it." : "See the table of opcodes and QP types in ibv_post_send(3).");
}

int refuse_atomic(Qp& qp, const ibv_send_wr& wr) {
    return explain(EINVAL,
                   "ibv_post_send on QP 0x%06x: an atomic works on 8 aligned bytes; remote_addr is 0x%llx. (Soft-RoCE "
                   "refuses it here, other adapters complete it with IBV_WC_REM_INV_REQ_ERR.)",
                   qp.qp()->qp_num, static_cast<unsigned long long>(wr.wr.atomic.remote_addr));
}

int refuse_full(Qp& qp) {
    return explain(ENOMEM,
                   "ibv_post_send on QP 0x%06x: the send queue is full (cap.max_send_wr %u). Places become free when "
                   "the completion of a signalled work request is polled: poll the send CQ, signal some work requests, "
                   "or create the QP with a larger max_send_wr.",
                   qp.qp()->qp_num, qp.max_send_wr);
}

int refuse_sges(Qp& qp, int num_sge) {
    return explain(EINVAL, "ibv_post_send on QP 0x%06x: wr.num_sge is %d, the QP was created with cap.max_send_sge %u.",
                   qp.qp()->qp_num, num_sge, qp.max_send_sge);
}

int refuse_inline(Qp& qp, uint64_t bytes) {
    return explain(inline_too_long_errno(qp.context()->info->vendor_id),
                   "ibv_post_send on QP 0x%06x: IBV_SEND_INLINE with %llu bytes, the QP was created with "
                   "cap.max_inline_data %u. Send without IBV_SEND_INLINE or ask for more.",
                   qp.qp()->qp_num, static_cast<unsigned long long>(bytes), qp.max_inline);
}

/// Copies the payload behind the slot. Atomic and read requests have no payload to send.
int fill_inline(Qp& qp, SendSlot& slot, const ibv_send_wr& wr) {
    uint64_t total = 0;
    for (int i = 0; i < wr.num_sge; ++i) total += wr.sg_list[i].length;
    if (total > qp.max_inline) return refuse_inline(qp, total);
    uint8_t* out = inline_data_of(slot);
    for (int i = 0; i < wr.num_sge; ++i) {
        std::memcpy(out, reinterpret_cast<const void*>(wr.sg_list[i].addr), wr.sg_list[i].length);
        out += wr.sg_list[i].length;
    }
    slot.inline_bytes = static_cast<uint32_t>(total);
    return 0;
}

int fill_payload(Qp& qp, SendSlot& slot, const ibv_send_wr& wr, const OpcodeRow& row) {
    if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.max_send_sge) return refuse_sges(qp, wr.num_sge);
    if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
        const bool reads = row.opcode == IBV_WR_RDMA_READ || row.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                           row.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
        if (reads) {
            return explain(
                EINVAL,
                "ibv_post_send on QP 0x%06x: IBV_SEND_INLINE with %s. Its buffers receive the answer, there is "
                "nothing to copy: clear IBV_SEND_INLINE in send_flags.",
                qp.qp()->qp_num, row.name);
        }
        return fill_inline(qp, slot, wr);
    }
    WireSge* const sges = sges_of(slot);
    for (int i = 0; i < wr.num_sge; ++i) sges[i] = {wr.sg_list[i].addr, wr.sg_list[i].length, wr.sg_list[i].lkey};
    slot.num_sge = static_cast<uint32_t>(wr.num_sge);
    return 0;
}

int fill_destination(Qp& qp, SendSlot& slot, const ibv_send_wr& wr, bool is_allowed) {
    const ibv_qp_type type = qp.qp()->qp_type;
    // Of another operation the union holds something else.
    if (type == IBV_QPT_UD && is_allowed) {
        if (wr.wr.ud.ah == nullptr) {
            return explain(EINVAL, "ibv_post_send on UD QP 0x%06x: wr.ud.ah is null. Create one with ibv_create_ah.",
                           qp.qp()->qp_num);
        }
        slot.ah = wr.wr.ud.ah->handle;
        slot.remote_qpn = wr.wr.ud.remote_qpn;
        slot.remote_qkey = wr.wr.ud.remote_qkey;
    }
    if (type == IBV_QPT_XRC_SEND) slot.remote_srqn = wr.qp_type.xrc.remote_srqn;
    return 0;
}

int fill_operation(SendSlot& slot, const ibv_send_wr& wr) {
    switch (slot.opcode) {
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
        case IBV_WR_RDMA_READ:
        case IBV_WR_ATOMIC_WRITE:
            slot.remote_addr = wr.wr.rdma.remote_addr;
            slot.rkey = wr.wr.rdma.rkey;
            return 0;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            slot.remote_addr = wr.wr.atomic.remote_addr;
            slot.rkey = wr.wr.atomic.rkey;
            slot.compare_add = wr.wr.atomic.compare_add;
            slot.swap = wr.wr.atomic.swap;
            return 0;
        case IBV_WR_BIND_MW:
            return fill_bind(slot, wr.bind_mw.mw, wr.bind_mw.rkey, wr.bind_mw.bind_info);
        case IBV_WR_LOCAL_INV:
        case IBV_WR_SEND_WITH_INV:
            slot.imm_or_rkey = wr.invalidate_rkey;
            return 0;
        default:
            return 0;
    }
}

/// One work request into `slot`: 0 or an errno.
int fill_slot(Qp& qp, SendSlot& slot, const ibv_send_wr& wr, BindOf bind_of) {
    const uint32_t opcode = enum_value(wr.opcode);
    const OpcodeRow* const row = find_opcode(opcode);
    if (row == nullptr) return refuse_opcode(qp, opcode);
    const bool is_allowed = allows(*row, qp.qp()->qp_type);
    if (!is_allowed) warn_of_opcode(qp, *row);
    const bool is_atomic = opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (is_atomic && (wr.wr.atomic.remote_addr & 7U) != 0 && is_soft_roce(qp.context()->info->vendor_id))
        return refuse_atomic(qp, wr);
    if (opcode == IBV_WR_BIND_MW && wr.bind_mw.mw != nullptr &&
        (wr.bind_mw.mw->type == IBV_MW_TYPE_1) != (bind_of == BindOf::Type1)) {
        return explain(EINVAL, "ibv_post_send: IBV_WR_BIND_MW is for windows of type 2; use ibv_bind_mw for type 1.");
    }
    slot.wr_id = wr.wr_id;
    slot.opcode = opcode;
    slot.send_flags = wr.send_flags;
    slot.imm_or_rkey = wr.imm_data;
    if (const int error = fill_payload(qp, slot, wr, *row)) return error;
    if (const int error = fill_operation(slot, wr)) return error;
    return fill_destination(qp, slot, wr, is_allowed);
}

/// Soft-RoCE: requests that are refused for the QP's state lie in its queue all the same. The next doorbell takes them
/// along.
void keep_refused(Qp& qp, const ibv_send_wr* wr, BindOf bind_of) {
    for (; wr != nullptr; wr = wr->next) {
        SendSlot* const slot = claim_send_slot(qp, qp.sq_kept);
        if (slot == nullptr || fill_slot(qp, *slot, *wr, bind_of) != 0) return;
        ++qp.sq_kept;
    }
}

}  // namespace

int post_send(ibv_qp* ibv, ibv_send_wr* wr, ibv_send_wr** bad) {
    return post_list(ibv, wr, bad, BindOf::Type2);
}

int post_list(ibv_qp* ibv, ibv_send_wr* wr, ibv_send_wr** bad, BindOf bind_of) {
    Qp& qp = *to_qp(ibv);
    const turn::InShim in_shim;
    *bad = wr;
    if (const int error = liveness(ibv->context)) return error;
    if (qp.sq.header == nullptr) return EINVAL;
    const auto& cost = *qp.context()->info;
    int error = 0;
    uint32_t state = 0;
    {
        const Guard guard(qp.send_lock);
        state = qp.sq.header->state.load(std::memory_order_acquire);
        if (!takes_sends(state)) {
            error = EINVAL;
            if (is_soft_roce(cost.vendor_id)) {
                keep_refused(qp, wr, bind_of);
                *bad = nullptr;
            }
        } else {
            uint32_t count = qp.sq_kept;
            qp.sq_kept = 0;
            turn::charge(cost.post_send_ps);
            for (; wr != nullptr && error == 0; wr = wr->next) {
                SendSlot* const slot = claim_send_slot(qp, count);
                error = slot == nullptr ? ENOMEM : fill_slot(qp, *slot, *wr, bind_of);
                if (slot == nullptr) refuse_full(qp);
                if (error != 0) break;
                turn::charge(cost.post_wr_ps + cost.inline_byte_ps * slot->inline_bytes);
                slot->stamp_ps = turn::now_ps();
                ++count;
            }
            *bad = wr;
            publish_sends(qp, count);
        }
    }
    if (error != 0 && !takes_sends(state)) return refuse_state(qp, state);
    return error;
}

}  // namespace simverbs::client::verbs
