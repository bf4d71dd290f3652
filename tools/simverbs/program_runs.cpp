#include "tools/simverbs/program_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "tools/simverbs/checked_scenarios.hpp"
#include "tools/simverbs/children.hpp"
#include "tools/simverbs/lab_session.hpp"
#include "tools/simverbs/program_runner.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/timeline_page.hpp"

namespace simverbs::tools {

using scenarios::DiagnosticSink;
using scenarios::ScenarioSpec;

namespace {

constexpr size_t kShownLines = 10;  ///< of the output of a program that failed

std::string time_text(sim::SimTime t) {
    return fmt::format("{:.3f} us", static_cast<double>(t.in_ps()) * 1e-6);
}

std::string ending_of(const ProgramOutcome& p) {
    if (p.signal != 0) return fmt::format("was ended by signal {} ({})", p.signal, ::strsignal(p.signal));
    return fmt::format("ended with exit code {}", *p.exit_code);
}

/// Program `i` against what the scenario says about it.
std::string problem_of(const ScenarioSpec& spec, const ProgramRun& run, size_t i) {
    const scenarios::ProgramSpec& expected = spec.programs[i];
    const ProgramOutcome& p = run.programs[i];
    if (!p.was_started) {
        if (i == 0 || !run.programs[i - 1].was_started || run.ending != ProgramRunEnding::Done)
            return "was not started";
        return fmt::format("was not started, since '{}' ended before it was ready", spec.programs[i - 1].name);
    }
    if (p.has_timed_out) {
        const bool by_run = spec.run.until && *spec.run.until < p.started + expected.timeout;
        return by_run ? fmt::format("was still running at {}, the end of the run", time_text(*spec.run.until))
                      : fmt::format("was ended after its timeout of {}", time_text(expected.timeout));
    }
    if (!p.exit_code) return "had not ended";
    if (!p.has_expected_exit) {
        const int code = expected.expected_exit.value_or(0);
        return ending_of(p) + (code == 0 ? "" : fmt::format(", expected {}", code));
    }
    if (!p.has_expected_output) return fmt::format("printed nothing that matches '{}'", expected.expected_output);
    return {};
}

std::string last_lines(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    size_t begin = text.size();
    for (size_t lines = 0; begin != 0 && begin != std::string_view::npos && lines < kShownLines; ++lines)
        begin = text.rfind('\n', begin - 1);
    std::string_view rest = begin == std::string_view::npos || begin == 0 ? text : text.substr(begin + 1);
    std::string out;
    while (!rest.empty()) {
        const size_t end = rest.find('\n');
        out += fmt::format("    {}\n", rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return out;
}

}  // namespace

std::vector<std::string> ProgramRun::failures() const {
    std::vector<std::string> out;
    if (ending == ProgramRunEnding::Interrupted) out.emplace_back("interrupted");
    if (ending == ProgramRunEnding::Stalled)
        out.push_back(
            fmt::format("at {} nothing could happen any more, and programs still waited", time_text(simulated_time)));
    for (const ProgramOutcome& p : programs) {
        if (!p.problem.empty()) out.push_back(fmt::format("program '{}' {}", p.name, p.problem));
    }
    return out;
}

struct ProgramsOfScenario::Parts {
    const ScenarioSpec& spec;
    std::unique_ptr<ProgramRunner> runner;
    std::unique_ptr<LabSession> session;
    ProgramRun result;
};

ProgramsOfScenario::ProgramsOfScenario(const ScenarioSpec& spec, scenarios::run::BuiltScenario& built,
                                       const ProgramRunOptions& options, DiagnosticSink& sink)
    : parts_(new Parts{spec, nullptr, nullptr, {}}) {
    std::vector<ProgramCommand> commands = parse_commands(spec, sink);
    if (!sink.empty()) return;
    parts_->runner = std::make_unique<ProgramRunner>(spec, built.adapters.of_programs, built.faulty_ports,
                                                     std::move(commands), options);
    LabRequest request;
    request.pcap_folder = options.pcap_folder;
    request.explain = options.explain;
    if (spec.outputs.timeline) {
        request.timeline = "timeline.html";
        request.timeline_packets = spec.outputs.timeline_packets;
    }
    parts_->session = std::make_unique<LabSession>(spec, built, request, *parts_->runner);
}

ProgramsOfScenario::~ProgramsOfScenario() = default;

bool ProgramsOfScenario::run(sim::Watcher& watcher) {
    catch_stop_signals();
    adopt_orphans();
    parts_->session->lab().set_watcher(&watcher);
    parts_->runner->run(*parts_->session, parts_->result);
    parts_->session->lab().set_watcher(nullptr);
    return parts_->result.ending == ProgramRunEnding::Done;
}

std::string ProgramsOfScenario::timeline_page() {
    const ScenarioSpec& spec = parts_->spec;
    if (!spec.outputs.timeline) return {};
    std::vector<std::pair<std::string, std::string>> programs;
    for (const ProgramOutcome& p : parts_->result.programs)
        programs.emplace_back(fmt::format("{} ({})", p.name, p.host), p.command);
    return timeline_text(spec.lab, *parts_->session, programs, "outputs.timeline_packets:");
}

ProgramRun ProgramsOfScenario::finish() {
    parts_->session->close_captures();
    ProgramRun& run = parts_->result;
    for (size_t i = 0; i < run.programs.size(); ++i) run.programs[i].problem = problem_of(parts_->spec, run, i);
    return std::move(run);
}

std::string failure_text(const ProgramRun& run) {
    std::string out;
    const std::vector<std::string> failures = run.failures();
    for (const std::string& failure : failures) out += fmt::format("  {}\n", failure);
    if (!failures.empty() && !run.stall_report.empty()) out += "  these waited:\n" + run.stall_report;
    for (const ProgramOutcome& p : run.programs) {
        if (!p.problem.empty() && !p.output.empty())
            out += fmt::format("  last of '{}':\n{}", p.name, last_lines(p.output));
    }
    return out;
}

}  // namespace simverbs::tools
