#include "tools/simverbs/scenario_job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "scenarios/expect/evaluate.hpp"
#include "scenarios/expect/result_index.hpp"
#include "scenarios/expect/sampling_wanted.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/output/summary_text.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tools/simverbs/program_runs.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

namespace fs = std::filesystem;
using scenarios::ScenarioSpec;

scenarios::run::Sampling sampling_of(const ScenarioSpec& spec, const scenarios::run::RunResult& described,
                                     const fs::path& folder) {
    const scenarios::expect::SamplingWanted wanted = scenarios::expect::sampling_wanted(spec.expectations);
    const scenarios::expect::SampledParts parts = scenarios::expect::sampled_parts(wanted, described);
    scenarios::run::Sampling sampling;
    sampling.instants = wanted.instants;
    sampling.ports = parts.ports;
    sampling.switches = parts.switches;
    sampling.flows = parts.flows;
    if (wanted.needs_interval) sampling.interval = wanted.interval.value_or(scenarios::run::kSampleInterval);
    // Those of programs are the adapters' own.
    if (!spec.outputs.pcap.empty() && spec.programs.empty()) {
        std::error_code error;  // the captures say it
        fs::create_directories(folder / "pcap", error);
        sampling.capture_folder = (folder / "pcap").string();
    }
    return sampling;
}

scenarios::expect::ExpectationVerdict verdict_of(const ProgramOutcome& p) {
    scenarios::expect::ExpectationVerdict v;
    v.name = v.text = p.name;
    v.outcome = p.problem.empty() ? scenarios::expect::Outcome::Passed : scenarios::expect::Outcome::Failed;
    v.sentence = p.problem.empty() ? p.name + " ended as expected" : p.name + ": " + p.problem;
    return v;
}

scenarios::run::ProgramRecord record_of(const ProgramOutcome& p) {
    return {p.name, p.host, p.command, p.was_started, p.started, p.exit_code, p.output, p.problem};
}

/// How the programs went, as part of the run's result.
void add_programs(const ProgramRun& done, ScenarioJob& job) {
    for (const ProgramOutcome& p : done.programs) {
        job.result.programs.push_back(record_of(p));
        job.verdicts.push_back(verdict_of(p));
    }
    for (size_t f = 0; f < done.faults.size(); ++f) {
        const server::FaultFiring& firing = done.faults[f];
        scenarios::run::FaultRecord& record = job.result.faults[f];
        if (firing.times > 0) record.add_firing(firing.times, firing.first, firing.last);
        if (!firing.silence.empty()) record.silence = firing.silence;
    }
    job.result.warnings.insert(job.result.warnings.end(), done.notes.begin(), done.notes.end());
    if (done.ending == ProgramRunEnding::Interrupted) job.result.ending = scenarios::run::RunEnding::Interrupted;
    if (done.ending == ProgramRunEnding::Stalled) {
        job.result.ending = scenarios::run::RunEnding::Stuck;
        job.result.stuck_dump = done.stall_report;
    }
}

/// What went wrong beside the programs, where no summary of flows tells it.
std::string failed_expectations(const ScenarioJob& job) {
    std::string out;
    for (size_t i = job.result.programs.size(); i < job.verdicts.size(); ++i) {
        const scenarios::expect::ExpectationVerdict& v = job.verdicts[i];
        if (v.outcome != scenarios::expect::Outcome::Passed)
            out += "  " + (v.sentence.empty() ? v.text : v.sentence.substr(0, v.sentence.find('\n'))) + "\n";
    }
    return out;
}

std::string programs_summary(const ScenarioJob& job, const ProgramRun& done) {
    const ScenarioSpec& spec = *job.spec;
    const bool passed = scenarios::expect::all_passed(job.verdicts);
    const std::string name = spec.run_name.empty() ? spec.lab.name : fmt::format("{} {}", spec.lab.name, spec.run_name);
    const size_t count = done.programs.size();
    std::string out =
        fmt::format("{} {}: {} program{} in {:.3f} us of simulated time\n", passed ? "passed" : "FAILED", name, count,
                    count == 1 ? "" : "s", static_cast<double>(done.simulated_time.in_ps()) * 1e-6);
    out += failure_text(done);
    if (spec.workloads.empty()) {
        out += scenarios::output::fault_lines(job.result);
        out += failed_expectations(job);
        for (const std::string& note : job.result.warnings) out += fmt::format("  note: {}\n", note);
        return out;
    }
    return out + scenarios::output::summary_text(job.result, job.verdicts);
}

int code_of(const ScenarioJob& job, const ProgramRun& programs) {
    switch (programs.ending) {
        case ProgramRunEnding::Interrupted:
            return kInterrupted;
        case ProgramRunEnding::Stalled:
            return kStalled;
        case ProgramRunEnding::Done:
            break;
    }
    return scenarios::expect::all_passed(job.verdicts) ? kSuccess : kProgramFailed;
}

void write_timeline(const std::string& page, ScenarioJob& job) {
    std::string error = scenarios::output::write_file(job.folder / "timeline.html", page);
    if (!error.empty()) job.write_errors.push_back(std::move(error));
}

void run_checked(ScenarioJob& job, const RunControl& control) {
    const ScenarioSpec& spec = *job.spec;
    const bool has_programs = !spec.programs.empty();
    scenarios::DiagnosticSink sink;
    const auto began = std::chrono::steady_clock::now();
    std::unique_ptr<ProgramsOfScenario> programs;  // outlives the fabric, which has its memory
    auto built = scenarios::run::plan_scenario(spec, sink);
    if (built && control.on_plan) control.on_plan(*built);
    if (built && has_programs) {
        const ProgramRunOptions options{.pcap_folder = (job.folder / "pcap").string()};
        programs = std::make_unique<ProgramsOfScenario>(spec, *built, options, sink);
    } else if (built) {
        scenarios::run::make_fabric(*built);
    }
    scenarios::run::RunResult described;
    if (built && sink.empty()) described = scenarios::run::describe(spec, *built);
    if (!sink.empty()) {
        job.problems = sink.to_string();
        return;
    }
    if (std::string error = scenarios::output::begin_run_folder(job.folder); !error.empty()) throw UserError(error);
    const scenarios::run::Sampling sampling = sampling_of(spec, described, job.folder);
    described.wall_setup_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    scenarios::run::Driver driver;
    if (programs) driver = [&](sim::Watcher& watcher) { return programs->run(watcher); };
    job.result = scenarios::run::run_scenario(spec, *built, std::move(described), sampling,
                                              {.progress = [](auto, auto, auto) { return !stop_signal_seen(); },
                                               .programs = driver,
                                               .beside = control.beside});
    ProgramRun done;
    std::string timeline;
    if (programs) {
        timeline = programs->timeline_page();
        done = programs->finish();
        add_programs(done, job);
    }
    built.reset();
    programs.reset();
    const auto judged = scenarios::expect::evaluate(spec.expectations, job.result);
    job.verdicts.insert(job.verdicts.end(), judged.begin(), judged.end());
    job.write_errors = scenarios::output::write_run_folder(job.folder, job.result, job.verdicts, spec.outputs).errors;
    if (!timeline.empty()) write_timeline(timeline, job);
    job.summary =
        has_programs ? programs_summary(job, done) : scenarios::output::summary_text(job.result, job.verdicts);
    job.code = code_of(job, done);
}

}  // namespace

void execute(ScenarioJob& job, const RunControl& control) {
    job.was_run = true;
    try {
        run_checked(job, control);
    } catch (const UserError& error) {
        job.problems = std::string("simverbs: ") + error.what() + "\n";
    }
}

}  // namespace simverbs::tools
