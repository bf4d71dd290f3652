#include "models/hca/rc/rc_requester.hpp"

namespace simverbs::hca {

void RcRequester::on_nak(const wire::Packet& packet, wire::Syndrome syndrome, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    if (wire::Psn::distance(r_.una_psn, psn) < 0) return;
    if (!acknowledge_through(psn.previous(), now)) {
        response_lost(now);
        return;
    }
    if (!qp_.sends() || r_.una == r_.end || !qp_.message(r_.una).contains(psn)) return;
    switch (decide_nak(syndrome.value)) {
        case NakVerdict::GoBack:
            ++port().hw.packet_seq_err;
            if (!spend_retry(Check::SequenceRetries, now, &packet)) return;
            r_.deadline = sim::SimTime::max();
            rewind(now);
            return;
        case NakVerdict::InvalidRequest:
            ++port().hw.req_remote_invalid_request;
            fail_oldest(WcStatus::RemInvReqErr, Check::NakReceived, &packet, now);
            return;
        case NakVerdict::AccessError:
            ++port().hw.req_remote_access_errors;
            fail_oldest(WcStatus::RemAccessErr, Check::NakReceived, &packet, now);
            return;
        case NakVerdict::OperationError:
            fail_oldest(WcStatus::RemOpErr, Check::NakReceived, &packet, now);
            return;
        case NakVerdict::Ignore:
            return;
    }
}

void RcRequester::on_rnr_nak(const wire::Packet& packet, wire::Syndrome syndrome, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    if (wire::Psn::distance(r_.una_psn, psn) < 0 || r_.rnr_wait) return;
    if (!acknowledge_through(psn.previous(), now)) {
        response_lost(now);
        return;
    }
    if (!qp_.sends() || r_.una == r_.end || !qp_.message(r_.una).contains(psn)) return;
    constexpr uint8_t kForEver = 7;
    if (qp_.rnr_retry != kForEver) {
        if (r_.rnr_retries == 0) {
            ++port().hw.rnr_nak_retry_err;
            fail_oldest(WcStatus::RnrRetryExcErr, Check::RnrRetries, &packet, now);
            return;
        }
        --r_.rnr_retries;
    }
    r_.rnr_wait = true;  // before the rewind: nothing goes out until the timer fires
    rewind(now);
    r_.deadline = sim::SimTime::max();
    qp_.rnr_timer.set(now + sim::SimTime::ps(wire::rnr_timer_picoseconds(syndrome.value)));
}

void RcRequester::on_rnr_timer(sim::SimTime now) {
    if (!r_.rnr_wait) return;
    r_.rnr_wait = false;
    d_.make_requester_ready(qp_, now);
}

bool RcRequester::spend_retry(Check check, sim::SimTime now, const wire::Packet* packet) {
    constexpr uint8_t kForEver = 7;
    if (qp_.retry_cnt == kForEver && !d_.profile.behaviour.gives_up_after_seven) return true;
    if (r_.retries > 0) {
        --r_.retries;
        return true;
    }
    fail_oldest(WcStatus::RetryExcErr, check, packet, now);
    return false;
}

void RcRequester::fail_oldest(WcStatus status, Check check, const wire::Packet* packet, sim::SimTime now) {
    Incident incident = packet != nullptr ? d_.incident_of(qp_, check, *packet, now) : d_.incident_of(qp_, check, now);
    incident.retries = check == Check::RnrRetries ? qp_.rnr_retry : qp_.retry_cnt;
    if (packet == nullptr) {
        incident.has_packet = true;
        incident.psn = oldest_psn().value();
    }
    d_.fail_send(qp_, r_.una, status, incident, now);
}

}  // namespace simverbs::hca
