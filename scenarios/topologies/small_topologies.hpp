// Topologies of one path: back to back, a switch, a dumbbell, a parking lot.
#pragma once

#include <cstdint>

#include "scenarios/topologies/topology_builder.hpp"

namespace simverbs::scenarios::topologies {

/// Two hosts and a cable.
struct BackToBackParameters {
    LinkParameters link;
};
[[nodiscard]] Problems make_back_to_back(Topology& topology, const BackToBackParameters& parameters);

/// `hosts` hosts at switch sw0.
struct SingleSwitchParameters {
    uint32_t hosts = 2;
    LinkParameters host_link;
};
[[nodiscard]] Problems make_single_switch(Topology& topology, const SingleSwitchParameters& parameters);

/// Hosts at sw0 (the first ones) and sw1, with one link between the two.
struct DumbbellParameters {
    uint32_t left_hosts = 2;
    uint32_t right_hosts = 2;
    LinkParameters host_link;
    LinkParameters bottleneck;
};
[[nodiscard]] Problems make_dumbbell(Topology& topology, const DumbbellParameters& parameters);

/// Switches in a row, hosts at each: flows along the row meet others at every hop.
struct ParkingLotParameters {
    uint32_t switches = 3;
    uint32_t hosts_per_switch = 1;
    LinkParameters host_link;
    LinkParameters trunk;
};
[[nodiscard]] Problems make_parking_lot(Topology& topology, const ParkingLotParameters& parameters);

}  // namespace simverbs::scenarios::topologies
