// Link-level flow control as a host's port has it: it obeys pauses and never sends any, it takes and gives credits.
#pragma once

#include <cstdint>

#include "models/link/credits.hpp"
#include "models/link/ports.hpp"
#include "models/pfc/pfc.hpp"
#include "models/wire/packet.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

/// Beside an EgressPort, whose bits `blocked` say which priorities may not send now.
class FlowControlEnd {
  public:
    /// Of a port without flow control.
    FlowControlEnd() = default;
    /// `vl_buffer`: InfiniBand: bytes of each VL at both ends of the link.
    FlowControlEnd(const PortWiring& wiring, sim::ByteCount vl_buffer);

    [[nodiscard]] bool is_on() const noexcept { return control_.in != nullptr; }
    /// When the next frame is obeyed, or a pause that was not renewed ends; max() if neither is in sight.
    [[nodiscard]] sim::SimTime next_time(const EgressPort& egress) const noexcept;
    /// Obeys everything that is due.
    void run(EgressPort& egress, sim::SimTime now);
    /// Whether a packet of so many byte times may be sent. If not, its priority is blocked from now on.
    [[nodiscard]] bool may_send(EgressPort& egress, uint32_t priority, uint32_t bytes) const noexcept;
    /// It is being sent.
    void sent(uint32_t priority, uint32_t bytes);
    /// A packet has come, and goes straight to memory: its credits go back at once.
    void received(EgressPort& egress, uint32_t priority, uint32_t bytes, sim::SimTime now);

    [[nodiscard]] uint64_t pauses_received() const noexcept { return pauses_received_; }
    /// That any priority was paused, summed over priorities; pauses that have ended.
    [[nodiscard]] sim::SimTime paused_time() const noexcept { return paused_time_; }

  private:
    void on_pause(EgressPort& egress, const FlowControlFrame& frame);
    void end_pause(EgressPort& egress, uint32_t priority, sim::SimTime now);

    ControlPort control_;
    bool has_credits_ = false;
    Credits credits_;
    sim::BitRate rate_;
    sim::SimTime paused_until_[pfc::kPriorities];
    sim::SimTime paused_since_[pfc::kPriorities];
    uint64_t pauses_received_ = 0;
    sim::SimTime paused_time_;
};

}  // namespace simverbs::link
