// Every host sends to one other, and every host receives from one.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

struct PermutationParameters {
    WorkloadCommon common;
    std::vector<flow::HostIndex> hosts;  ///< empty: all of the fabric
    sim::ByteCount bytes = 0;
    sim::SimTime jitter;  ///< each flow starts later by a time drawn from [0, jitter)
};

/// A derangement of 0 … n-1 (no element stays), all equally likely; n > 1.
[[nodiscard]] std::vector<uint32_t> random_derangement(uint32_t n, const sim::Draws& draws);

/// hosts[i] sends to hosts[d[i]], d a random derangement.
[[nodiscard]] Problems append_permutation(flow::FlowPlan& plan, const PermutationParameters& parameters);

}  // namespace simverbs::scenarios::workloads
