// From a scenario's workloads to flows.
#pragma once

#include <algorithm>
#include <string_view>
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
    /// By group: something in it is wrong, and its flows are not in the plan.
    std::vector<bool> is_left_out;

    [[nodiscard]] bool has_all() const { return std::ranges::find(is_left_out, true) == is_left_out.end(); }
    /// Has it all flows of this workload? ("": of all)
    [[nodiscard]] bool has_all(std::string_view workload) const;
};

/// "All hosts", and so many of them, are those without adapters; no flow may begin or end at one with.
/// Every problem goes to `sink`; of a workload that has one, or is not complete, only the names are checked. DSCPs get
/// their numbers in `services`.
[[nodiscard]] BuiltWorkloads build_workloads(const ScenarioSpec& spec, const BuiltTopology& topology,
                                             const BuiltAdapters& adapters, Services& services, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
