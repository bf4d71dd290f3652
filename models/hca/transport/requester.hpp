// The requester's half of a connected QP.
#pragma once

#include <cstdint>

#include "models/hca/explanation.hpp"
#include "models/hca/verbs_types.hpp"
#include "models/wire/psn.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Hot state of a requester. Message numbers count for ever (modulo 2^32): done < una ≤ cur ≤ end.
struct Requester {
    uint32_t una = 0;                             ///< oldest message that is not complete
    uint32_t cur = 0;                             ///< message being sent
    uint32_t end = 0;                             ///< messages before this are known to the adapter
    uint32_t cur_packet = 0;                      ///< packets of `cur` that have been sent
    wire::Psn next_psn;                           ///< of the next packet
    wire::Psn una_psn;                            ///< oldest PSN that is not acknowledged
    wire::Psn high_psn;                           ///< one past the highest PSN ever sent
    wire::Psn ack_req_psn;                        ///< last packet that asked for an acknowledge
    sim::SimTime deadline = sim::SimTime::max();  ///< of the oldest packet that awaits an acknowledge
    sim::SimTime next_message_at;                 ///< message rate limit of the QP
    uint32_t ssn = 0;                             ///< messages started
    uint32_t credit_limit = 0;                    ///< last SSN that the responder has a receive WQE for
    uint16_t unrequested = 0;                     ///< packets since the last AckReq
    uint8_t retries = 0, rnr_retries = 0;         ///< left
    uint8_t reads_outstanding = 0;
    bool queued = false;           ///< in the port's round robin
    bool rnr_wait = false;         ///< until the RNR timer fires
    bool credits_known = false;    ///< the responder counts credits
    bool read_recovery = false;    ///< a READ was asked for again; responses out of order are stale
    bool ack_outstanding = false;  ///< ack_req_psn means something
    bool stopped = false;          ///< at a WQE that failed its local checks; it completes when it is the oldest
    WcStatus local_status = WcStatus::Success;
    Check local_check = Check::None;
};
static_assert(sizeof(Requester) <= 96);

}  // namespace simverbs::hca
