#include "models/cm/agent.hpp"

#include "sim/rng.hpp"

namespace simverbs::cm {

namespace {

/// Everything random of an adapter follows from its name and the lab's seed.
uint64_t draw(const hca::Hca& adapter, uint64_t purpose) {
    return sim::mix64(sim::mix64(adapter.config().seed ^ sim::component_id(adapter.config().name)) + purpose);
}

Transport transport_of(hca::QpType type) {
    switch (type) {
        case hca::QpType::Uc:
            return Transport::Uc;
        case hca::QpType::XrcSend:
        case hca::QpType::XrcRecv:
            return Transport::Extended;
        case hca::QpType::Rc:
        case hca::QpType::Ud:
        case hca::QpType::RawPacket:
            break;
    }
    return Transport::Rc;
}

}  // namespace

const char* name_of(State state) noexcept {
    switch (state) {
        case State::Idle:
            return "IDLE";
        case State::ReqSent:
            return "REQ_SENT";
        case State::MraReqRcvd:
            return "MRA_REQ_RCVD";
        case State::ReqRcvd:
            return "REQ_RCVD";
        case State::RepSent:
            return "REP_SENT";
        case State::MraRepRcvd:
            return "MRA_REP_RCVD";
        case State::RepRcvd:
            return "REP_RCVD";
        case State::Established:
            return "ESTABLISHED";
        case State::DreqSent:
            return "DREQ_SENT";
        case State::DreqRcvd:
            return "DREQ_RCVD";
        case State::Timewait:
            return "TIMEWAIT";
        case State::SidrReqSent:
            return "SIDR_REQ_SENT";
        case State::SidrReqRcvd:
            return "SIDR_REQ_RCVD";
    }
    return "?";
}

Agent::Agent(hca::Hca& adapter, Consumer& consumer)
    : adapter_(&adapter),
      consumer_(&consumer),
      agent_number_(1),
      last_id_(static_cast<CommId>(draw(adapter, 0xC0)) & 0x7FFFFFFF) {
    adapter.set_management(this);
}

uint64_t Agent::push(sim::SimTime at, Work work) {
    work_.emplace(std::pair(at, ++last_work_), std::move(work));
    if (!in_window_) adapter_->wake_management();
    return last_work_;
}

Connection& Agent::make(State state) {
    do ++last_id_;
    while (last_id_ == 0 || connections_.contains(last_id_));
    Connection& c = connections_[last_id_];
    c.local_id = last_id_;
    c.state = state;
    // The QP is made ready to receive before the REP is sent.
    c.rq_psn = static_cast<uint32_t>(draw(*adapter_, last_id_)) & 0xFFFFFF;
    return c;
}

Connection* Agent::find_mutable(CommId id) {
    const auto it = connections_.find(id);
    return it == connections_.end() ? nullptr : &it->second;
}

const Connection* Agent::find(CommId id) const {
    const auto it = connections_.find(id);
    return it == connections_.end() ? nullptr : &it->second;
}

void Agent::tell(const Event& event, sim::SimTime now) {
    consumer_->on_cm_event(*this, event, now);
}

void Agent::set_timer(uint64_t what, sim::SimTime when) {
    push(when, {WorkKind::ConsumerTimer, 0, what, {}, {}});
}

sim::SimTime Agent::next_time() const noexcept {
    return work_.empty() ? sim::SimTime::max() : work_.begin()->first.first;
}

void Agent::on_mad(const hca::ReceivedMad& mad, sim::SimTime now) {
    in_window_ = true;
    push(now + kReceiveTime, {WorkKind::Arrive, 0, 0, mad, {}});
    in_window_ = false;
}

void Agent::on_time(sim::SimTime now) {
    in_window_ = true;
    const auto [at, number] = work_.begin()->first;
    const Work work = std::move(work_.begin()->second);
    work_.erase(work_.begin());
    switch (work.kind) {
        case WorkKind::Arrive:
            ++counters_.received;
            dispatch(work.mad, now);
            break;
        case WorkKind::Send:
            if (adapter_->send_mad(work.to, work.mad.bytes, now)) ++counters_.sent;
            break;
        case WorkKind::AnswerTimeout:
            if (Connection* c = find_mutable(work.id); c != nullptr) on_answer_timeout(*c, number, now);
            break;
        case WorkKind::TimewaitEnd: {
            Connection* c = find_mutable(work.id);
            if (c == nullptr || c->state != State::Timewait) break;
            c->state = State::Idle;
            by_remote_.erase({c->remote_ca_guid, c->remote_id});
            Event event;
            event.type = EventType::TimewaitExit;
            event.id = work.id;
            if (c->orphan) {
                connections_.erase(work.id);
            } else {
                tell(event, now);
            }
            break;
        }
        case WorkKind::ConsumerTimer: {
            Event event;
            event.timer = work.what;
            tell(event, now);
            break;
        }
    }
    in_window_ = false;
}

void Agent::on_answer_timeout(Connection& c, uint64_t timer, sim::SimTime now) {
    if (c.timer != timer) return;  // answered, or given up
    if (c.retries_left > 0) {
        --c.retries_left;
        ++counters_.retries;
        send(c.ah, c.message, now);
        c.timer = push(now + c.answer_time, {WorkKind::AnswerTimeout, c.local_id, 0, {}, {}});
        return;
    }
    c.timer = 0;
    Event event;
    event.id = c.local_id;
    switch (c.state) {
        case State::ReqSent:
        case State::MraReqRcvd:
        case State::RepSent:
        case State::MraRepRcvd:
        case State::SidrReqSent:
            event.type = EventType::Unreachable;
            c.state = State::Idle;
            by_remote_.erase({c.remote_ca_guid, c.remote_id});
            break;
        case State::DreqSent:
            event.type = EventType::Disconnected;
            enter_timewait(c, now);
            break;
        case State::Idle:
        case State::ReqRcvd:
        case State::RepRcvd:
        case State::Established:
        case State::DreqRcvd:
        case State::Timewait:
        case State::SidrReqRcvd:
            return;
    }
    tell(event, now);
}

int Agent::connect(const ConnectParams& params, CommId& id, sim::SimTime now) {
    if (params.private_data.size() > kPrivateBytes<Req>) return EINVAL;
    Connection& c = make(State::ReqSent);
    id = c.local_id;
    c.transaction_id = transaction_of(id);
    c.service_id = params.service_id;
    c.type = params.type;
    c.ah = params.path.ah;
    c.pkey = params.path.pkey;
    c.mtu = params.path.mtu;
    c.timeout = params.ack_timeout.value_or(
        ack_timeout(adapter_->query_device().local_ca_ack_delay, params.path.packet_life_time));
    c.local_qpn = params.qpn;
    c.responder_resources = params.responder_resources;
    c.initiator_depth = params.initiator_depth;
    c.retry_count = params.retry_count;
    c.rnr_retry_count = params.rnr_retry_count;

    Req req;
    req.local_comm_id = id;
    req.service_id = params.service_id;
    req.local_ca_guid = adapter_->config().node_guid;
    req.local_qpn = params.qpn;
    req.responder_resources = params.responder_resources;
    req.initiator_depth = params.initiator_depth;
    req.remote_response_timeout = req.local_response_timeout = kResponseTimeout;
    req.transport = transport_of(params.type);
    req.extended_transport = req.transport == Transport::Extended ? kExtendedXrc : uint8_t{0};
    req.flow_control = params.flow_control;
    req.starting_psn = c.rq_psn;
    req.retry_count = params.retry_count;
    req.pkey = params.path.pkey;
    req.path_mtu = params.path.mtu;
    req.rnr_retry_count = params.rnr_retry_count;
    req.max_cm_retries = kMaxCmRetries;
    req.srq = params.srq;
    const bool roce = adapter_->config().ports[params.path.ah.port_num - 1U].link_layer == hca::LinkLayer::Ethernet;
    req.local_lid = roce ? 0xFFFF : params.path.slid;
    req.remote_lid = roce ? 0xFFFF : params.path.ah.dlid;
    req.local_gid = params.path.sgid;
    req.remote_gid = params.path.ah.dgid;
    req.flow_label = params.path.ah.flow_label;
    req.packet_rate = params.path.rate;
    req.traffic_class = params.path.ah.traffic_class;
    req.hop_limit = params.path.ah.hop_limit;
    req.sl = params.path.ah.sl;
    req.subnet_local = params.path.ah.hop_limit <= 1;
    req.local_ack_timeout = c.timeout;
    req.vendor_id = params.ece.vendor_id;
    fill_private(req.private_data, params.private_data);
    put(c.message, c.transaction_id, req, params.ece.options);
    send_until_answered(c, time_of(params.path.packet_life_time) * 2 + time_of(kResponseTimeout), now);
    return 0;
}

int Agent::accept(CommId id, const AcceptParams& params, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr || c->state != State::ReqRcvd || params.private_data.size() > kPrivateBytes<Rep>) return EINVAL;
    c->local_qpn = params.qpn;
    c->responder_resources = params.responder_resources;
    c->initiator_depth = params.initiator_depth;
    Rep rep;
    rep.local_comm_id = id;
    rep.remote_comm_id = c->remote_id;
    rep.local_qpn = params.qpn;
    rep.starting_psn = c->rq_psn;
    rep.responder_resources = params.responder_resources;
    rep.initiator_depth = params.initiator_depth;
    rep.target_ack_delay = adapter_->query_device().local_ca_ack_delay & 0x1F;
    rep.flow_control = params.flow_control;
    rep.rnr_retry_count = params.rnr_retry_count;
    rep.srq = params.srq;
    rep.local_ca_guid = adapter_->config().node_guid;
    rep.set_vendor_id(params.ece.vendor_id);
    fill_private(rep.private_data, params.private_data);
    put(c->message, c->transaction_id, rep, params.ece.options);
    c->state = State::RepSent;
    send_until_answered(*c, time_of(c->timeout) + time_of(kResponseTimeout), now);
    return 0;
}

