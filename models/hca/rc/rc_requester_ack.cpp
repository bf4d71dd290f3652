#include "models/hca/rc/rc_requester.hpp"

namespace simverbs::hca {

void RcRequester::on_response(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    // Only an answer to something that was sent and is not done yet means anything; a repeated acknowledge of the
    // packet just before may still carry credits or a NAK.
    const wire::Psn psn(packet.psn);
    if (wire::Psn::distance(psn, r_.high_psn) <= 0) return;
    if (wire::Psn::distance(r_.una_psn.previous(), psn) < 0) return;
    switch (info.operation) {
        case wire::Operation::Acknowledge:
            on_ack(packet, now);
            return;
        case wire::Operation::ReadResponse:
            on_read_response(packet, info, now);
            return;
        case wire::Operation::AtomicAcknowledge:
            on_atomic_acknowledge(packet, now);
            return;
        case wire::Operation::Send:
        case wire::Operation::Write:
        case wire::Operation::ReadRequest:
        case wire::Operation::CompareSwap:
        case wire::Operation::FetchAdd:
        case wire::Operation::Flush:
        case wire::Operation::AtomicWrite:
        case wire::Operation::CongestionNotification:
            return;
    }
}

void RcRequester::on_ack(const wire::Packet& packet, sim::SimTime now) {
    const auto syndrome = wire::Syndrome::decode(static_cast<uint8_t>(packet.aeth_syndrome));
    if (!syndrome) return;
    const wire::Psn psn(packet.psn);
    switch (syndrome->kind) {
        case wire::SyndromeKind::Ack:
            take_credits(packet, *syndrome);
            if (!acknowledge_through(psn, now)) response_lost(now);
            d_.fail_if_stopped_here(qp_, now);
            if (qp_.sends()) d_.make_requester_ready(qp_, now);
            return;
        case wire::SyndromeKind::RnrNak:
            on_rnr_nak(packet, *syndrome, now);
            return;
        case wire::SyndromeKind::Nak:
            on_nak(packet, *syndrome, now);
            return;
        case wire::SyndromeKind::Reserved:
            return;
    }
}

void RcRequester::take_credits(const wire::Packet& packet, wire::Syndrome syndrome) {
    if (syndrome.value == wire::kUnlimitedCreditCode) {
        r_.credits_known = false;
        return;
    }
    // MSN has 24 bits; it is never far from the messages started.
    const uint32_t behind = (r_.ssn - packet.aeth_msn) & 0xFFFFFF;
    const uint32_t limit = r_.ssn - behind + wire::kCreditTable[syndrome.value];
    if (!r_.credits_known || static_cast<int32_t>(limit - r_.credit_limit) > 0) r_.credit_limit = limit;
    r_.credits_known = true;
}

bool RcRequester::acknowledge_through(wire::Psn psn, sim::SimTime now) {
    if (wire::Psn::distance(r_.una_psn, psn) < 0) return true;
    bool moved = false;
    bool complete = true;
    while (r_.una != r_.end && qp_.message(r_.una).started) {
        Message& m = qp_.message(r_.una);
        if (m.has_responses()) {
            // Answers come in order: an acknowledge behind an unanswered READ means that its answer was lost.
            if (wire::Psn::distance(oldest_psn(), psn) >= 0) complete = false;
            break;
        }
        if (wire::Psn::distance(m.last_psn(), psn) < 0) {
            if (wire::Psn::distance(r_.una_psn, psn) >= 0 && m.contains(psn)) {
                r_.una_psn = psn.next();
                moved = true;
            }
            break;
        }
        r_.una_psn = m.last_psn().next();
        moved = true;
        if (r_.cur == r_.una) {
            // A rewound requester learns that the rest had arrived, too.
            d_.close_message(m);
            r_.cur = r_.una + 1;
            r_.cur_packet = 0;
            r_.next_psn = r_.una_psn;
        }
        retire_oldest(WcStatus::Success, now);
        if (!qp_.sends()) return true;
    }
    // The same within the message that is being sent again.
    if (r_.cur == r_.una && wire::Psn::distance(r_.next_psn, r_.una_psn) > 0) {
        Message& m = qp_.message(r_.cur);
        if (m.started && !m.has_responses() && m.contains(r_.una_psn)) {
            d_.close_message(m);
            r_.cur_packet = static_cast<uint32_t>(wire::Psn::distance(m.first_psn, r_.una_psn));
            r_.next_psn = r_.una_psn;
        }
    }
    if (moved) progress(now);
    return complete;
}

/// The peer has answered: retry counters are full again, the timer starts anew or stops.
void RcRequester::progress(sim::SimTime now) {
    r_.retries = qp_.retry_cnt;
    r_.rnr_retries = qp_.rnr_retry;
    if (r_.ack_outstanding && wire::Psn::distance(r_.una_psn, r_.ack_req_psn) < 0) r_.ack_outstanding = false;
    if (r_.ack_outstanding && qp_.ack_timeout != sim::SimTime::max()) {
        r_.deadline = now + qp_.ack_timeout;
        if (!qp_.ack_timer.pending()) qp_.ack_timer.set(r_.deadline);
    } else {
        r_.deadline = sim::SimTime::max();
    }
}

void RcRequester::retire_oldest(WcStatus status, sim::SimTime now) {
    const uint32_t number = r_.una;
    Message& m = qp_.message(number);
    if (m.has_responses()) --r_.reads_outstanding;
    ++r_.una;
    m.started = false;
    d_.complete_send(qp_, number, status, now);
    // Binds and invalidations behind it were done in their turn.
    while (r_.una != r_.cur && qp_.sends() && qp_.message(r_.una).started && qp_.message(r_.una).is_local()) {
        const uint32_t local = r_.una++;
        qp_.message(local).started = false;
        d_.complete_send(qp_, local, WcStatus::Success, now);
    }
    d_.note_drained(qp_, now);
}

}  // namespace simverbs::hca
