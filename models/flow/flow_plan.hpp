// What traffic a simulation has to carry, as plain data: flows between hosts and what must happen before each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::flow {

/// Dense number of a host of the fabric.
using HostIndex = uint32_t;
/// Dense number of a flow in its FlowPlan.
using FlowIndex = uint32_t;

/// One message from one host to another: an RC WRITE on a QP of its own.
struct FlowSpec {
    HostIndex src = 0;
    HostIndex dst = 0;
    sim::ByteCount bytes = 0;
    sim::SimTime start;    ///< not before this, and not before the flows that it waits for
    uint32_t group = 0;    ///< in FlowPlan::groups: the workload that it belongs to
    uint8_t priority = 3;  ///< service that its packets ask for: SL; 802.1p priority, or a number for a DSCP
};

/// `after` may start when `before` has arrived as a whole (if after.src is before.dst) or has been acknowledged as a
/// whole (if after.src is before.src). One of the two must hold: a host knows only what happens at itself.
struct FlowDependency {
    FlowIndex before = 0;
    FlowIndex after = 0;
};

/// Flows in any order of start times.
struct FlowPlan {
    std::vector<FlowSpec> flows;
    std::vector<FlowDependency> dependencies;
    std::vector<std::string> groups;  ///< names of the workloads
};

}  // namespace simverbs::flow
