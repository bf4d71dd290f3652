// The requester of an unreliable connection: sends and forgets.
#pragma once

#include "models/hca/device.hpp"

namespace simverbs::hca {

class UcRequester {
  public:
    UcRequester(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), r_(qp.rq) {}
    /// Hands the next packet to the port, if there is one. A message completes when its last packet has left.
    Pull pull(sim::SimTime now);

  private:
    /// BIND_MW, LOCAL_INV.
    void run_local(Message& m, sim::SimTime now);
    void build_packet(const Message& m, TxEntry& entry);

    Device& d_;
    Qp& qp_;
    Requester& r_;
};

}  // namespace simverbs::hca
