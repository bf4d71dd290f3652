// Whether a plan from elsewhere can be executed at all.
#pragma once

#include <cstdint>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::workloads {

/// Flows that wait for themselves over others; empty if every flow can start.
[[nodiscard]] std::vector<flow::FlowIndex> flows_that_never_start(const flow::FlowPlan& plan);

/// Hosts and groups exist, nobody sends to itself or nothing, dependencies are what a host can know of and have no
/// cycle. Reports every problem with the path "flows[3]" or "dependencies[5]".
bool check_plan(const flow::FlowPlan& plan, uint32_t host_count, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::workloads
