// The responder of an unreliable connection: takes whole messages in order, drops everything else.
#pragma once

#include "models/hca/device.hpp"
#include "models/hca/transport/inbound_write.hpp"

namespace simverbs::hca {

/// What a UC request is worth.
enum class UcVerdict : uint8_t { Accept, DropPacket };

/// A packet out of order ends the message in progress; only a FIRST or ONLY starts anew.
/// Source: IBTA vol. 1, "Unreliable connection: responder".
[[nodiscard]] constexpr UcVerdict decide_uc_packet(wire::Psn expected, InboundMessage inbound,
                                                   const wire::OpcodeInfo& info, wire::Psn psn) noexcept {
    if (info.starts_message()) return UcVerdict::Accept;
    const auto kind = info.operation == wire::Operation::Send ? InboundMessage::Send : InboundMessage::Write;
    return expected == psn && inbound == kind ? UcVerdict::Accept : UcVerdict::DropPacket;
}

class UcResponder {
  public:
    UcResponder(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), rs_(qp.rs) {}
    void on_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);

  private:
    /// The message is lost; a receive WQE that it has taken waits for the next one.
    void drop_message() noexcept { rs_.inbound = InboundMessage::None; }
    void on_fault(const InboundFault& fault, const wire::Packet& packet, sim::SimTime now);

    Device& d_;
    Qp& qp_;
    Responder& rs_;
};

}  // namespace simverbs::hca
