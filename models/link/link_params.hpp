// What a cable is.
#pragma once

#include <cstdint>

#include "models/link/packet_bytes.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

/// Signals in copper and fibre cover about 0.2 m a nanosecond.
inline constexpr sim::SimTime kPropagationPerMetre = sim::SimTime::ns(5);

/// Both directions of a link are alike.
struct LinkParams {
    LinkLayer layer = LinkLayer::Ethernet;
    sim::BitRate rate = sim::BitRate::gbps(100);
    sim::SimTime propagation = kPropagationPerMetre * 2;
    /// From a header's first bit at the receiver's connector to its decision: PHY, FEC, MAC and header bytes.
    sim::SimTime header_latency = sim::SimTime::zero();
    bool vlan = false;  ///< frames carry an 802.1Q tag
    /// Whether the ends pause each other (Ethernet: PFC) or send only what the other has given credits for
    /// (InfiniBand).
    bool flow_control = false;
    /// PFC: how long an end takes to obey a pause frame that has arrived (pfc::response_time).
    sim::SimTime pause_response = sim::SimTime::zero();
};

}  // namespace simverbs::link
