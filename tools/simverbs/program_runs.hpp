// A scenario of programs: runs it and says how it went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/run_result.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::tools {

struct ProgramRunOptions {
    bool echo = false;        ///< what the programs print, line by line as it comes, "[name] " in front
    bool explain = false;     ///< collect explanations
    std::string pcap_folder;  ///< of the ports that the scenario names, or of all; "": no capture
};

/// How one program went.
struct ProgramOutcome {
    std::string name;
    std::string host;
    std::string command;
    bool was_started = false;
    sim::SimTime started;         ///< simulated
    bool was_ready = false;       ///< by its `ready`
    bool has_timed_out = false;   ///< and was ended for it
    bool died_with_host = false;  ///< a fault killed its host
    /// Its exit code, 128 + n if signal n ended it; nullopt if it was never started.
    std::optional<int> exit_code;
    int signal = 0;      ///< that ended it; 0: none
    std::string output;  ///< stdout and stderr, the middle left out where there is too much of it
    bool has_expected_exit = false;
    bool has_expected_output = false;
    std::string problem;  ///< one sentence; empty if everything is as expected
};

struct ExpectationOutcome {
    std::string name;
    std::string text;
    bool holds = false;
    std::string found;  ///< "it fired 3 times"
};

enum class ProgramRunEnding : uint8_t {
    Done,
    Stalled,      ///< nothing could happen any more while programs still waited
    Interrupted,  ///< Ctrl-C or SIGTERM
};

/// Plain data; the same scenario and seed give the same (but for process numbers in the stall report).
struct ProgramRun {
    ProgramRunEnding ending = ProgramRunEnding::Done;
    sim::SimTime simulated_time;  ///< at the end
    std::string stall_report;     ///< of Stalled, and of programs that timed out: who waited for what
    std::vector<ProgramOutcome> programs;
    std::vector<scenarios::run::FaultRecord> faults;  ///< as the scenario lists them
    std::vector<ExpectationOutcome> expectations;     ///< likewise
    std::vector<std::string> notes;                   ///< about the run itself ("not deterministic from here …")
    std::vector<std::string> explanations;

    /// One sentence for each thing that is not as the scenario says; empty: it has passed.
    [[nodiscard]] std::vector<std::string> failures() const;
    /// An ExitCode of the command.
    [[nodiscard]] int exit_code() const;
};

/// Runs a scenario that has programs. Owns the process's children and signals meanwhile: one at a time. Throws
/// UserError with every mistake of the scenario (nothing has run then), std::runtime_error if simverbs cannot go on.
[[nodiscard]] ProgramRun run_programs(const scenarios::ScenarioSpec& spec, const ProgramRunOptions& options = {});

/// A few lines for people: the verdict, what failed, and what the programs that failed have printed last.
[[nodiscard]] std::string summary(const scenarios::ScenarioSpec& spec, const ProgramRun& run);

}  // namespace simverbs::tools
