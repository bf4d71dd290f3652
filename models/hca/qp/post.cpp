// The data path's entrance: work requests into the queues, doorbells.
#include <algorithm>
#include <cstring>

#include "models/hca/device.hpp"
#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

namespace {

template <class Fill>
int reject(Explanation* why, int error, Rule rule, Fill&& fill) {
    if (why != nullptr) {
        *why = {};
        why->rule = rule;
        fill(*why);
    }
    return error;
}
int reject(Explanation* why, int error, Rule rule, const char* attribute) {
    return reject(why, error, rule, [&](Explanation& e) { e.attribute = attribute; });
}

/// Bytes of a WQE in the send queue: control segment, address segments, data segments or inline data.
uint32_t wqe_bytes(const SendWr& wr, QpType type) noexcept {
    constexpr uint32_t kSegment = 16, kInlineHeader = 4, kUdAddress = 48, kUnit = 64;
    uint32_t bytes = kSegment;
    if (type == QpType::Ud) bytes += kUdAddress;
    const bool atomic = wr.opcode == WrOpcode::AtomicCmpAndSwp || wr.opcode == WrOpcode::AtomicFetchAndAdd;
    const bool send =
        wr.opcode == WrOpcode::Send || wr.opcode == WrOpcode::SendWithImm || wr.opcode == WrOpcode::SendWithInv;
    if (!send) bytes += kSegment;
    if (atomic) bytes += kSegment;
    bytes += (wr.send_flags & kInline) != 0 ? kInlineHeader + wr.inline_bytes : kSegment * wr.num_sge;
    return (bytes + kUnit - 1) / kUnit * kUnit;
}

int check_send(const Device& d, const Qp& qp, const SendWr& wr, Explanation* why) {
    const VerbsQp& v = *qp.verbs;
    if (qp.state == QpState::Reset || qp.state == QpState::Init || qp.state == QpState::Rtr)
        return reject(why, EINVAL, Rule::PostInWrongState, [&](Explanation& e) {
            e.where = "ibv_post_send";
            e.attribute = "qp_state";
            e.required = "RTS (or SQD, SQE, ERR)";
            e.given = name_of(qp.state);
            e.advice = "move the QP to RTS first";
        });
    if (v.posted - qp.rq.una >= std::max(v.init.cap.max_send_wr, 1U))
        return reject(why, ENOMEM, Rule::QueueFull, [&](Explanation& e) {
            e.where = "ibv_post_send";
            e.attribute = "cap.max_send_wr";
            e.required = "fewer than " + std::to_string(v.init.cap.max_send_wr) + " outstanding send requests";
            e.advice = "poll the CQ, signal some of the requests, or create the QP with a larger max_send_wr";
        });
    if ((wr.send_flags & kInline) != 0) {
        const uint32_t room = wr.opcode == WrOpcode::AtomicWrite ? v.inline_stride() : v.init.cap.max_inline_data;
        if (wr.inline_bytes > room)
            return reject(why, EINVAL, Rule::InlineTooLarge, [&](Explanation& e) {
                e.where = "ibv_post_send";
                e.attribute = "cap.max_inline_data";
                e.required = "at most " + std::to_string(v.init.cap.max_inline_data) + " bytes";
                e.given = std::to_string(wr.inline_bytes);
            });
        if (wr.opcode == WrOpcode::RdmaRead || wr.opcode == WrOpcode::AtomicCmpAndSwp ||
            wr.opcode == WrOpcode::AtomicFetchAndAdd)
            return reject(why, EINVAL, Rule::OpcodeUnsupported, "IBV_SEND_INLINE");
    } else if (wr.num_sge > v.init.cap.max_send_sge) {
        return reject(why, EINVAL, Rule::TooManySges, [&](Explanation& e) {
            e.where = "ibv_post_send";
            e.attribute = "cap.max_send_sge";
            e.required = "at most " + std::to_string(v.init.cap.max_send_sge);
            e.given = std::to_string(wr.num_sge);
        });
    }
    // An operation that the QP type lacks is found out when its turn comes.
    if (qp.type == QpType::Ud && operation_supported(qp.type, wr.opcode)) {
        const auto ah = d.ahs.find(wr.ah);
        if (ah == d.ahs.end() || ah->second.owner != v.owner || ah->second.pd != qp.pd)
            return reject(why, EINVAL, Rule::AhInvalid, "wr.ud.ah");
    }
    return 0;
}

/// Length of the message: atomics are 8 bytes whatever their SGE says.
uint64_t message_length(const SendWr& wr) noexcept {
    if (wr.opcode == WrOpcode::BindMw || wr.opcode == WrOpcode::LocalInv) return 0;
    if ((wr.send_flags & kInline) != 0) return wr.inline_bytes;
    if (wr.opcode == WrOpcode::AtomicCmpAndSwp || wr.opcode == WrOpcode::AtomicFetchAndAdd) return kAtomicBytes;
    uint64_t n = 0;
    for (uint32_t i = 0; i < wr.num_sge; ++i) n += wr.sges[i].length;
    return n;
}

int check_receive(const ReceiveQueue& queue, const RecvWr& wr, Explanation* why) {
    if (queue.full())
        return reject(why, ENOMEM, Rule::QueueFull, [&](Explanation& e) {
            e.where = "ibv_post_recv";
            e.attribute = "max_wr";
            e.required = "fewer than " + std::to_string(queue.capacity()) + " outstanding receive requests";
        });
    if (wr.num_sge > queue.max_sge())
        return reject(why, EINVAL, Rule::TooManySges, [&](Explanation& e) {
            e.where = "ibv_post_recv";
            e.attribute = "max_sge";
            e.required = "at most " + std::to_string(queue.max_sge());
            e.given = std::to_string(wr.num_sge);
        });
    return 0;
}

}  // namespace

