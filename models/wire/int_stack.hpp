// In-band network telemetry: what each hop writes into a packet that asks for it (Li et al., HPCC, SIGCOMM 2019).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/check.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::wire {

/// The rate of a link in four bytes: whole Mb/s.
class HopRate {
  public:
    constexpr HopRate() noexcept = default;
    constexpr explicit HopRate(sim::BitRate rate) noexcept : mbps_(static_cast<uint32_t>(rate.in_bps() / 1'000'000)) {}
    [[nodiscard]] constexpr sim::BitRate rate() const noexcept { return sim::BitRate::mbps(mbps_); }

  private:
    uint32_t mbps_ = 0;
};

/// One egress, at the instant at which it began to send the packet.
struct IntHop {
    sim::SimTime time;
    uint64_t tx_bytes = 0;     ///< that the port had sent before
    uint32_t queue_bytes = 0;  ///< that waited behind the packet
    HopRate rate;              ///< of the link
};
static_assert(sizeof(IntHop) == 24);

/// The hops so far, in the order of the path.
struct IntStack {
    static constexpr uint32_t kMaxHops = 8;
    std::array<IntHop, kMaxHops> hops;
    uint32_t count = 0;

    void push(const IntHop& hop) noexcept {
        SIM_CHECK(count < kMaxHops, count);
        hops[count++] = hop;
    }
    [[nodiscard]] std::span<const IntHop> all() const noexcept { return {hops.data(), count}; }
};

}  // namespace simverbs::wire
