// ibv_start_poll … ibv_end_poll: the completion is read in place, in the ring.
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/cq_consume.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"

namespace simverbs::client::verbs {

using protocol::CqSlot;

namespace {

/// Makes the next completion the current one. The lock is held.
bool advance(Cq& cq) {
    const CqSlot* const slot = peek_completion(cq);
    if (slot == nullptr) return false;
    cq.current = slot;
    cq.ibv.wr_id = slot->wr_id;
    cq.ibv.status = static_cast<ibv_wc_status>(slot->status);
    take_completion(cq, *slot);
    turn::charge(to_context(cq.ibv.context)->info->poll_cq_ps);
    connection::count(protocol::Stat::PollCqWc);
    return true;
}

bool begin(Cq& cq) {
    if (!cq.single_threaded) cq.lock.lock();
    if (advance(cq)) return true;  // end_poll unlocks
    return_places(cq);
    if (!cq.single_threaded) cq.lock.unlock();
    return false;
}

int start_poll(ibv_cq_ex* ex, ibv_poll_cq_attr* attr) {
    Cq& cq = *to_cq(ex);
    const turn::InShim in_shim;
    if (attr != nullptr && attr->comp_mask != 0) return EINVAL;
    if (to_context(ex->context)->epoch != connection::epoch()) return EIO;
    before_poll(cq);
    connection::count(protocol::Stat::PollCq);
    bool found = begin(cq);
    if (!found) {
        if (!on_empty_poll(cq)) return EIO;
        found = begin(cq);
    }
    if (!found) {
        connection::count(protocol::Stat::PollCqEmpty);
        return ENOENT;
    }
    cq.empty_polls = 0;
    return 0;
}

int next_poll(ibv_cq_ex* ex) {
    const turn::InShim in_shim;
    return advance(*to_cq(ex)) ? 0 : ENOENT;
}

void end_poll(ibv_cq_ex* ex) {
    Cq& cq = *to_cq(ex);
    const turn::InShim in_shim;
    cq.current = nullptr;
    return_places(cq);
    if (!cq.single_threaded) cq.lock.unlock();
}

const CqSlot& current(ibv_cq_ex* ex) {
    return *to_cq(ex)->current;
}

ibv_wc_opcode read_opcode(ibv_cq_ex* ex) {
    return static_cast<ibv_wc_opcode>(current(ex).opcode);
}
uint32_t read_vendor_err(ibv_cq_ex* ex) {
    return current(ex).vendor_err;
}
uint32_t read_byte_len(ibv_cq_ex* ex) {
    return current(ex).byte_len;
}
__be32 read_imm_data(ibv_cq_ex* ex) {
    return current(ex).imm_or_rkey;
}
uint32_t read_qp_num(ibv_cq_ex* ex) {
    return current(ex).qp_num;
}
uint32_t read_src_qp(ibv_cq_ex* ex) {
    return current(ex).src_qp;
}
unsigned int read_wc_flags(ibv_cq_ex* ex) {
    return current(ex).wc_flags;
}
uint32_t read_slid(ibv_cq_ex* ex) {
    return current(ex).slid;
}
uint8_t read_sl(ibv_cq_ex* ex) {
    return current(ex).sl;
}
uint8_t read_dlid_path_bits(ibv_cq_ex* ex) {
    return current(ex).dlid_path_bits;
}
uint64_t read_completion_ts(ibv_cq_ex* ex) {
    return current(ex).timestamp;
}
uint64_t read_completion_wallclock_ns(ibv_cq_ex* ex) {
    return current(ex).timestamp + static_cast<uint64_t>(connection::lab()->realtime_at_zero_ns);
}
/// No VLAN tag, flow tag or tag matching reaches a completion here.
uint16_t read_cvlan(ibv_cq_ex*) {
    return 0;
}
uint32_t read_flow_tag(ibv_cq_ex*) {
    return 0;
}
void read_tm_info(ibv_cq_ex*, ibv_wc_tm_info* info) {
    *info = ibv_wc_tm_info{};
}

}  // namespace

void fill_poll_api(ibv_cq_ex& cq) {
    cq.start_poll = start_poll;
    cq.next_poll = next_poll;
    cq.end_poll = end_poll;
    cq.read_opcode = read_opcode;
    cq.read_vendor_err = read_vendor_err;
    cq.read_byte_len = read_byte_len;
    cq.read_imm_data = read_imm_data;
    cq.read_qp_num = read_qp_num;
    cq.read_src_qp = read_src_qp;
    cq.read_wc_flags = read_wc_flags;
    cq.read_slid = read_slid;
    cq.read_sl = read_sl;
    cq.read_dlid_path_bits = read_dlid_path_bits;
    cq.read_completion_ts = read_completion_ts;
    cq.read_cvlan = read_cvlan;
    cq.read_flow_tag = read_flow_tag;
    cq.read_tm_info = read_tm_info;
    cq.read_completion_wallclock_ns = read_completion_wallclock_ns;
}

}  // namespace simverbs::client::verbs
