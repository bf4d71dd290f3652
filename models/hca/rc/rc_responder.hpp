// The responder of a reliable connection. A view: its state is in the Qp.
#pragma once

#include <cstdint>

#include "models/hca/device.hpp"
#include "models/hca/transport/inbound_write.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

/// How a fault in a request is answered: NAK code, status of the receive WQE in use, async event.
struct FaultAnswer {
    wire::NakCode nak = wire::NakCode::InvalidRequest;
    WcStatus receive_status = WcStatus::Success;
    EventType event = EventType::QpReqErr;
    bool has_event = true;
};

/// Source: IBTA vol. 1, "Responder error behavior".
[[nodiscard]] constexpr FaultAnswer answer_to(Check check, const Behaviour& adapter) noexcept {
    const bool tells = adapter.tells_bad_requests;
    if (check == Check::RemoteKey || check == Check::RemoteBounds || check == Check::RemoteAccess)
        return {wire::NakCode::RemoteAccessError, adapter.bad_immediate_write, EventType::QpAccessErr, tells};
    if (check == Check::InvalidateRemote)
        return {wire::NakCode::RemoteAccessError, WcStatus::Success, EventType::QpAccessErr, tells};
    if (check == Check::ReceiveTooSmall)
        return {adapter.naks_small_receives_as_invalid ? wire::NakCode::InvalidRequest
                                                       : wire::NakCode::RemoteOperationalError,
                adapter.receive_too_small, EventType::QpReqErr, false};
    if (check == Check::LocalKey || check == Check::LocalBounds || check == Check::LocalAccess ||
        check == Check::LocalMemory)
        return {wire::NakCode::RemoteOperationalError, adapter.bad_receive, EventType::QpAccessErr, false};
    return {wire::NakCode::InvalidRequest, WcStatus::Success, EventType::QpReqErr, tells};
}

class RcResponder {
  public:
    RcResponder(Device& device, Qp& qp) noexcept : d_(device), qp_(qp), rs_(qp.rs) {}

    // rc_responder_request.cpp
    void on_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    /// The QP has been destroyed; its peer may still lack an acknowledge.
    void on_request_at_tombstone(const wire::Packet& packet, sim::SimTime now);

    // rc_responder_read.cpp
    /// Hands the next response packet (or the acknowledge behind them) to the port.
    Pull pull(sim::SimTime now);
    void on_atomic_executed(uint32_t resource, sim::SimTime now);

  private:
    void on_send_or_write(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    void on_read_request(const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] InboundFault find_atomic_fault(const wire::PacketExtra& x, AccessFlags right, bool fits,
                                                 uint32_t length);
    void on_atomic_write(const wire::Packet& packet, sim::SimTime now);
    void on_atomic_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    void on_fault(const InboundFault& fault, const wire::Packet& packet, sim::SimTime now);
    void send_rnr_nak(sim::SimTime now);
    void acknowledge(sim::SimTime now);
    void accept(const wire::Packet& packet, uint32_t psns, bool whole_message) noexcept;

    // rc_responder_duplicate.cpp
    void on_duplicate(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    void replay_read(const wire::Packet& packet, sim::SimTime now);
    void replay_atomic(const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] ResponseResource* resource_with(wire::Psn psn);

    ResponseResource& new_resource();
    void begin_response(const ResponseResource& r, sim::SimTime now);
    /// One packet of an answer. True if the answer is complete.
    bool send_response_packet(ResponseResource& r, sim::SimTime now);
    void send_pending_ack(sim::SimTime now);

    Device& d_;
    Qp& qp_;
    Responder& rs_;
};

}  // namespace simverbs::hca
