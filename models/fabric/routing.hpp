// Shortest paths with all their alternatives (ECMP), from the cables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/switch/forwarding_table.hpp"
#include "models/wire/packet.hpp"

namespace simverbs::fabric {

struct RoutedEnd {
    bool is_switch = false;
    uint32_t node = 0;      ///< number of the switch
    PortIndex port = 0;     ///< of the switch
    wire::LeafId leaf = 0;  ///< of an adapter's port
};
struct RoutedLink {
    RoutedEnd a, b;
};

/// Fills the tables: at each switch, for each leaf, a group of all ports on a shortest path, in the order of ports.
void install_shortest_paths(std::span<const RoutedLink> links, std::span<ForwardingTable* const> tables);

}  // namespace simverbs::fabric
