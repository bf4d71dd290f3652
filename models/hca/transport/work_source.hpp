// Where a requester gets its work from when there are no send queues: a scenario's flow.
#pragma once

#include <cstdint>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// One message of a flow: lengths only, no memory behind it.
struct FlowMessage {
    WrOpcode opcode = WrOpcode::RdmaWrite;
    uint32_t length = 0;
    uint64_t cookie = 0;  ///< comes back in done()
};

/// Work for a flow QP. Called in the node's event order; must not call back into the Hca.
class WorkSource {
  public:
    virtual ~WorkSource() = default;
    /// The next message to send, false if there is none now (Hca::wake_flow tells when there is again).
    virtual bool next(FlowMessage& message, sim::SimTime now) = 0;
    /// A message was acknowledged (RC), left the port (UC), or failed.
    virtual void done(uint64_t cookie, WcStatus status, sim::SimTime now) = 0;
    /// A whole message of `bytes` arrived here.
    virtual void arrived(uint32_t /*bytes*/, sim::SimTime /*now*/) {}
};

}  // namespace simverbs::hca
