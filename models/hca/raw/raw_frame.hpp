// Whole Ethernet frames of a program: raw packet QPs.
#pragma once

#include "models/hca/device.hpp"

namespace simverbs::hca {

inline constexpr uint32_t kEthernetHeaderBytes = 14;

class RawRequester {
  public:
    RawRequester(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), r_(qp.rq) {}
    Pull pull(sim::SimTime now);

  private:
    /// The message's local checks; its stream is open and read if there is no fault.
    [[nodiscard]] Device::LocalFault prepare(Message& m);
    /// Where copies of the frame go: to its destination's port, or for a group address to all.
    [[nodiscard]] std::vector<wire::LeafId> receivers_of(const Message& m) const;
    void send_copy(const Message& m, wire::LeafId to, bool last, sim::SimTime now);

    Device& d_;
    Qp& qp_;
    Requester& r_;
};

}  // namespace simverbs::hca
