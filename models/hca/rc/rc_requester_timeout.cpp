#include "models/hca/rc/rc_requester.hpp"

namespace simverbs::hca {

/// The one timer of the QP fires at a deadline that may have moved on since it was set.
void RcRequester::on_ack_timer(sim::SimTime now) {
    if (!qp_.sends() || r_.deadline == sim::SimTime::max()) return;
    if (now < r_.deadline) {
        qp_.ack_timer.set(r_.deadline);
        return;
    }
    r_.deadline = sim::SimTime::max();
    if (r_.una == r_.end || !qp_.message(r_.una).started) return;
    ++port().hw.local_ack_timeout_err;
    if (QpCongestion* c = d_.congestion_of(qp_); c != nullptr)
        d_.config.congestion.algorithm->on_timeout(c->state.data(), c->path, now, c->control);
    if (d_.observer != nullptr && qp_.verbs != nullptr)
        d_.observer->on_ack_timeout(qp_.qpn, oldest_psn().value(), r_.retries, now);
    if (!spend_retry(Check::AckTimeout, now, nullptr)) return;
    r_.read_recovery = false;
    rewind(now);
}

}  // namespace simverbs::hca
