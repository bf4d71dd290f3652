// Link-level flow control as a host's port has it: it obeys pauses, it takes and gives credits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/link/credits.hpp"
#include "models/link/ports.hpp"
#include "models/pfc/pfc.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

/// Beside an EgressPort, whose bits `blocked` say which priorities (InfiniBand: VLs) may not send now.
class FlowControlEnd {
  public:
    /// Of a port without flow control.
    FlowControlEnd() = default;
    /// `vl_buffer`: InfiniBand: bytes of each VL at both ends of the link.
    FlowControlEnd(const PortWiring& wiring, sim::ByteCount vl_buffer);

    [[nodiscard]] bool is_on() const noexcept { return control_.in != nullptr; }
    [[nodiscard]] bool has_credits() const noexcept { return credits_ != nullptr; }
    /// Where flow control frames come in and leave.
    [[nodiscard]] const ControlPort& port() const noexcept { return control_; }
    /// When the first pause ends that is not renewed; max() if there is none.
    [[nodiscard]] sim::SimTime next_pause_end(const EgressPort& egress) const noexcept;
    /// When the next frame is obeyed, or a pause that was not renewed ends; max() if neither is in sight.
    [[nodiscard]] sim::SimTime next_time(const EgressPort& egress) const noexcept;
    /// Obeys everything that is due.
    void run(EgressPort& egress, sim::SimTime now);
    /// Whether a packet of so many byte times may be sent. If not, its priority is blocked from now on.
    [[nodiscard]] bool may_send(EgressPort& egress, uint32_t priority, uint32_t bytes, sim::SimTime now);
    /// It is being sent.
    void sent(uint32_t priority, uint32_t bytes) {
        if (credits_ != nullptr) credits_->sent(priority, bytes);
    }
    /// A packet has come, and goes straight to memory: its credits go back at once.
    void received(EgressPort& egress, uint32_t priority, uint32_t bytes, sim::SimTime now);

    [[nodiscard]] uint64_t pauses_received() const noexcept { return pauses_received_; }
    /// Of pauses (InfiniBand: waits for credits) that are over, summed over priorities.
    [[nodiscard]] sim::SimTime paused_time() const noexcept { return paused_time_; }
    /// The same with those that go on at `now`.
    [[nodiscard]] sim::SimTime paused_time(const EgressPort& egress, sim::SimTime now) const noexcept;
    /// Bytes that it takes beside itself.
    [[nodiscard]] size_t memory() const noexcept {
        return (credits_ != nullptr ? sizeof *credits_ : 0) + pauses_.capacity() * sizeof(Pause);
    }

  private:
    /// Of one priority (InfiniBand: VL), once it has been blocked.
    struct Pause {
        sim::SimTime until;
        sim::SimTime since;
        uint32_t priority = 0;
    };
    /// Valid until another one is asked for.
    [[nodiscard]] Pause& pause_of(uint32_t priority);
    [[nodiscard]] const Pause& pause_of(uint32_t priority) const;
    void on_pause(EgressPort& egress, const FlowControlFrame& frame);
    void block(EgressPort& egress, uint32_t priority, sim::SimTime now);
    void unblock(EgressPort& egress, uint32_t priority, sim::SimTime now) noexcept;

    ControlPort control_;
    std::unique_ptr<Credits> credits_;  ///< InfiniBand
    sim::BitRate rate_;
    std::vector<Pause> pauses_;
    uint64_t pauses_received_ = 0;
    sim::SimTime paused_time_;
};

}  // namespace simverbs::link
