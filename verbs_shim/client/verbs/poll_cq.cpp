#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/cq_consume.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/doorbell.hpp"
#include "verbs_shim/client/verbs/forgotten.hpp"
#include "verbs_shim/client/verbs/hold_arming.hpp"
#include "verbs_shim/client/verbs/post_check.hpp"

namespace simverbs::client::verbs {

using protocol::CqSlot;

namespace {

void to_wc(const CqSlot& slot, ibv_wc& wc) {
    wc.wr_id = slot.wr_id;
    wc.status = static_cast<ibv_wc_status>(slot.status);
    wc.opcode = static_cast<ibv_wc_opcode>(slot.opcode);
    wc.vendor_err = slot.vendor_err;
    wc.byte_len = slot.byte_len;
    wc.imm_data = slot.imm_or_rkey;
    wc.qp_num = slot.qp_num;
    wc.src_qp = slot.src_qp;
    wc.wc_flags = slot.wc_flags;
    wc.pkey_index = slot.pkey_index;
    wc.slid = slot.slid;
    wc.sl = slot.sl;
    wc.dlid_path_bits = slot.dlid_path_bits;
}

int take(Cq& cq, int num_entries, ibv_wc* wc) {
    const Guard guard(cq.lock);
    int n = 0;
    while (n < num_entries) {
        const CqSlot* const slot = peek_completion(cq);
        if (slot == nullptr) break;
        to_wc(*slot, wc[n++]);
        take_completion(cq, *slot);
    }
    return_places(cq);
    return n;
}

}  // namespace

int poll_cq(ibv_cq* ibv, int num_entries, ibv_wc* wc) {
    Cq& cq = *to_cq(ibv);
    const turn::InShim in_shim;
    if (to_context(ibv->context)->epoch != connection::epoch()) return -EIO;
    if (num_entries <= 0) return 0;
    before_poll(cq);
    connection::count(protocol::Stat::PollCq);
    int n = take(cq, num_entries, wc);
    if (n == 0) {
        if (!on_empty_poll(cq)) return -EIO;
        n = take(cq, num_entries, wc);  // what a wait ended with
    }
    if (n == 0) {
        connection::count(protocol::Stat::PollCqEmpty);
        return 0;
    }
    cq.empty_polls = 0;
    turn::charge(to_context(ibv->context)->info->poll_cq_ps * n);
    connection::count(protocol::Stat::PollCqWc, static_cast<uint64_t>(n));
    return n;
}

int req_notify_cq(ibv_cq* ibv, int solicited_only) {
    Cq& cq = *to_cq(ibv);
    const turn::InShim in_shim;
    if (const int error = liveness(ibv->context)) return error;
    using protocol::DoorbellKind;
    {
        const Guard guard(cq.lock);
        return_places(cq);
    }
    if (cq.ring.header->aux.load(std::memory_order_relaxed) != 0) [[unlikely]]
        hold_arming(cq);
    ring_doorbell(*to_context(ibv->context), ibv->handle,
                  solicited_only != 0 ? DoorbellKind::ArmCqSolicited : DoorbellKind::ArmCq, 1);
    connection::count(protocol::Stat::ReqNotifyCq);
    return 0;
}

void forget_completions(Cq& cq, Qp& qp) {
    const Guard guard(cq.lock);
    if (cq.last_qp == &qp) cq.last_qp = nullptr;
    if (is_soft_roce(qp.context()->info->vendor_id)) return;
    const uint32_t produced = cq.ring.header->produced.load(std::memory_order_acquire);
    for (uint32_t i = cq.consumed; i != produced; ++i) {
        auto* const slot = reinterpret_cast<CqSlot*>(cq.ring.slot(i));
        if (slot->qp_num != qp.qp()->qp_num || slot->pad == kForgotten) continue;
        if (slot->is_send == 0 && slot->srq != 0) {
            if (Srq* const srq = to_context(cq.ibv.context)->srqs.find(slot->srq)) {
                srq->completed.fetch_add(1, std::memory_order_release);
            }
        }
        slot->pad = kForgotten;
    }
}

}  // namespace simverbs::client::verbs