int Agent::confirm(CommId id, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr || c->state != State::RepRcvd) return EINVAL;
    send_rtu(*c, now);
    c->state = State::Established;
    return 0;
}

int Agent::established_by_data(CommId id, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr) return EINVAL;
    if (c->state == State::Established) return EISCONN;
    if (c->state != State::RepSent && c->state != State::MraRepRcvd) return EINVAL;
    stop_repeating(*c);
    c->state = State::Established;
    Event event;
    event.type = EventType::RtuReceived;
    event.id = id;
    tell(event, now);
    return 0;
}

int Agent::reject(CommId id, RejectReason reason, std::span<const uint8_t> private_data, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr || private_data.size() > kPrivateBytes<Rej>) return EINVAL;
    switch (c->state) {
        case State::ReqSent:
        case State::MraReqRcvd:
        case State::ReqRcvd:
        case State::RepRcvd:
            stop_repeating(*c);
            send_rej(*c, reason, private_data, now);
            by_remote_.erase({c->remote_ca_guid, c->remote_id});
            c->state = State::Idle;
            return 0;
        case State::RepSent:
        case State::MraRepRcvd:
            stop_repeating(*c);
            send_rej(*c, reason, private_data, now);
            enter_timewait(*c, now);
            return 0;
        case State::Idle:
        case State::Established:
        case State::DreqSent:
        case State::DreqRcvd:
        case State::Timewait:
        case State::SidrReqSent:
        case State::SidrReqRcvd:
            break;
    }
    return EINVAL;
}

