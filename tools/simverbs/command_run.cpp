// simverbs run: scenarios, the runs of a sweep side by side.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "scenarios/expect/evaluate.hpp"
#include "scenarios/expect/result_index.hpp"
#include "scenarios/expect/sampling_wanted.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/output/junit_xml.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/output/summary_text.hpp"
#include "scenarios/report/report.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tools/simverbs/checked_scenarios.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/program_runs.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

namespace fs = std::filesystem;
using scenarios::ScenarioSpec;

constexpr const char* kDefaultOut = "simverbs-results";

/// One run of a sweep, or a scenario's only one.
struct Job {
    ScenarioSpec* spec = nullptr;
    size_t file = 0;
    fs::path folder;
    std::string problems;  ///< of the build; empty: it ran
    scenarios::run::RunResult result;
    std::vector<scenarios::expect::ExpectationVerdict> verdicts;
    std::vector<std::string> write_errors;
    std::string summary;  ///< for the terminal
    bool was_run = false;
    int code = kSuccess;
};

/// "a=1,b=2 %" as a folder's name.
std::string folder_name(const std::string& text) {
    std::string name;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                           c == '_' || c == '-' || c == '=' || c == ',' || c == '+';
        if (plain)
            name += c;
        else if (c != ' ')
            name += '_';
    }
    return name;
}

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
void add_programs(const ProgramRun& done, Job& job) {
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
std::string failed_expectations(const Job& job) {
    std::string out;
    for (size_t i = job.result.programs.size(); i < job.verdicts.size(); ++i) {
        const scenarios::expect::ExpectationVerdict& v = job.verdicts[i];
        if (v.outcome != scenarios::expect::Outcome::Passed)
            out += "  " + (v.sentence.empty() ? v.text : v.sentence.substr(0, v.sentence.find('\n'))) + "\n";
    }
    return out;
}

std::string programs_summary(const Job& job, const ProgramRun& done) {
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

int code_of(const Job& job, const ProgramRun& programs) {
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

void write_timeline(const std::string& page, Job& job) {
    std::string error = scenarios::output::write_file(job.folder / "timeline.html", page);
    if (!error.empty()) job.write_errors.push_back(std::move(error));
}

void execute_checked(Job& job) {
    const ScenarioSpec& spec = *job.spec;
    const bool has_programs = !spec.programs.empty();
    scenarios::DiagnosticSink sink;
    const auto began = std::chrono::steady_clock::now();
    std::unique_ptr<ProgramsOfScenario> programs;  // outlives the fabric, which has its memory
    auto built = scenarios::run::plan_scenario(spec, sink);
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
    job.result = scenarios::run::run_scenario(
        spec, *built, std::move(described), sampling, [](auto, auto, auto) { return !stop_signal_seen(); }, driver);
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

void execute(Job& job) {
    job.was_run = true;
    try {
        execute_checked(job);
    } catch (const UserError& error) {
        job.problems = std::string("simverbs: ") + error.what() + "\n";
    }
}

scenarios::report::ReportRun for_report(const Job& job) {
    scenarios::report::ReportRun r{job.result, {}};
    for (const scenarios::expect::ExpectationVerdict& v : job.verdicts)
        r.verdicts.push_back({v.name, v.outcome == scenarios::expect::Outcome::Passed,
                              v.sentence.empty() ? v.text : v.sentence,
                              v.measured ? scenarios::expect::value_text(v.unit, *v.measured) : "", v.wanted});
    return r;
}

/// One page for all runs of a file.
void write_report(const fs::path& folder, std::span<Job> jobs, std::vector<std::string>& errors) {
    std::vector<scenarios::report::ReportRun> runs;
    for (const Job& job : jobs)
        if (job.problems.empty() && job.spec->outputs.report) runs.push_back(for_report(job));
    if (runs.empty()) return;
    if (std::string error =
            scenarios::output::write_file(folder / "report.html", scenarios::report::render_report(runs));
        !error.empty())
        errors.push_back(std::move(error));
}

/// Runs the jobs, `width` at a time, those with programs one by one before; summaries are printed in order.
void execute_all(std::vector<Job>& jobs, unsigned width) {
    std::atomic<size_t> next{0};
    std::mutex printing;
    std::vector<bool> done(jobs.size(), false);
    size_t printed = 0;
    for (size_t i = 0; i < jobs.size() && !stop_signal_seen(); ++i)
        if (!jobs[i].spec->programs.empty()) execute(jobs[i]);
    const auto work = [&] {
        for (size_t i = next++; i < jobs.size() && !stop_signal_seen(); i = next++) {
            if (jobs[i].spec->programs.empty()) execute(jobs[i]);
            const std::lock_guard lock(printing);
            done[i] = true;
            for (; printed < jobs.size() && done[printed]; ++printed) {
                std::cout << jobs[printed].summary << std::flush;
                std::cerr << jobs[printed].problems;
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::min<size_t>(width, jobs.size()); ++i) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    // What an interruption has left to be told.
    for (; printed < jobs.size(); ++printed) {
        std::cout << jobs[printed].summary << std::flush;
        std::cerr << jobs[printed].problems;
    }
}

std::string command_of(const RunOptions& options, const std::string& file) {
    std::string command = "simverbs run " + file;
    for (const std::string& s : options.settings) command += " --set '" + s + "'";
    if (options.seed) command += fmt::format(" --seed {}", *options.seed);
    return command;
}

int verdict_code(const std::vector<Job>& jobs) {
    int code = kSuccess;
    for (const Job& job : jobs) {
        if (!job.problems.empty()) return kUsage;
        if (code == kSuccess) code = job.code;
        if (!job.write_errors.empty()) code = kServerError;
    }
    return code;
}

}  // namespace

int run_scenarios(const RunOptions& options) {
    if (options.files.empty())
        throw UserError("run: no file is given; expected scenario files, such as: simverbs run FILE.yaml --out DIR");
    catch_stop_signals();
    scenarios::ScenarioOptions language = scenarios::run::scenario_options();
    language.settings = options.settings;
    if (options.seed) language.settings.push_back(fmt::format("seed={}", *options.seed));
    std::vector<std::vector<ScenarioSpec>> specs;
    bool right = true;
    for (const std::string& file : options.files) {
        scenarios::DiagnosticSink sink;
        auto loaded = load_checked(file, language, sink);
        if (!loaded) std::cerr << sink.to_string();
        right = right && loaded.has_value();
        specs.push_back(loaded ? std::move(*loaded) : std::vector<ScenarioSpec>{});
    }
    if (!right) return kUsage;
    if (const fs::path folder = fs::path(options.junit).parent_path(); !folder.empty()) {
        std::error_code problem;
        fs::create_directories(folder, problem);
        if (problem)
            throw UserError(
                fmt::format("--junit {}: the folder cannot be made: {}; choose a place that you may write to",
                            options.junit, problem.message()));
    }
    const fs::path out = options.out.empty() ? fs::path(kDefaultOut) : fs::path(options.out);
    std::vector<Job> jobs;
    int threads = 1;
    for (size_t f = 0; f < specs.size(); ++f) {
        for (ScenarioSpec& spec : specs[f]) {
            if (options.threads) spec.run.threads = *options.threads;
            threads = std::max(threads, spec.run.threads);
            fs::path folder = out / folder_name(spec.lab.name);
            if (!spec.run_name.empty()) folder /= folder_name(spec.run_name);
            jobs.push_back({&spec, f, folder, {}, {}, {}, {}, {}, kSuccess});
        }
    }
    const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
    const unsigned width =
        options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(cores / static_cast<unsigned>(threads), 1U);
    execute_all(jobs, width);
    // An interrupted run has results too.
    std::erase_if(jobs, [](const Job& job) { return !job.was_run; });

    std::vector<std::string> errors;
    std::vector<scenarios::output::JunitRun> junit;
    for (size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
        while (end < jobs.size() && jobs[end].file == jobs[begin].file) ++end;
        const fs::path folder = out / folder_name(jobs[begin].spec->lab.name);
        write_report(folder, std::span(jobs).subspan(begin, end - begin), errors);
        if (jobs[begin].problems.empty()) std::cout << fmt::format("results: {}\n", folder.string());
    }
    for (const Job& job : jobs) {
        errors.insert(errors.end(), job.write_errors.begin(), job.write_errors.end());
        if (job.problems.empty())
            junit.push_back({&job.result, &job.verdicts, command_of(options, options.files[job.file])});
    }
    if (!options.junit.empty()) {
        if (std::string error = scenarios::output::write_file(options.junit, scenarios::output::junit_xml(junit));
            !error.empty())
            errors.push_back(std::move(error));
    }
    for (const std::string& error : errors) std::cerr << "simverbs: " << error << '\n';
    if (stop_signal_seen()) return kInterrupted;
    const int code = verdict_code(jobs);
    return code == kSuccess && !errors.empty() ? kServerError : code;
}

}  // namespace simverbs::tools
