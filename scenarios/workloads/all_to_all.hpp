// Every host sends to every other.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

struct AllToAllParameters {
    WorkloadCommon common;
    std::vector<flow::HostIndex> hosts;  ///< empty: all of the fabric
    sim::ByteCount bytes = 0;            ///< from each host to each other
    int64_t at_once = 0;                 ///< flows that a host has in flight; 0: all
    sim::SimTime jitter;                 ///< each host starts later by a time drawn from [0, jitter)
};

/// Host i sends to hosts i+1, i+2, … round the list; flow k of a host starts when its flow k - at_once has been
/// acknowledged.
[[nodiscard]] Problems append_all_to_all(flow::FlowPlan& plan, const AllToAllParameters& parameters);

}  // namespace simverbs::scenarios::workloads
