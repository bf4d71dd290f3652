// Levels, tiers and pods of a fabric that comes without them.
#pragma once

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::topologies {

/// Sets level, tier and pod from the wiring. A switch's level is its distance to the nearest host; the highest level is
/// the core unless it is the leaves', and what hangs together without the core is a pod. Links must name nodes that
/// exist; the fabric need not be in one piece.
void assign_levels(Topology& topology);

}  // namespace simverbs::scenarios::topologies