int Hca::post_send(uint32_t qp_num, const SendWr& wr, sim::SimTime t, Doorbell doorbell, Explanation* why) {
    Device& d = *device_;
    Qp* found = d.find_qp(qp_num);
    if (found == nullptr || found->verbs == nullptr) return reject(why, EINVAL, Rule::NoSuchObject, "qp");
    Qp& qp = *found;
    VerbsQp& v = *qp.verbs;
    if (const int error = check_send(d, qp, wr, why); error != 0) {
        // What was held back before the bad request still goes out.
        d.ring_doorbell(qp, t, 0);
        return error;
    }
    const uint64_t length = message_length(wr);
    if (length > d.attr.max_msg_sz) {
        d.ring_doorbell(qp, t, 0);
        return reject(why, EINVAL, Rule::MessageTooLong, "length");
    }
    const uint32_t slot = v.posted & qp.message_mask;
    Message& m = qp.messages[slot];
    m = Message{};
    m.length = static_cast<uint32_t>(length);
    m.opcode = wr.opcode;
    m.send_flags = static_cast<uint8_t>(wr.send_flags);
    SendWqe& w = v.wqes[slot];
    w = {wr.wr_id, wr.remote_addr, wr.compare_add, wr.swap,        wr.rkey, wr.imm_or_rkey, 0,        0,
         wr.ah,    wr.remote_qpn,  wr.remote_qkey, wr.remote_srqn, wr.mw,   wr.mw_rkey,     wr.mw_mr, wr.mw_access};
    if ((wr.send_flags & kInline) != 0) {
        w.inline_bytes = wr.inline_bytes;
        if (wr.inline_bytes > 0)
            std::memcpy(&v.inline_data[size_t{slot} * v.inline_stride()], wr.inline_data, wr.inline_bytes);
    } else {
        w.num_sge = wr.num_sge;
        std::copy_n(wr.sges, wr.num_sge, &v.sges[size_t{slot} * std::max(v.init.cap.max_send_sge, 1U)]);
    }
    if (d.observer != nullptr) [[unlikely]]
        d.observer->on_send_posted(qp_num, v.posted, wr, m.length, t);
    ++v.posted;
    if (doorbell == Doorbell::Ring) d.ring_doorbell(qp, t, wqe_bytes(wr, qp.type));
    return 0;
}

