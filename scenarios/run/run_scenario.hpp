// Runs one scenario: to its end, looking at it now and then.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::run {

/// What is looked at while the run goes on.
struct Sampling {
    sim::SimTime interval;  ///< zero: only at `instants`
    std::vector<sim::SimTime> instants;
    bool all_ports = false;
    std::vector<std::string> ports;  ///< by name: "tor0/5", "h3", "tor0" (all its ports)
    bool all_switches = false;
    std::vector<std::string> switches;
    std::vector<uint32_t> flows;  ///< by number; only the first kMostSampledFlows
    bool all_flows = false;

    [[nodiscard]] bool empty() const noexcept {
        return !all_ports && ports.empty() && !all_switches && switches.empty() && flows.empty() && !all_flows;
    }
};
inline constexpr size_t kMostSampledFlows = 256;

/// How a run is watched from outside; called a few times a second of wall time. False: stop (the result says Until).
using Progress = std::function<bool(sim::SimTime now, uint64_t flows_ended, uint64_t flows)>;

/// Runs what was built to its end and collects the result. `sampling` adds to what the scenario's `outputs.series` ask
/// for. Nothing that comes forward for kStuckAfter (or 100 retransmission timeouts) while flows are outstanding ends
/// the run as Stuck.
[[nodiscard]] RunResult run_scenario(const ScenarioSpec& spec, BuiltScenario& built, const Sampling& sampling,
                                     const Progress& progress = {});

inline constexpr sim::SimTime kStuckAfter = sim::SimTime::ms(100);

}  // namespace simverbs::scenarios::run
