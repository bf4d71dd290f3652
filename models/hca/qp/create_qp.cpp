// Creation, query and destruction of QPs.
#include <algorithm>
#include <bit>

#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {

int missing(const ControlContext& by, const char* what) {
    return refuse(by, ENOENT, Rule::NoSuchObject, [&](Explanation& e) { e.attribute = what; });
}

/// A send WQE is what its type needs before data (control, address, room for a memory window's bind), then SGEs or
/// inline data behind four bytes of length, in whole blocks of 64. Source: how rdma-core's mlx5 provider sizes them;
/// perftest asks for 220 (RC) and 188 (UD) and gets 236 and 188.
uint32_t inline_room_of_wqe(QpType type, const QpCap& cap) noexcept {
    constexpr uint32_t kBlock = 64, kSegment = 16, kInlineHeader = 4, kConnected = 144, kDatagram = 64;
    const auto up_to = [](uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) / unit * unit; };
    const uint32_t before = type == QpType::Ud ? kDatagram : kConnected;
    const uint32_t data = cap.max_inline_data > 0 ? up_to(kInlineHeader + cap.max_inline_data, kSegment) : 0;
    const uint32_t wqe = up_to(before + std::max(data, cap.max_send_sge * kSegment), kBlock);
    return wqe - before - kInlineHeader;
}

/// Largest cap.max_inline_data that a QP can be asked for. Where the device fills its WQEs, whatever it may give back
/// can be asked for, too: programs look for the largest value by what earlier QPs were given.
uint32_t largest_inline(QpType type, const DeviceAttr& limits) noexcept {
    if (!limits.fills_send_wqes) return limits.max_inline_data;
    QpCap largest;
    largest.max_inline_data = limits.max_inline_data;
    largest.max_send_sge = static_cast<uint32_t>(limits.max_sge);
    return inline_room_of_wqe(type, largest);
}

/// One capability against its device limit.
struct CapCheck {
    const char* attribute;
    uint32_t given;
    uint32_t limit;
};

int check_caps(const ControlContext& by, const QpInitAttr& init, const DeviceAttr& limits) {
    const auto wr = static_cast<uint32_t>(limits.max_qp_wr), sge = static_cast<uint32_t>(limits.max_sge);
    const CapCheck checks[] = {
        {"cap.max_send_wr", init.cap.max_send_wr, wr},
        {"cap.max_recv_wr", init.srq != 0 ? 0 : init.cap.max_recv_wr, wr},
        {"cap.max_send_sge", init.cap.max_send_sge, sge},
        {"cap.max_recv_sge", init.srq != 0 ? 0 : init.cap.max_recv_sge, sge},
        {"cap.max_inline_data", init.cap.max_inline_data, largest_inline(init.type, limits)},
    };
    for (const CapCheck& c : checks) {
        if (c.given <= c.limit) continue;
        return refuse(by, EINVAL, Rule::LimitExceeded, [&](Explanation& e) {
            e.attribute = c.attribute;
            e.required = "at most " + std::to_string(c.limit);
            e.given = std::to_string(c.given);
            e.advice = "ibv_query_device tells the limits";
        });
    }
    return 0;
}

/// What a new QP is made of; null where its type has none.
struct QpParts {
    Pd* pd = nullptr;
    Cq* send_cq = nullptr;
    Cq* recv_cq = nullptr;
    Srq* srq = nullptr;
    Xrcd* xrcd = nullptr;
};

/// Source: the kernel's create_qp of uverbs: XRC_RECV has its domain alone, XRC_SEND no receive side.
int find_parts(Device& d, const ControlContext& by, const QpInitAttr& init, QpParts& parts) {
    if (init.type == QpType::XrcRecv) {
        const auto it = d.xrcds.find(init.xrcd);
        if (it == d.xrcds.end() || it->second.owner != by.owner) return missing(by, "xrcd");
        parts.xrcd = &it->second;
        return 0;
    }
    parts.pd = d.find_pd(by, init.pd);
    if (parts.pd == nullptr) return missing(by, "pd");
    parts.send_cq = d.find_cq(init.send_cq);
    if (parts.send_cq == nullptr || parts.send_cq->owner != by.owner) return missing(by, "send_cq");
    if (init.type == QpType::XrcSend) return 0;
    parts.recv_cq = d.find_cq(init.recv_cq);
    if (parts.recv_cq == nullptr || parts.recv_cq->owner != by.owner) return missing(by, "recv_cq");
    if (init.srq == 0) return 0;
    parts.srq = d.find_srq(init.srq);
    if (parts.srq == nullptr || parts.srq->owner != by.owner || parts.srq->xrcd != 0) return missing(by, "srq");
    return 0;
}

