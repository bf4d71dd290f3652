// What the CM sends.
#include "models/cm/agent.hpp"

namespace simverbs::cm {

void Agent::send(const hca::AhAttr& to, const MadBytes& bytes, sim::SimTime now) {
    Work work;
    work.kind = WorkKind::Send;
    work.mad.bytes = bytes;
    work.to = to;
    push(now + kSendTime, std::move(work));
}

/// Within the transaction of what it answers; it is not repeated.
template <typename Message>
void Agent::answer(const Connection& c, const Message& message, sim::SimTime now) {
    MadBytes bytes;
    put(bytes, c.transaction_id, message);
    send(c.ah, bytes, now);
}

void Agent::send_until_answered(Connection& c, sim::SimTime answer_time, sim::SimTime now) {
    c.answer_time = answer_time;
    c.retries_left = kMaxCmRetries;
    send(c.ah, c.message, now);
    c.timer = push(now + answer_time, {WorkKind::AnswerTimeout, c.local_id, 0, {}, {}});
}

void Agent::send_rej(const Connection& c, RejectReason reason, std::span<const uint8_t> private_data,
                     sim::SimTime now) {
    Rej rej;
    rej.local_comm_id = c.state == State::ReqRcvd ? 0 : c.local_id;
    rej.remote_comm_id = c.remote_id;
    rej.answered = c.state == State::ReqRcvd   ? Answered::Req
                   : c.state == State::RepRcvd ? Answered::Rep
                                               : Answered::Other;
    rej.reason = reason;
    if (reason == RejectReason::Timeout) {
        // Which CA gave up: the peer knows the connection by it and by the id.
        rej.info_length = 8;
        for (size_t i = 0; i < 8; ++i)
            rej.additional_info[i] = static_cast<uint8_t>(adapter_->config().node_guid >> (56 - 8 * i));
    }
    fill_private(rej.private_data, private_data);
    answer(c, rej, now);
}

void Agent::send_mra(const Connection& c, Answered answered, sim::SimTime now) {
    Mra mra;
    mra.local_comm_id = c.local_id;
    mra.remote_comm_id = c.remote_id;
    mra.answered = answered;
    mra.service_timeout = kMraTimeout;
    answer(c, mra, now);
}

void Agent::send_rtu(const Connection& c, sim::SimTime now) {
    Rtu rtu;
    rtu.local_comm_id = c.local_id;
    rtu.remote_comm_id = c.remote_id;
    answer(c, rtu, now);
}

void Agent::send_dreq(Connection& c, sim::SimTime now, bool once) {
    Dreq dreq;
    dreq.local_comm_id = c.local_id;
    dreq.remote_comm_id = c.remote_id;
    dreq.remote_qpn = c.remote_qpn;
    put(c.message, transaction_of(c.local_id), dreq);
    if (once)
        send(c.ah, c.message, now);
    else
        send_until_answered(c, time_of(c.timeout), now);
}

void Agent::send_drep(const Connection& c, sim::SimTime now) {
    Drep drep;
    drep.local_comm_id = c.local_id;
    drep.remote_comm_id = c.remote_id;
    answer(c, drep, now);
}

void Agent::enter_timewait(Connection& c, sim::SimTime now) {
    stop_repeating(c);
    c.state = State::Timewait;
    push(now + time_of(c.timeout), {WorkKind::TimewaitEnd, c.local_id, 0, {}, {}});
}

}  // namespace simverbs::cm
