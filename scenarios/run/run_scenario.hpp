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
#include "sim/watcher.hpp"

namespace simverbs::scenarios::run {

/// What is looked at while the run goes on.
struct Sampling {
    sim::SimTime interval;               ///< zero: only at `instants`
    std::vector<sim::SimTime> instants;  ///< ascending
    // Numbers in the RunResult.
    std::vector<uint32_t> ports;
    std::vector<uint32_t> switches;
    std::vector<uint32_t> flows;

    /// Where the captures go that `outputs.pcap` asks for: "h0.pcap", "tor0-5.pcap". "": none is written.
    std::string capture_folder;

    [[nodiscard]] bool empty() const noexcept { return ports.empty() && switches.empty() && flows.empty(); }
};
/// Rates of that many flows at most are sampled because `outputs.series` asks for rates.
inline constexpr uint32_t kMostSampledFlows = 256;
/// Where nobody says how often.
inline constexpr sim::SimTime kSampleInterval = sim::SimTime::us(10);

/// How a run is watched from outside; called a few times a second of wall time. False: stop (the result says Until).
using Progress = std::function<bool(sim::SimTime now, uint64_t flows_ended, uint64_t flows)>;

/// Moves the engine of a run with programs until they have ended; stops it where the watcher wants to look. False: the
/// run ends here, else flows run on to their end.
using Driver = std::function<bool(sim::Watcher&)>;

/// Who has a part in a run from outside; each may be absent.
struct RunHooks {
    Progress progress{};
    Driver programs{};
    sim::Watcher* beside = nullptr;  ///< looks at the fabric at times of its own
};

/// Names, hosts, switches, ports, links, groups and flows of a run before it begins; all counts are zero.
[[nodiscard]] RunResult describe(const ScenarioSpec& spec, const BuiltScenario& built);

/// What names can stand for, of a plan whose fabric has not been built; without a network only its groups.
[[nodiscard]] RunResult describe_names(const ScenarioSpec& spec, const ScenarioPlan& plan);

/// Runs what was built to its end and completes `parts`, which is describe()'s, to the result. `sampling` adds to what
/// the scenario's `outputs.series` ask for. Nothing that comes forward for kStuckAfter (or 100 retransmission timeouts)
/// while flows are outstanding ends the run as Stuck; that is not looked for while `programs` run.
[[nodiscard]] RunResult run_scenario(const ScenarioSpec& spec, BuiltScenario& built, RunResult parts,
                                     const Sampling& sampling, const RunHooks& hooks = {});

inline constexpr sim::SimTime kStuckAfter = sim::SimTime::ms(100);

}  // namespace simverbs::scenarios::run
