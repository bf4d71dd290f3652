#include "verbs_shim/server/doorbells.hpp"

#include <algorithm>
#include <cstring>

#include "verbs_shim/protocol/shared_layout.hpp"
#include "verbs_shim/server/read_once.hpp"

namespace simverbs::server {

using protocol::DoorbellKind;

namespace {

/// WQEs of one drain at most, far more than honest rings hold: a program that moves its counters while it is read must
/// not keep the lab.
constexpr uint32_t kMostWqes = 1U << 20;

/// What one drain needs at hand. Buffers are reused: no allocation a WQE.
struct Drain {
    Lab& lab;
    Client& client;
    std::vector<uint8_t>& slot;
    std::vector<hca::Sge>& sges;
    hca::Explanation why = {};
    uint32_t budget = kMostWqes;

    hca::Explanation* wanted() { return lab.config().explain ? &why : nullptr; }
    /// When a receive that is posted at `t` is the adapter's.
    [[nodiscard]] sim::SimTime receive_time(sim::SimTime t) const {
        return lab.faults() == nullptr ? t : lab.faults()->receive_time(client.program, t);
    }
    void tell() {
        if (why.rule != hca::Rule::None) lab.explain(client, hca::to_sentence(why));
        why = {};
    }
};

/// Copies a slot out of shared memory; nothing is read there twice.
void copy_slot(Drain& d, const Ring& ring, uint32_t index) {
    d.slot.resize(ring.stride);
    std::memcpy(d.slot.data(), ring.slot(index), ring.stride);
}

/// The SGEs behind a header of `header_bytes`, or false if there are more than fit.
bool copy_sges(Drain& d, size_t header_bytes, uint32_t num_sge) {
    if (num_sge > (d.slot.size() - header_bytes) / sizeof(protocol::WireSge)) return false;
    d.sges.resize(num_sge);
    for (uint32_t i = 0; i < num_sge; ++i) {
        protocol::WireSge sge;
        std::memcpy(&sge, d.slot.data() + header_bytes + i * sizeof sge, sizeof sge);
        d.sges[i] = {sge.addr, sge.length, sge.lkey};
    }
    return true;
}

/// A WR that the client should never have let through: the QP goes to the error state, as a NIC does with a WQE that
/// it cannot read.
void break_qp(Drain& d, hca::Hca& hca, const ContextObject& context, uint32_t qp_num) {
    hca::QpAttr attr;
    attr.qp_state = hca::QpState::Err;
    (void)hca.modify_qp({context.owner, d.lab.engine().frontier(), nullptr}, qp_num, attr, hca::kState);
}

bool read_send(Drain& d, const QpObject& qp, uint32_t index, hca::SendWr& wr) {
    copy_slot(d, qp.sq, index);
    protocol::SendSlot s;
    std::memcpy(&s, d.slot.data(), sizeof s);
    wr.wr_id = s.wr_id;
    wr.opcode = static_cast<hca::WrOpcode>(std::min<uint32_t>(s.opcode, 255));
    wr.send_flags = s.send_flags;
    wr.imm_or_rkey = s.imm_or_rkey;
    wr.remote_addr = s.remote_addr;
    wr.rkey = s.rkey;
    wr.compare_add = s.compare_add;
    wr.swap = s.swap;
    wr.remote_qpn = s.remote_qpn;
    wr.remote_qkey = s.remote_qkey;
    wr.remote_srqn = s.remote_srqn;
    if (wr.opcode == hca::WrOpcode::BindMw) {
        const MwObject* mw = d.client.mws.find(s.mw_handle);
        const MrObject* mr = d.client.mrs.find(s.mw_mr_handle);
        wr.mw = mw != nullptr && mw->context == qp.context ? mw->mw : 0;
        wr.mw_mr = mr != nullptr && mr->context == qp.context ? mr->mr : 0;
        wr.mw_rkey = s.mw_rkey;
        wr.mw_access = s.mw_access;
    }
    if (qp.type == hca::QpType::Ud) {
        const AhObject* ah = d.client.ahs.find(s.ah);
        wr.ah = ah != nullptr && ah->context == qp.context ? ah->ah : 0;
    }
    if ((s.send_flags & hca::kInline) != 0) {
        if (s.inline_bytes > d.slot.size() - sizeof s) return false;  // the HCA knows the limit
        wr.inline_data = d.slot.data() + sizeof s;
        wr.inline_bytes = s.inline_bytes;
        return true;
    }
    if (s.num_sge > qp.cap.max_send_sge || !copy_sges(d, sizeof s, s.num_sge)) return false;
    wr.sges = d.sges.data();
    wr.num_sge = s.num_sge;
    return true;
}

bool read_recv(Drain& d, const Ring& ring, uint32_t index, uint32_t max_sge, hca::RecvWr& wr) {
    copy_slot(d, ring, index);
    protocol::RecvSlot s;
    std::memcpy(&s, d.slot.data(), sizeof s);
    if (s.num_sge > max_sge || !copy_sges(d, sizeof s, s.num_sge)) return false;
    wr.wr_id = s.wr_id;
    wr.sges = d.sges.data();
    wr.num_sge = s.num_sge;
    return true;
}

/// How many of `count` slots from `taken` on the process has really filled.
uint32_t available(Drain& d, const Ring& ring, uint32_t taken, uint32_t count) {
    const uint32_t produced = ring.header->produced.load(std::memory_order_acquire);
    const uint32_t n = std::min({count, produced - taken, ring.capacity, d.budget});
    d.budget -= n;
    return n;
}

void take_sends(Drain& d, uint32_t handle, uint32_t count, sim::SimTime t) {
    QpObject* qp = d.client.qps.find(handle);
    ContextObject* context = qp == nullptr || !qp->sq.valid() ? nullptr : d.client.contexts.find(qp->context);
    if (context == nullptr) return;
    const uint32_t n = available(d, qp->sq, qp->sq_taken, count);
    for (uint32_t i = 0; i < n; ++i) {
        hca::SendWr wr;
        const uint32_t index = qp->sq_taken++;
        const auto doorbell = i + 1 < n ? hca::Doorbell::Hold : hca::Doorbell::Ring;
        int error = EINVAL;
        if (read_send(d, *qp, index, wr)) error = context->hca->post_send(qp->qp_num, wr, t, doorbell, d.wanted());
        if (error == 0) continue;
        d.tell();
        break_qp(d, *context->hca, *context, qp->qp_num);
    }
}

void take_recvs(Drain& d, uint32_t handle, uint32_t count, sim::SimTime t) {
    QpObject* qp = d.client.qps.find(handle);
    ContextObject* context = qp == nullptr || !qp->rq.valid() ? nullptr : d.client.contexts.find(qp->context);
    if (context == nullptr) return;
    const uint32_t n = available(d, qp->rq, qp->rq_taken, count);
    for (uint32_t i = 0; i < n; ++i) {
        hca::RecvWr wr;
        int error = EINVAL;
        if (read_recv(d, qp->rq, qp->rq_taken++, qp->cap.max_recv_sge, wr))
            error = context->hca->post_recv(qp->qp_num, wr, d.receive_time(t), d.wanted());
        if (error == 0) continue;
        d.tell();
        break_qp(d, *context->hca, *context, qp->qp_num);
    }
}

void take_srq_recvs(Drain& d, uint32_t handle, uint32_t count, sim::SimTime t) {
    SrqObject* srq = d.client.srqs.find(handle);
    ContextObject* context = srq == nullptr ? nullptr : d.client.contexts.find(srq->context);
    if (context == nullptr) return;
    const uint32_t n = available(d, srq->ring, srq->taken, count);
    for (uint32_t i = 0; i < n; ++i) {
        hca::RecvWr wr;
        if (read_recv(d, srq->ring, srq->taken++, srq->max_sge, wr) &&
            context->hca->post_srq_recv(srq->srq, wr, d.receive_time(t), d.wanted()) != 0)
            d.tell();
    }
}

void arm(Drain& d, uint32_t handle, bool solicited_only, sim::SimTime t) {
    const CqObject* cq = d.client.cqs.find(handle);
    ContextObject* context = cq == nullptr ? nullptr : d.client.contexts.find(cq->context);
    if (context == nullptr) return;
    if (ProgramFaults* faults = d.lab.faults(); faults != nullptr) faults->on_armed(d.client, handle, *cq, t);
    (void)context->hca->req_notify_cq(cq->cq, solicited_only, t);
}

}  // namespace

void note_consumed(Client& client) {
    std::erase_if(client.unconsumed_cqs, [&](uint32_t handle) {
        CqObject* cq = client.cqs.find(handle);
        if (cq == nullptr) return true;
        const uint32_t consumed = cq->ring.header->consumed.load(std::memory_order_acquire);
        // A program cannot have taken more than there was.
        const uint32_t taken = std::min(consumed - cq->consumed, cq->produced - cq->consumed);
        const ContextObject* context = client.contexts.find(cq->context);
        if (taken > 0 && context != nullptr) (void)context->hca->cq_consumed(cq->cq, taken);
        cq->consumed += taken;
        return cq->consumed == cq->produced;
    });
}

uint64_t drain_doorbells(Lab& lab, Client& client, sim::SimTime earliest, sim::SimTime latest) {
    protocol::ArenaHeader& header = client.arena->header();
    note_consumed(client);
    const uint64_t produced = header.produced.load(std::memory_order_acquire);
    // A process that lets the ring overflow has lost the oldest doorbells itself.
    if (produced - client.doorbells_taken > protocol::kDoorbells)
        client.doorbells_taken = produced - protocol::kDoorbells;
    const uint64_t first = client.doorbells_taken;
    if (first == produced) {
        // A process that has overwritten the server's count would wait for room for ever.
        if (header.consumed.load(std::memory_order_relaxed) != first)
            header.consumed.store(first, std::memory_order_release);
        return 0;
    }
    Drain d{lab, client, client.wqe_slot, client.wqe_sges};
    sim::SimTime t = earliest;
    for (; client.doorbells_taken != produced && d.budget > 0; ++client.doorbells_taken) {
        const auto bell = copy_once(header.doorbells[client.doorbells_taken % protocol::kDoorbells]);
        t = std::clamp(sim::SimTime::ps(bell.stamp_ps), t, std::max(t, latest));
        switch (bell.kind) {
            case DoorbellKind::Send:
                take_sends(d, bell.object, bell.count, t);
                break;
            case DoorbellKind::Recv:
                take_recvs(d, bell.object, bell.count, t);
                break;
            case DoorbellKind::SrqRecv:
                take_srq_recvs(d, bell.object, bell.count, t);
                break;
            // At the program's own time: with the wall clock that is before the server looks, and what became visible
            // in between the program may have looked for in vain.
            case DoorbellKind::ArmCq:
                arm(d, bell.object, false, std::min(t, sim::SimTime::ps(bell.stamp_ps)));
                break;
            case DoorbellKind::ArmCqSolicited:
                arm(d, bell.object, true, std::min(t, sim::SimTime::ps(bell.stamp_ps)));
                break;
        }
    }
    header.consumed.store(client.doorbells_taken, std::memory_order_release);
    return client.doorbells_taken - first;
}

}  // namespace simverbs::server
