// Flows that arrive by chance, at a load, with sizes from a distribution (open loop).
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/workloads/size_distribution.hpp"
#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

/// Flows start within [common.start, until).
struct PoissonParameters {
    WorkloadCommon common;
    std::vector<flow::HostIndex> hosts;  ///< empty: all of the fabric
    std::vector<CdfPoint> sizes;         ///< as SizeDistribution reads it
    double load = 0;                     ///< payload bits sent by a host, as a share of its link's rate; above 0
    sim::BitRate link_rate;              ///< of a host's link
    sim::SimTime until;
};

/// Flows that a host starts in a second: load x link rate / mean size.
[[nodiscard]] double poisson_rate(const PoissonParameters& parameters);

/// Each host starts flows as a Poisson process of its own, each to a destination drawn evenly from the other hosts.
[[nodiscard]] Problems append_poisson(flow::FlowPlan& plan, const PoissonParameters& parameters);

}  // namespace simverbs::scenarios::workloads
