// simverbs run: scenarios, one after the other or side by side.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>

#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/program_runs.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

using scenarios::ScenarioSpec;
namespace run = scenarios::run;

/// One run of a sweep, or a scenario's only one.
struct Job {
    const ScenarioSpec* spec = nullptr;
    std::string problems;  ///< of the build; empty: it ran
    run::RunResult result;
};

void execute(Job& job) {
    scenarios::DiagnosticSink sink;
    auto built = run::build_scenario(*job.spec, sink);
    if (!built) {
        job.problems = sink.to_string();
        return;
    }
    job.result = run::run_scenario(*job.spec, *built, {}, {});
}

std::string short_line(const run::RunResult& r) {
    uint64_t good = 0, bad = 0, pending = 0;
    for (const run::FlowRecord& f : r.flows) {
        good += f.status == flow::FlowStatus::Success ? 1 : 0;
        bad += f.status == flow::FlowStatus::RetryExceeded ? 1 : 0;
        pending += f.status == flow::FlowStatus::Pending ? 1 : 0;
    }
    std::vector<double> slow;
    for (const run::FlowRecord& f : r.flows)
        if (f.status == flow::FlowStatus::Success && f.is_measured)
            slow.push_back(static_cast<double>((f.acknowledged - f.started).in_ps()) /
                           static_cast<double>(f.ideal.in_ps()));
    std::ranges::sort(slow);
    uint64_t drops = 0, pauses = 0, marks = 0;
    for (const run::PortRecord& p : r.ports) {
        drops += p.end.drops;
        pauses += p.end.pauses_sent;
        marks += p.end.marks;
    }
    return fmt::format(
        "{} {} ending {} flows {}/{}/{} t {:.3f} ms slow p50 {:.2f} p99 {:.2f} drops {} pauses {} marks {} hops {} "
        "wall {:.2f}\n{}",
        r.scenario, r.run_name, static_cast<int>(r.ending), good, bad, pending,
        static_cast<double>(r.simulated_time.in_ps()) * 1e-9, slow.empty() ? 0 : slow[slow.size() / 2],
        slow.empty() ? 0 : slow[slow.size() * 99 / 100], drops, pauses, marks, r.packet_hops, r.wall_seconds,
        r.stuck_dump);
}

/// The verdict goes to stdout; a user's mistake to stderr, so that the next scenario can still run.
int run_with_programs(const ScenarioSpec& spec) {
    try {
        const ProgramRun result = run_programs(spec);
        std::cout << summary(spec, result);
        return result.exit_code();
    } catch (const UserError& error) {
        std::cerr << "simverbs: " << error.what() << '\n';
        return kUsage;
    }
}

}  // namespace

int run_scenarios(const RunOptions& options) {
    int code = kSuccess;
    for (const std::string& file : options.files) {
        scenarios::ScenarioOptions language = run::scenario_options();
        language.settings = options.settings;
        scenarios::DiagnosticSink sink;
        auto specs = scenarios::load_scenario(file, language, sink);
        if (!specs) {
            std::cerr << sink.to_string();
            code = kUsage;
            continue;
        }
        for (ScenarioSpec& spec : *specs) {
            if (options.seed) spec.lab.seed = *options.seed;
            if (options.threads) spec.run.threads = *options.threads;
            if (!spec.programs.empty()) {
                const int verdict = run_with_programs(spec);
                if (code == kSuccess) code = verdict;
                continue;
            }
            Job job{&spec, {}, {}};
            execute(job);
            if (!job.problems.empty()) {
                std::cerr << job.problems;
                code = kUsage;
                continue;
            }
            std::cout << short_line(job.result);
        }
    }
    return code;
}

}  // namespace simverbs::tools
