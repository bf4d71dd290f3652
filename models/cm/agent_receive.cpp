// What arrives at the CM: one function a message.
#include <algorithm>

#include "models/cm/agent.hpp"

namespace simverbs::cm {

namespace {

template <size_t N>
std::vector<uint8_t> all_of(const std::array<uint8_t, N>& bytes) {
    return {bytes.begin(), bytes.end()};
}

/// The passive side's type: what receives from a XRC_SEND QP is a XRC_RECV QP.
hca::QpType type_of(Transport transport) {
    switch (transport) {
        case Transport::Uc:
            return hca::QpType::Uc;
        case Transport::Extended:
            return hca::QpType::XrcRecv;
        case Transport::Rc:
        case Transport::Rd:
            break;
    }
    return hca::QpType::Rc;
}

}  // namespace

void Agent::dispatch(const hca::ReceivedMad& mad, sim::SimTime now) {
    const std::span<const uint8_t> bytes(mad.bytes);
    const auto header = decode<MadHeader>(bytes);
    if (header.mgmt_class != kCmClass || header.class_version != kCmClassVersion || header.method != kMethodSend)
        return;
    const std::span<const uint8_t> body = cm_part(bytes);
    switch (static_cast<Attribute>(header.attribute_id)) {
        case Attribute::Req:
            return on_req(decode<Req>(body), header, mad, now);
        case Attribute::Mra:
            return on_mra(decode<Mra>(body), now);
        case Attribute::Rej:
            return on_rej(decode<Rej>(body), now);
        case Attribute::Rep:
            return on_rep(decode<Rep>(body), mad, header, now);
        case Attribute::Rtu:
            return on_rtu(decode<Rtu>(body), now);
        case Attribute::Dreq:
            return on_dreq(decode<Dreq>(body), mad, header.transaction_id, now);
        case Attribute::Drep:
            return on_drep(decode<Drep>(body), now);
        case Attribute::SidrReq:
            return on_sidr_req(decode<SidrReq>(body), header.transaction_id, mad, now);
        case Attribute::SidrRep:
            return on_sidr_rep(decode<SidrRep>(body), now);
        case Attribute::Lap:
            return on_lap(decode<Lap>(body), mad);
        case Attribute::Apr:
            return;  // the answer to a LAP, which nobody here sends
    }
}

uint8_t Agent::gid_index_of(uint8_t port, const hca::Gid& gid) const {
    const auto& gids = adapter_->config().ports[port - 1U].gids;
    // RoCE v2 and v1 have the same addresses: v2 is what rdma_cm prefers.
    for (size_t i = 0; i < gids.size(); ++i)
        if (gids[i].gid == gid && gids[i].type != hca::GidType::RoceV1) return static_cast<uint8_t>(i);
    for (size_t i = 0; i < gids.size(); ++i)
        if (gids[i].gid == gid) return static_cast<uint8_t>(i);
    return 0;
}

hca::AhAttr Agent::way_back(const hca::ReceivedMad& mad) const {
    hca::AhAttr ah;
    ah.port_num = mad.port;
    ah.dlid = mad.slid;
    ah.sl = adapter_->config().ports[mad.port - 1U].link_layer == hca::LinkLayer::Ethernet ? uint8_t{0} : mad.sl;
    ah.is_global = mad.has_grh;
    if (mad.has_grh) {
        ah.dgid = mad.sgid;
        ah.sgid_index = gid_index_of(mad.port, mad.dgid);
        ah.hop_limit = 64;
    }
    return ah;
}

void Agent::on_req(const Req& req, const MadHeader& header, const hca::ReceivedMad& mad, sim::SimTime now) {
    const std::pair remote(req.local_ca_guid, req.local_comm_id);
    if (const auto known = by_remote_.find(remote); known != by_remote_.end()) {
        ++counters_.duplicates;
        return on_duplicate_req(connections_.at(known->second), now);
    }
    Connection c;
    c.state = State::ReqRcvd;
    c.remote_id = req.local_comm_id;
    c.transaction_id = header.transaction_id;
    c.ah = way_back(mad);
    if (!listeners_.contains(req.service_id)) return send_rej(c, RejectReason::InvalidServiceId, {}, now);
    c.service_id = req.service_id;
    c.remote_ca_guid = req.local_ca_guid;
    c.type = type_of(req.transport);
    if (c.ah.is_global) c.ah.flow_label = req.flow_label;
    c.ah.traffic_class = req.traffic_class;
    c.pkey = req.pkey;
    c.mtu = req.path_mtu;
    // The REQ carries the sender's local ACK timeout; the way back takes as long.
    c.timeout = req.local_ack_timeout;
    c.remote_qpn = req.local_qpn;
    c.sq_psn = req.starting_psn;
    c.responder_resources = req.initiator_depth;
    c.initiator_depth = req.responder_resources;
    c.retry_count = req.retry_count;
    c.rnr_retry_count = req.rnr_retry_count;
    Connection& made = make(State::ReqRcvd);
    c.local_id = made.local_id;
    c.rq_psn = made.rq_psn;
    made = c;
    by_remote_[remote] = c.local_id;
    Event event;
    event.type = EventType::ReqReceived;
    event.id = c.local_id;
    event.service_id = req.service_id;
    event.remote_qpn = req.local_qpn;
    event.responder_resources = req.initiator_depth;
    event.initiator_depth = req.responder_resources;
    event.retry_count = req.retry_count;
    event.rnr_retry_count = req.rnr_retry_count;
    event.srq = req.srq;
    event.flow_control = req.flow_control;
    event.qp_type = c.type;
    event.ah = c.ah;
    event.pkey = req.pkey;
    event.ece = {req.vendor_id, header.attribute_modifier};
    event.private_data = all_of(req.private_data);
    tell(event, now);
}

void Agent::on_duplicate_req(Connection& c, sim::SimTime now) {
    switch (c.state) {
        case State::ReqRcvd:
            return send_mra(c, Answered::Req, now);
        case State::Timewait:
            return send_rej(c, RejectReason::StaleConnection, {}, now);
        case State::Idle:
        case State::ReqSent:
        case State::MraReqRcvd:
        case State::RepSent:
        case State::MraRepRcvd:
        case State::RepRcvd:
        case State::Established:
        case State::DreqSent:
        case State::DreqRcvd:
        case State::SidrReqSent:
        case State::SidrReqRcvd:
            return;  // the REP repeats itself
    }
}

void Agent::on_rep(const Rep& rep, const hca::ReceivedMad& mad, const MadHeader& header, sim::SimTime now) {
    Connection* c = find_mutable(rep.remote_comm_id);
    if (c != nullptr && (c->state == State::ReqSent || c->state == State::MraReqRcvd)) {
        stop_repeating(*c);
        c->state = State::RepRcvd;
        c->remote_id = rep.local_comm_id;
        c->remote_ca_guid = rep.local_ca_guid;
        c->remote_qpn = rep.local_qpn;
        c->sq_psn = rep.starting_psn;
        c->initiator_depth = rep.responder_resources;
        c->responder_resources = rep.initiator_depth;
        c->rnr_retry_count = rep.rnr_retry_count;
        by_remote_[{rep.local_ca_guid, rep.local_comm_id}] = c->local_id;
        Event event;
        event.type = EventType::RepReceived;
        event.id = c->local_id;
        event.remote_qpn = rep.local_qpn;
        event.responder_resources = rep.initiator_depth;
        event.initiator_depth = rep.responder_resources;
        event.rnr_retry_count = rep.rnr_retry_count;
        event.srq = rep.srq;
        event.flow_control = rep.flow_control;
        event.ece = {rep.vendor_id(), header.attribute_modifier};
        event.private_data = all_of(rep.private_data);
        return tell(event, now);
    }
    ++counters_.duplicates;
    if (c != nullptr && c->remote_id == rep.local_comm_id) {
        if (c->state == State::Established) return send_rtu(*c, now);
        if (c->state == State::RepRcvd) return send_mra(*c, Answered::Rep, now);
        if (c->state != State::Idle) return;
    }
    // Nobody here wants it: the peer must not go on for ever.
    Connection nobody;
    nobody.state = State::RepRcvd;
    nobody.remote_id = rep.local_comm_id;
    nobody.transaction_id = header.transaction_id;
    nobody.ah = way_back(mad);
    send_rej(nobody, RejectReason::InvalidCommId, {}, now);
}

void Agent::on_rtu(const Rtu& rtu, sim::SimTime now) {
    Connection* c = find_mutable(rtu.remote_comm_id);
    if (c == nullptr || c->remote_id != rtu.local_comm_id) return;
    if (c->state != State::RepSent && c->state != State::MraRepRcvd) {
        ++counters_.duplicates;
        return;
    }
    stop_repeating(*c);
    c->state = State::Established;
    Event event;
    event.type = EventType::RtuReceived;
    event.id = c->local_id;
    tell(event, now);
}

void Agent::on_rej(const Rej& rej, sim::SimTime now) {
    Connection* c = find_mutable(rej.remote_comm_id);
    if (rej.reason == RejectReason::Timeout && c == nullptr) {
        // The peer gave its REQ up before it knew our id: its CA and its own id name the connection.
        uint64_t guid = 0;
        for (size_t i = 0; i < 8; ++i) guid = (guid << 8) | rej.additional_info[i];
        const auto it = by_remote_.find({guid, rej.local_comm_id});
        if (it != by_remote_.end()) c = find_mutable(it->second);
    }
    if (c == nullptr) return;
    switch (c->state) {
        case State::ReqSent:
        case State::MraReqRcvd:
        case State::RepRcvd:
            stop_repeating(*c);
            by_remote_.erase({c->remote_ca_guid, c->remote_id});
            c->state = State::Idle;
            break;
        case State::ReqRcvd:
        case State::RepSent:
        case State::MraRepRcvd:
        case State::Established:
        case State::DreqSent:
            enter_timewait(*c, now);
            break;
        case State::Idle:
        case State::DreqRcvd:
        case State::Timewait:
        case State::SidrReqSent:
        case State::SidrReqRcvd:
            return;
    }
    Event event;
    event.type = EventType::RejReceived;
    event.id = c->local_id;
    event.reason = static_cast<uint16_t>(rej.reason);
    event.private_data = all_of(rej.private_data);
    tell(event, now);
}

void Agent::on_mra(const Mra& mra, sim::SimTime now) {
    Connection* c = find_mutable(mra.remote_comm_id);
    if (c == nullptr) return;
    if (c->state == State::ReqSent && mra.answered == Answered::Req)
        c->state = State::MraReqRcvd;
    else if (c->state == State::RepSent && mra.answered == Answered::Rep)
        c->state = State::MraRepRcvd;
    else
        return;
    c->answer_time = time_of(mra.service_timeout) + time_of(c->timeout);
    c->timer = push(now + c->answer_time, {WorkKind::AnswerTimeout, c->local_id, 0, {}, {}});
}

void Agent::on_dreq(const Dreq& dreq, const hca::ReceivedMad& mad, uint64_t transaction_id, sim::SimTime now) {
    Connection* c = find_mutable(dreq.remote_comm_id);
    if (c == nullptr || c->remote_id != dreq.local_comm_id) {
        // Gone already: the peer may rest.
        Connection gone;
        gone.local_id = dreq.remote_comm_id;
        gone.remote_id = dreq.local_comm_id;
        gone.transaction_id = transaction_id;
        gone.ah = way_back(mad);
        return send_drep(gone, now);
    }
    Event event;
    event.type = EventType::DreqReceived;
    event.id = c->local_id;
    switch (c->state) {
        case State::RepSent:
        case State::MraRepRcvd:
        case State::Established:
        case State::DreqSent:  // both sides at once
            stop_repeating(*c);
            c->transaction_id = transaction_id;
            c->state = State::DreqRcvd;
            return tell(event, now);
        case State::Timewait: {
            ++counters_.duplicates;
            Connection again = *c;
            again.transaction_id = transaction_id;
            return send_drep(again, now);
        }
        case State::Idle:
        case State::ReqSent:
        case State::MraReqRcvd:
        case State::ReqRcvd:
        case State::RepRcvd:
        case State::DreqRcvd:
        case State::SidrReqSent:
        case State::SidrReqRcvd:
            ++counters_.duplicates;
            return;
    }
}

void Agent::on_drep(const Drep& drep, sim::SimTime now) {
    Connection* c = find_mutable(drep.remote_comm_id);
    if (c == nullptr || c->state != State::DreqSent) return;
    enter_timewait(*c, now);
    Event event;
    event.type = EventType::Disconnected;
    event.id = c->local_id;
    tell(event, now);
}

/// As Linux does it for connections of rdma_cm: the CM takes note of the first one and leaves the answer to its
/// consumer, who knows no alternate paths and gives none. On RoCE it does not even look.
void Agent::on_lap(const Lap& lap, const hca::ReceivedMad& mad) {
    if (adapter_->config().ports[mad.port - 1U].link_layer == hca::LinkLayer::Ethernet) return;
    Connection* c = find_mutable(lap.remote_comm_id);
    if (c == nullptr || c->remote_id != lap.local_comm_id || c->state != State::Established) return;
    if (c->lap_received) ++counters_.duplicates;
    c->lap_received = true;
}

void Agent::on_sidr_req(const SidrReq& req, uint64_t transaction_id, const hca::ReceivedMad& mad, sim::SimTime now) {
    // The sender's port stands for its CA.
    const uint64_t sender = mad.has_grh ? load_bits(mad.sgid, {8, 0, 64}) ^ load_bits(mad.sgid, {0, 0, 64}) : mad.slid;
    const std::pair remote(sender, req.request_id);
    if (by_remote_.contains(remote)) {
        ++counters_.duplicates;
        return;
    }
    Connection& c = make(State::SidrReqRcvd);
    c.type = hca::QpType::Ud;
    c.remote_id = req.request_id;
    c.remote_ca_guid = sender;
    c.transaction_id = transaction_id;
    c.service_id = req.service_id;
    c.ah = way_back(mad);
    c.pkey = req.pkey;
    by_remote_[remote] = c.local_id;
    if (!listeners_.contains(req.service_id)) {
        const CommId id = c.local_id;
        (void)answer_resolve(id, SidrStatus::Unsupported, 0, 0, {}, now);
        connections_.erase(id);
        return;
    }
    Event event;
    event.type = EventType::SidrReqReceived;
    event.id = c.local_id;
    event.service_id = req.service_id;
    event.qp_type = hca::QpType::Ud;
    event.ah = c.ah;
    event.pkey = req.pkey;
    event.private_data = all_of(req.private_data);
    tell(event, now);
}

void Agent::on_sidr_rep(const SidrRep& rep, sim::SimTime now) {
    Connection* c = find_mutable(rep.request_id);
    if (c == nullptr || c->state != State::SidrReqSent) return;
    stop_repeating(*c);
    c->state = State::Idle;
    c->remote_qpn = rep.qpn;
    Event event;
    event.type = EventType::SidrRepReceived;
    event.id = c->local_id;
    event.reason = static_cast<uint16_t>(rep.status);
    event.remote_qpn = rep.qpn;
    event.qkey = rep.qkey;
    event.qp_type = hca::QpType::Ud;
    event.ah = c->ah;
    event.private_data = all_of(rep.private_data);
    tell(event, now);
}

}  // namespace simverbs::cm