int Agent::disconnect(CommId id, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr) return EINVAL;
    if (c->state == State::Established) {
        send_dreq(*c, now, false);
        c->state = State::DreqSent;
        return 0;
    }
    if (c->state != State::DreqRcvd) return EINVAL;
    send_drep(*c, now);
    enter_timewait(*c, now);
    return 0;
}

int Agent::resolve(const PathRecord& path, uint64_t service_id, std::span<const uint8_t> private_data, CommId& id,
                   sim::SimTime now) {
    if (private_data.size() > kPrivateBytes<SidrReq>) return EINVAL;
    Connection& c = make(State::SidrReqSent);
    id = c.local_id;
    c.transaction_id = transaction_of(id);
    c.service_id = service_id;
    c.type = hca::QpType::Ud;
    c.ah = path.ah;
    c.pkey = path.pkey;
    SidrReq req;
    req.request_id = id;
    req.pkey = path.pkey;
    req.service_id = service_id;
    fill_private(req.private_data, private_data);
    put(c.message, c.transaction_id, req);
    send_until_answered(c, time_of(kResponseTimeout), now);
    return 0;
}

int Agent::answer_resolve(CommId id, SidrStatus status, uint32_t qpn, uint32_t qkey,
                          std::span<const uint8_t> private_data, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr || c->state != State::SidrReqRcvd || private_data.size() > kPrivateBytes<SidrRep>) return EINVAL;
    SidrRep rep;
    rep.request_id = c->remote_id;
    rep.status = status;
    rep.service_id = c->service_id;
    if (status == SidrStatus::Success) {
        rep.qpn = qpn;
        rep.qkey = qkey;
    }
    fill_private(rep.private_data, private_data);
    MadBytes bytes;
    put(bytes, c->transaction_id, rep);
    send(c->ah, bytes, now);
    by_remote_.erase({c->remote_ca_guid, c->remote_id});
    c->state = State::Idle;
    return 0;
}

void Agent::destroy(CommId id, sim::SimTime now) {
    Connection* c = find_mutable(id);
    if (c == nullptr) return;
    stop_repeating(*c);
    switch (c->state) {
        case State::ReqSent:
        case State::MraReqRcvd:
            send_rej(*c, RejectReason::Timeout, {}, now);
            break;
        case State::ReqRcvd:
        case State::RepRcvd:
        case State::RepSent:
        case State::MraRepRcvd:
            send_rej(*c, RejectReason::ConsumerDefined, {}, now);
            break;
        case State::Established:
            send_dreq(*c, now, true);
            enter_timewait(*c, now);
            break;
        case State::DreqRcvd:
            send_drep(*c, now);
            enter_timewait(*c, now);
            break;
        case State::DreqSent:
            enter_timewait(*c, now);
            break;
        case State::SidrReqRcvd:
            (void)answer_resolve(id, SidrStatus::Reject, 0, 0, {}, now);
            break;
        case State::Idle:
        case State::Timewait:
        case State::SidrReqSent:
            break;
    }
    if (c->state == State::Timewait) {
        c->orphan = true;
        return;
    }
    by_remote_.erase({c->remote_ca_guid, c->remote_id});
    connections_.erase(id);
}

}  // namespace simverbs::cm
