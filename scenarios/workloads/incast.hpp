// Many hosts send to one at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

struct IncastParameters {
    WorkloadCommon common;
    std::vector<flow::HostIndex> senders;
    flow::HostIndex target = 0;
    sim::ByteCount bytes = 0;  ///< of each sender, in each burst
    sim::SimTime jitter;       ///< each flow starts later by a time drawn from [0, jitter)
    int64_t bursts = 1;
    sim::SimTime period;  ///< from burst to burst; must be positive if there are several
};

/// Each sender sends `bytes` to `target` in each burst.
[[nodiscard]] Problems append_incast(flow::FlowPlan& plan, const IncastParameters& parameters);

}  // namespace simverbs::scenarios::workloads
