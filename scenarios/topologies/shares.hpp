// Which thread of an engine runs which node of a fabric.
#pragma once

#include <vector>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::topologies {

/// The thread of each node: 0 … threads - 1.
struct Shares {
    std::vector<unsigned> hosts;
    std::vector<unsigned> switches;

    [[nodiscard]] unsigned of(NodeRef node) const { return node.is_switch ? switches[node.index] : hosts[node.index]; }
};

/// Shares the nodes out so that threads have the same work, by number of links. Pods stay together, and neighbouring
/// pods where possible; switches of no pod fill up what that leaves uneven.
[[nodiscard]] Shares share_out(const Topology& topology, unsigned threads);

}  // namespace simverbs::scenarios::topologies
