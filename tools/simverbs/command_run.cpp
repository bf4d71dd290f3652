// simverbs run: scenarios, the runs of a sweep side by side.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "scenarios/expect/value_text.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/output/junit_xml.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/report/report.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tools/simverbs/checked_scenarios.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/scenario_job.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

namespace fs = std::filesystem;
using scenarios::ScenarioSpec;

constexpr const char* kDefaultOut = "simverbs-results";

/// One run of a sweep, or a scenario's only one, and the number of its file.
struct Job : ScenarioJob {
    size_t file = 0;
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
            Job& job = jobs.emplace_back();
            job.spec = &spec;
            job.file = f;
            job.folder = folder;
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
