// The programs of a scenario: runs them and says how they went.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "sim/sim_time.hpp"
#include "sim/watcher.hpp"
#include "verbs_shim/server/program_faults.hpp"

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
    sim::SimTime started;        ///< simulated
    bool was_ready = false;      ///< by its `ready`
    bool has_timed_out = false;  ///< and was ended for it
    bool was_killed = false;     ///< by a fault: it, or its host; or frozen for ever, with nobody else left
    /// Its exit code, 128 + n if signal n ended it; nullopt if it was never started.
    std::optional<int> exit_code;
    int signal = 0;      ///< that ended it; 0: none
    std::string output;  ///< stdout, then stderr; the middle left out where there is too much of it
    bool has_expected_exit = false;
    bool has_expected_output = false;
    std::string problem;  ///< one sentence; empty if everything is as expected
};

enum class ProgramRunEnding : uint8_t {
    Done,
    Stalled,      ///< nothing could happen any more while programs still waited
    Interrupted,  ///< Ctrl-C or SIGTERM
};

/// Plain data; the same scenario and seed give the same (but for process numbers in the stall report).
struct ProgramRun {
    ProgramRunEnding ending = ProgramRunEnding::Done;
    sim::SimTime simulated_time;  ///< when the programs had ended
    std::string stall_report;     ///< of Stalled, and of programs that timed out: who waited for what
    std::vector<ProgramOutcome> programs;
    std::vector<server::FaultFiring> faults;  ///< by fault of the scenario: what befell programs and ports
    std::vector<std::string> notes;           ///< about the run itself ("not deterministic from here …")
    std::vector<std::string> explanations;

    /// One sentence for each thing that is not as the scenario says of its programs; empty: they have passed.
    [[nodiscard]] std::vector<std::string> failures() const;
};

/// The programs of a scenario on the adapters of its fabric. Owns the process's children and signals while they run:
/// one at a time.
class ProgramsOfScenario {
  public:
    /// Makes the fabric of `built`, which must be there while anything runs and be gone before this: its payload lies
    /// in the programs' memory. `spec` must outlive this. Mistakes in commands go to `sink`; nothing has been made
    /// then. Throws UserError (capture folder) or std::runtime_error.
    ProgramsOfScenario(const scenarios::ScenarioSpec& spec, scenarios::run::BuiltScenario& built,
                       const ProgramRunOptions& options, scenarios::DiagnosticSink& sink);
    ~ProgramsOfScenario();
    ProgramsOfScenario(const ProgramsOfScenario&) = delete;
    ProgramsOfScenario& operator=(const ProgramsOfScenario&) = delete;

    /// As run::Driver: runs them all to their end. False if flows need not go on: nothing could happen any more, or
    /// the user has interrupted it.
    bool run(sim::Watcher& watcher);
    /// The text of the timeline's page, once; "" where none is wanted.
    [[nodiscard]] std::string timeline_page();
    /// How they went, once; captures are complete then.
    [[nodiscard]] ProgramRun finish();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// A few lines for people about the programs: what failed, and what the programs that failed have printed last.
[[nodiscard]] std::string failure_text(const ProgramRun& run);

}  // namespace simverbs::tools