/// Queue sizes that a type does not have are 0.
void drop_unused_caps(QpType type, bool has_srq, QpCap& cap) {
    if (type == QpType::XrcRecv) cap = {};
    if (type == QpType::XrcSend || has_srq) cap.max_recv_wr = cap.max_recv_sge = 0;
}

void allocate_queues(Qp& qp, const Srq* srq) {
    VerbsQp& v = *qp.verbs;
    const QpCap& cap = v.init.cap;
    const uint32_t slots = std::bit_ceil(std::max(cap.max_send_wr, 1U));
    qp.messages.resize(slots);
    qp.message_mask = slots - 1;
    v.wqes.resize(slots);
    v.sges.resize(size_t{slots} * std::max(cap.max_send_sge, 1U));
    v.inline_data.resize(size_t{slots} * v.inline_stride());
    v.rq.allocate(std::max(cap.max_recv_wr, 1U), cap.max_recv_sge);
    v.receive.sges.reserve(srq != nullptr ? srq->queue.max_sge() : std::max(cap.max_recv_sge, 1U));
    v.gather.reserve(std::max(cap.max_send_sge, 1U));
}

}  // namespace

Result<CreatedQp> Hca::create_qp(const ControlContext& by, const QpInitAttr& init) {
    Device& d = *device_;
    const bool is_xrc = init.type == QpType::XrcSend || init.type == QpType::XrcRecv;
    const bool is_raw = init.type == QpType::RawPacket;
    if ((is_raw && !d.has_raw_packets()) || (is_xrc && !d.profile.behaviour.has_xrc))
        return {refuse(by, EOPNOTSUPP, Rule::QpTypeUnsupported,
                       [&](Explanation& e) {
                           e.attribute = "qp_type";
                           e.given = name_of(init.type);
                           e.required =
                               "a type that the adapter has: IBV_QPT_RC, UC, UD, on most XRC_SEND and XRC_RECV, on "
                               "Ethernet RAW_PACKET";
                       }),
                {}};
    if (is_raw && d.config.neighbours != nullptr) d.config.neighbours->begin_to_flood();
    QpParts parts;
    if (const int error = find_parts(d, by, init, parts); error != 0) return {error, {}};
    if (const int error = check_caps(by, init, d.attr); error != 0) return {error, {}};
    if (d.live_qps >= static_cast<uint32_t>(d.attr.max_qp))
        return {refuse(by, ENOMEM, Rule::OutOfResources, [](Explanation& e) { e.attribute = "max_qp"; }), {}};

    Qp& qp = d.new_qp(init.type);
    ++d.live_qps;
    if (parts.pd != nullptr) ++parts.pd->users;
    if (parts.send_cq != nullptr) ++parts.send_cq->users;
    if (parts.recv_cq != nullptr) ++parts.recv_cq->users;
    if (parts.srq != nullptr) ++parts.srq->users;
    if (parts.xrcd != nullptr) ++parts.xrcd->users;
    qp.pd = init.pd;
    qp.verbs = std::make_unique<VerbsQp>();
    VerbsQp& v = *qp.verbs;
    v.owner = by.owner;
    v.init = init;
    v.send_cq = parts.send_cq;
    v.recv_cq = parts.recv_cq;
    v.srq = parts.srq;
    drop_unused_caps(init.type, parts.srq != nullptr, v.init.cap);
    if (d.attr.fills_send_wqes && init.type != QpType::XrcRecv)
        v.init.cap.max_inline_data = inline_room_of_wqe(init.type, v.init.cap);
    allocate_queues(qp, parts.srq);
    if (d.observer != nullptr) d.observer->on_qp_created(qp.qpn, qp.type, by.now);
    return {0, {qp.qpn, v.init.cap}};
}

