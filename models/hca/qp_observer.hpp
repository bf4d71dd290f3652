// A tap on the queue pairs of an adapter: what a QP's own software cannot see in one place.
#pragma once

#include <cstdint>

#include "models/hca/explanation.hpp"
#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Where receive WQEs wait: a QP's receive queue, or an SRQ.
struct ReceiveQueueName {
    bool is_srq = false;
    uint32_t number = 0;  ///< QP number, or SrqHandle
    friend bool operator==(const ReceiveQueueName&, const ReceiveQueueName&) = default;
};

/// Hears of the life of QPs that programs make, of their work requests and completions. Calls come in the adapter's
/// event order; those of posts and control calls between windows, with their own stamps. It must not call back into the
/// Hca. Numbers of WQEs count for ever (modulo 2^32), for each queue from 0.
class QpObserver {
  public:
    virtual ~QpObserver() = default;
    /// In RESET.
    virtual void on_qp_created(uint32_t qpn, QpType type, sim::SimTime at) = 0;
    /// A state change, a failed check, or both.
    virtual void on_incident(const Incident& incident) = 0;
    virtual void on_qp_destroyed(uint32_t qpn, sim::SimTime at) = 0;
    virtual void on_send_posted(uint32_t qpn, uint32_t number, const SendWr& wr, uint32_t length, sim::SimTime at) = 0;
    virtual void on_receive_posted(ReceiveQueueName queue, uint32_t number, const RecvWr& wr, sim::SimTime at) = 0;
    /// The adapter is done with a send WQE; whether a CQE follows is the program's choice.
    virtual void on_send_done(uint32_t qpn, uint32_t number, WcStatus status, sim::SimTime at) = 0;
    /// Written; the program can see it at `visible_at`. Cqe::queue_tail is one past the WQE's number (SRQ: a count).
    virtual void on_cqe(const Cqe& cqe, sim::SimTime visible_at) = 0;
    /// The local ACK timeout of a requester has run out: it goes back to `psn`, if `retries_left` (before this) allows.
    virtual void on_ack_timeout(uint32_t qpn, uint32_t psn, uint32_t retries_left, sim::SimTime at) = 0;
};

}  // namespace simverbs::hca
