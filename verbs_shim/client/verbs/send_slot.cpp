#include "verbs_shim/client/verbs/send_slot.hpp"

#include <cerrno>
#include <new>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/verbs/doorbell.hpp"

namespace simverbs::client::verbs {

protocol::SendSlot* claim_send_slot(Qp& qp, uint32_t taken) noexcept {
    const uint32_t head = qp.sq_posted + taken;
    if (head - qp.sq_retired.load(std::memory_order_acquire) >= qp.max_send_wr) return nullptr;
    return new (qp.sq.slot(head)) protocol::SendSlot{};
}

void publish_sends(Qp& qp, uint32_t count) {
    if (count == 0) return;
    qp.sq_posted += count;
    qp.sq.header->produced.store(qp.sq_posted, std::memory_order_release);
    ring_doorbell(*qp.context(), qp.qp()->handle, protocol::DoorbellKind::Send, count);
    connection::count(protocol::Stat::PostSend);
    connection::count(protocol::Stat::PostSendWr, count);
}

int fill_bind(protocol::SendSlot& slot, const ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info& info) noexcept {
    if (mw == nullptr) return EINVAL;
    slot.mw_handle = mw->handle;
    slot.mw_rkey = rkey;
    slot.mw_mr_handle = info.mr == nullptr ? 0 : info.mr->handle;
    slot.mw_access = info.mw_access_flags;
    slot.remote_addr = info.addr;
    slot.compare_add = info.length;
    return 0;
}

}  // namespace simverbs::client::verbs
