#include "tools/simverbs/program_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "tools/simverbs/children.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/lab_session.hpp"
#include "tools/simverbs/program_command.hpp"
#include "tools/simverbs/program_runner.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

using scenarios::DiagnosticSink;
using scenarios::ScenarioSpec;

namespace {

constexpr size_t kShownLines = 10;  ///< of the output of a program that failed

/// What the language knows, but a scenario of programs cannot have.
void check_scenario(const ScenarioSpec& spec, DiagnosticSink& sink) {
    if (spec.topology.is_fabric)
        sink.add(spec.topology.position, spec.topology.path,
                 fmt::format("programs cannot run on a generated '{}' yet", spec.topology.kind),
                 "'single_switch', 'back_to_back', or a list of hosts, switches and links");
    if (!spec.workloads.empty())
        sink.add(spec.workloads.front().position, spec.workloads.front().path,
                 "workloads and programs cannot run side by side yet", "'workloads' or 'programs', one of them");
    if (spec.cc.algorithm != "none")
        sink.add(spec.cc.position, spec.cc.path, "congestion control does not act on programs' queue pairs yet",
                 "'none', or workloads instead of programs");
    for (const scenarios::PlaceRef& place : spec.outputs.pcap) {
        const std::string node = place.text.substr(0, place.text.find_first_of("./"));
        if (spec.lab.find_host(node) < 0)
            sink.add(place.position, place.path, "between programs only ports of adapters are captured",
                     "a host or one of its ports");
    }
    for (const scenarios::ExpectationSpec& expectation : spec.expectations) {
        if (std::holds_alternative<scenarios::FaultExpectation>(expectation.statement)) continue;
        sink.add(expectation.position, expectation.path,
                 fmt::format("'{}' speaks of flows; a run of programs has none", expectation.text),
                 "a statement about a fault, such as \"fault 'lost' fired 3 times\"",
                 "how a program must end, and what it must print, stands in its own 'expect'");
    }
}

std::vector<ProgramCommand> parse_commands(const ScenarioSpec& spec, DiagnosticSink& sink) {
    std::vector<ProgramCommand> commands;
    for (const scenarios::ProgramSpec& program : spec.programs) {
        try {
            commands.push_back(program.arguments.empty() ? parse_program(std::string_view(program.command_line))
                                                         : parse_program(program.arguments));
        } catch (const UserError& error) {
            sink.add(program.position, program.path + ".command", error.what());
        }
    }
    return commands;
}

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

ExpectationOutcome outcome_of(const scenarios::ExpectationSpec& expectation, const ProgramRun& run) {
    const auto& statement = std::get<scenarios::FaultExpectation>(expectation.statement);
    const auto fault = std::ranges::find(run.faults, statement.fault, &scenarios::run::FaultRecord::name);
    const uint64_t fired = fault != run.faults.end() ? fault->fired : 0;
    ExpectationOutcome out{expectation.name, expectation.text, false, {}};
    out.holds = statement.times ? fired == static_cast<uint64_t>(*statement.times) : (fired > 0) == statement.has_fired;
    out.found = fired == 0 ? "it never fired" : fmt::format("it fired {} time{}", fired, fired == 1 ? "" : "s");
    return out;
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
    for (const scenarios::run::FaultRecord& f : faults) {
        if (f.must_fire && f.fired == 0) out.push_back(fmt::format("fault '{}' never fired", f.name));
    }
    for (const ExpectationOutcome& e : expectations) {
        if (!e.holds) out.push_back(fmt::format("expected: {}; {}", e.text, e.found));
    }
    return out;
}

int ProgramRun::exit_code() const {
    switch (ending) {
        case ProgramRunEnding::Interrupted:
            return kInterrupted;
        case ProgramRunEnding::Stalled:
            return kStalled;
        case ProgramRunEnding::Done:
            break;
    }
    return failures().empty() ? kSuccess : kProgramFailed;
}

ProgramRun run_programs(const ScenarioSpec& spec, const ProgramRunOptions& options) {
    DiagnosticSink sink;
    check_scenario(spec, sink);
    std::vector<ProgramCommand> commands = parse_commands(spec, sink);
    if (!sink.empty()) {
        std::string text = sink.to_string();
        while (text.ends_with('\n')) text.pop_back();
        throw UserError("the scenario cannot run\n" + text);
    }
    catch_stop_signals();
    adopt_orphans();
    ProgramRunner runner(spec, std::move(commands), options);
    LabRequest request;
    request.pcap_folder = options.pcap_folder;
    for (const scenarios::PlaceRef& place : spec.outputs.pcap) request.pcap_ports.push_back(place.text);
    request.explain = options.explain;
    LabSession session(spec.lab, request, runner, spec.faults);
    ProgramRun run;
    runner.run(session, run);
    session.close_captures();
    for (size_t i = 0; i < run.programs.size(); ++i) run.programs[i].problem = problem_of(spec, run, i);
    for (const scenarios::ExpectationSpec& e : spec.expectations) run.expectations.push_back(outcome_of(e, run));
    return run;
}

std::string summary(const ScenarioSpec& spec, const ProgramRun& run) {
    const std::string name = spec.run_name.empty() ? spec.lab.name : fmt::format("{} {}", spec.lab.name, spec.run_name);
    const std::vector<std::string> failures = run.failures();
    std::string out =
        fmt::format("{} {}: {} program{} in {} of simulated time\n", failures.empty() ? "passed" : "FAILED", name,
                    run.programs.size(), run.programs.size() == 1 ? "" : "s", time_text(run.simulated_time));
    for (const std::string& failure : failures) out += fmt::format("  {}\n", failure);
    if (!failures.empty() && !run.stall_report.empty()) out += "  these waited:\n" + run.stall_report;
    for (const ProgramOutcome& p : run.programs) {
        if (!p.problem.empty() && !p.output.empty())
            out += fmt::format("  last of '{}':\n{}", p.name, last_lines(p.output));
    }
    for (const std::string& note : run.notes) out += fmt::format("  note: {}\n", note);
    return out;
}

}  // namespace simverbs::tools
