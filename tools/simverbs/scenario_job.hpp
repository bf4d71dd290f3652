// One run of a scenario: built, run, judged, written.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "scenarios/run/run_result.hpp"
#include "sim/watcher.hpp"
#include "tools/simverbs/exit_code.hpp"

namespace simverbs::tools {

/// One run of a sweep, or a scenario's only one.
struct ScenarioJob {
    scenarios::ScenarioSpec* spec = nullptr;
    std::filesystem::path folder;
    std::string problems;  ///< of the build; empty: it ran
    scenarios::run::RunResult result;
    std::vector<scenarios::expect::ExpectationVerdict> verdicts;
    std::vector<std::string> write_errors;
    std::string summary;  ///< for the terminal
    bool was_run = false;
    int code = kSuccess;
};

/// How somebody outside has a part in a run.
struct RunControl {
    sim::Watcher* beside = nullptr;  ///< sees the fabric at the times that it asks for
    /// Before the fabric is built: may have a say in its parts.
    std::function<void(scenarios::run::BuiltScenario&)> on_plan{};
};

/// Builds what the job's scenario describes, runs it, and writes its folder. A mistake goes to `problems`.
void execute(ScenarioJob& job, const RunControl& control = {});

}  // namespace simverbs::tools