Result<QpQuery> Hca::query_qp(const ControlContext& by, uint32_t qp_num) const {
    Device& d = *device_;
    const Qp* qp = d.find_owned(by, qp_num);
    if (qp == nullptr) return {missing(by, "qp"), {}};
    QpQuery q{qp->verbs->attr, qp->verbs->init};
    q.attr.qp_state = q.attr.cur_qp_state = qp->state;
    q.attr.cap = qp->verbs->init.cap;
    q.attr.sq_psn = qp->rq.next_psn.value();
    q.attr.rq_psn = qp->rs.expected_psn.value();
    const Requester& r = qp->rq;
    const bool draining = r.una != r.end && qp->messages[r.una & qp->message_mask].started;
    q.attr.sq_draining = qp->state == QpState::Sqd && draining ? 1 : 0;
    return {0, q};
}

int Hca::destroy_qp(const ControlContext& by, uint32_t qp_num) {
    Device& d = *device_;
    Qp* qp = d.find_owned(by, qp_num);
    if (qp == nullptr) return missing(by, "qp");
    if (d.drop_opener(*qp, by.owner)) return 0;
    if (d.is_steered_to(qp_num))
        return refuse(by, EBUSY, Rule::ObjectInUse, [](Explanation& e) {
            e.attribute = "qp";
            e.advice = "destroy its flows first: ibv_destroy_flow";
        });
    if (!qp->verbs->mcast.empty())
        return refuse(by, EBUSY, Rule::ObjectInUse, [](Explanation& e) {
            e.attribute = "qp";
            e.advice = "detach it from its multicast groups first";
        });
    d.destroy(*qp, by.now);
    return 0;
}

/// What is left is a tombstone that answers for what has been received.
void Device::destroy(Qp& qp, sim::SimTime now) {
    VerbsQp& v = *qp.verbs;
    if (observer != nullptr) observer->on_qp_destroyed(qp.qpn, now);
    for (const auto& [gid, lid] : v.mcast) leave_group(qp, gid);
    release_streams(qp);
    if (v.srq != nullptr && qp.rs.has_wqe) v.srq->queue.retire();
    if (qp.type == QpType::XrcRecv) {
        --xrcds[v.init.xrcd].users;
    } else {
        --pds[v.init.pd].users;
        --v.send_cq->users;
        if (v.recv_cq != nullptr) --v.recv_cq->users;
        if (v.srq != nullptr) --v.srq->users;
    }
    --live_qps;
    // A QP that never received owes nothing.
    qp.destroyed = true;
    qp.destroyed_at = now;
    qp.ack_timer.cancel();
    qp.rnr_timer.cancel();
    qp.pace_timer.cancel();
    qp.cnp_timer.cancel();
    qp.verbs.reset();
    qp.messages.assign(1, {});
    qp.message_mask = 0;
    qp.rq = Requester{};
    qp.rs.inbound = InboundMessage::None;
    last_fault.erase(qp.qpn);
}

void Hca::release_all(OwnerId owner, sim::SimTime now) {
    Device& d = *device_;
    std::erase_if(d.steering, [&](const auto& entry) { return entry.second.owner == owner; });
    for (const auto& qp : d.qps) {
        if (qp->destroyed || qp->verbs == nullptr) continue;
        if (!d.drop_opener(*qp, owner) && qp->verbs->owner == owner) d.destroy(*qp, now);
    }
    d.release_srqs(owner);
    std::erase_if(d.cqs, [&](const auto& entry) { return entry.second->owner == owner; });
    std::erase_if(d.ahs, [&](const auto& entry) { return entry.second.owner == owner; });
    d.mrs.for_each([&](Mr& mr) {
        if (mr.owner != owner) return;
        if (d.mover != nullptr && !mr.is_window()) d.mover->settle_all(mr.space);
        d.mrs.remove(mr);
    });
    ++d.mr_epoch;
    d.release_domains(owner);
    std::erase_if(d.pds, [&](const auto& entry) { return entry.second.owner == owner; });
}

}  // namespace simverbs::hca
