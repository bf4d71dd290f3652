// From a scenario to a fabric of flows that can run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/build_workloads.hpp"
#include "scenarios/run/flow_capture.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::run {

/// Everything of one run.
struct BuiltScenario {
    BuiltTopology topology;
    std::vector<GroupRecord> groups;
    std::vector<FaultRecord> faults;
    ServiceCodes codes;  ///< for captures
    std::unique_ptr<cc::CongestionControl> cc;
    std::unique_ptr<FlowFabric> fabric;
};

/// Every problem goes to `sink`, which must be empty; nullopt if there was any. `spec` must outlive the result.
[[nodiscard]] std::optional<BuiltScenario> build_scenario(const ScenarioSpec& spec, DiagnosticSink& sink);

/// What the language must know to read scenarios: profiles and congestion control algorithms.
[[nodiscard]] ScenarioOptions scenario_options();

}  // namespace simverbs::scenarios::run
