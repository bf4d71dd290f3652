// Datagrams out: one packet a message, addressed by its address handle.
#pragma once

#include "models/hca/device.hpp"

namespace simverbs::hca {

class UdRequester {
  public:
    UdRequester(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), r_(qp.rq) {}
    Pull pull(sim::SimTime now);

  private:
    void send_copy(const Message& m, const SendWqe& w, const Path& path, bool last, sim::SimTime now);
    void send_multicast(const Message& m, const SendWqe& w, const Path& path, sim::SimTime now);

    Device& d_;
    Qp& qp_;
    Requester& r_;
    uint32_t multicast_copies_ = 1;
};

}  // namespace simverbs::hca
