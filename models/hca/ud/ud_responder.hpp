// Datagrams in.
#pragma once

#include "models/hca/device.hpp"

namespace simverbs::hca {

/// Bytes in front of the data of a received datagram.
inline constexpr uint32_t kGrhAreaBytes = 40;

class UdResponder {
  public:
    UdResponder(Device& device, Qp& qp) noexcept : d_(device), qp_(qp) {}
    void on_datagram(Port& port, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);

  private:
    /// The GRH, or the IP header in its place, as the adapter writes it. False on InfiniBand without a GRH.
    bool make_grh_area(const Port& port, const wire::Packet& packet, std::span<uint8_t, kGrhAreaBytes> out) const;

    Device& d_;
    Qp& qp_;
};

}  // namespace simverbs::hca