/// Tells the adapter of everything that was posted. A single WQE may travel in the doorbell itself (BlueFlame).
void Device::ring_doorbell(Qp& qp, sim::SimTime t, uint32_t last_wqe_bytes) {
    VerbsQp& v = *qp.verbs;
    const uint32_t count = v.posted - v.rung;
    if (count == 0) return;
    v.rung = v.posted;
    v.last_post = std::max(v.last_post, t);
    const sim::SimTime arrival = host_port.doorbell_arrival(v.last_post);
    const bool blue_flame =
        timing.blue_flame && count == 1 && last_wqe_bytes > 0 && last_wqe_bytes <= timing.blue_flame_bytes;
    // The wake is for the very time of the event: the engine forgets a wake that finds nothing due.
    const sim::SimTime at = blue_flame ? arrival + timing.wqe_process : arrival;
    delayed.push(at, {blue_flame ? Delayed::Kind::WqeReady : Delayed::Kind::WqeFetch, qp.slot, qp.qpn, v.posted});
    node.engine().wake(node.id(), std::max(at, node.engine().frontier()));
}

Hca::QueueCounts Hca::queue_counts(uint32_t qp_num) const {
    const Qp* qp = device_->find_qp(qp_num);
    if (qp == nullptr || qp->verbs == nullptr) return {};
    return {qp->verbs->posted, qp->verbs->rq.posted()};
}

int Hca::post_recv(uint32_t qp_num, const RecvWr& wr, sim::SimTime t, Explanation* why) {
    Device& d = *device_;
    Qp* qp = d.find_qp(qp_num);
    if (qp == nullptr || qp->verbs == nullptr) return reject(why, EINVAL, Rule::NoSuchObject, "qp");
    VerbsQp& v = *qp->verbs;
    if (v.init.srq != 0) return reject(why, EINVAL, Rule::UsesSrq, "srq");
    if (qp->type == QpType::XrcSend || qp->type == QpType::XrcRecv)
        return reject(why, EINVAL, Rule::OpcodeUnsupported, "qp_type");
    if (qp->state == QpState::Reset)
        return reject(why, EINVAL, Rule::PostInWrongState, [](Explanation& e) {
            e.where = "ibv_post_recv";
            e.attribute = "qp_state";
            e.required = "INIT or later";
            e.given = "RESET";
        });
    if (const int error = check_receive(v.rq, wr, why); error != 0) return error;
    v.last_receive = std::max(v.last_receive, d.host_port.doorbell_arrival(t));
    if (d.observer != nullptr) [[unlikely]]
        d.observer->on_receive_posted({false, qp_num}, v.rq.posted(), wr, t);
    v.rq.post(wr, v.last_receive);
    if (qp->state == QpState::Err) {
        d.delayed.push(v.last_receive, {Delayed::Kind::Resume, qp->slot, qp_num, 0});
        d.wake();
    }
    return 0;
}

int Hca::post_srq_recv(SrqHandle handle, const RecvWr& wr, sim::SimTime t, Explanation* why) {
    Device& d = *device_;
    Srq* srq = d.find_srq(handle);
    if (srq == nullptr) return reject(why, EINVAL, Rule::NoSuchObject, "srq");
    if (const int error = check_receive(srq->queue, wr, why); error != 0) return error;
    srq->last_receive = std::max(srq->last_receive, d.host_port.doorbell_arrival(t));
    if (d.observer != nullptr) [[unlikely]]
        d.observer->on_receive_posted({true, handle}, srq->queue.posted(), wr, t);
    srq->queue.post(wr, srq->last_receive);
    return 0;
}

}  // namespace simverbs::hca
