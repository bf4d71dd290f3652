// From a scenario's workloads to flows.
#pragma once

#include <optional>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_adapters.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/run_result.hpp"
#include "scenarios/run/services.hpp"

namespace simverbs::scenarios::run {

struct BuiltWorkloads {
    flow::FlowPlan plan;
    std::vector<GroupRecord> groups;  ///< as FlowPlan::groups, with what is known of each
};

/// "All hosts", and so many of them, are those without adapters; no flow may begin or end at one with.
/// Every problem goes to `sink`, which must be empty; nullopt if there was any. DSCPs get their numbers in `services`.
[[nodiscard]] std::optional<BuiltWorkloads> build_workloads(const ScenarioSpec& spec, const BuiltTopology& topology,
                                                            const BuiltAdapters& adapters, Services& services,
                                                            DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
