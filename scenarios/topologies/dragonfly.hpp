// Dragonfly: groups of fully connected routers, groups fully connected by global links.
#pragma once

#include <cstdint>

#include "scenarios/topologies/topology_builder.hpp"

namespace simverbs::scenarios::topologies {

/// Kim, Dally, Scott, Abts, ISCA 2008: a, p, h and g. The a x h global links of a group go round the other groups, as
/// often as all get equally many; what is left over stays unused. Host x is at router x / hosts_per_router.
struct DragonflyParameters {
    uint32_t routers_per_group = 4;        ///< a
    uint32_t hosts_per_router = 2;         ///< p
    uint32_t global_links_per_router = 2;  ///< h
    uint32_t groups = 0;                   ///< g, at most a x h + 1; 0: that many
    LinkParameters host_link;
    LinkParameters local_link;
    LinkParameters global_link;
};
/// Routers are "router0", … (tier Leaf); a group is a pod.
[[nodiscard]] Problems make_dragonfly(Topology& topology, const DragonflyParameters& parameters);

}  // namespace simverbs::scenarios::topologies
