#include "scenarios/report/report_sections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/report/flow_statistics.hpp"
#include "scenarios/report/html_table.hpp"
#include "scenarios/report/number_text.hpp"
#include "scenarios/report/page.hpp"
#include "scenarios/report/port_statistics.hpp"
#include "scenarios/report/report_data.hpp"

namespace simverbs::scenarios::report {

using run::RunEnding;
using run::RunResult;

namespace {

bool fault_missing(const run::FaultRecord& fault) {
    return fault.must_fire && fault.fired == 0;
}

std::string ending_text(const RunResult& result) {
    switch (result.ending) {
        case RunEnding::Done:
            return "all flows ended";
        case RunEnding::Until:
            return "the time was over";
        case RunEnding::Stuck:
            return "stuck";
        case RunEnding::Interrupted:
            return "interrupted";
    }
    return "";
}

std::string_view ending_style(const RunResult& result) {
    return result.ending == RunEnding::Stuck || result.ending == RunEnding::Interrupted ? "bad" : "";
}

size_t met(const ReportRun& run) {
    return static_cast<size_t>(std::ranges::count_if(run.verdicts, &Verdict::passed));
}

std::string verdict_text(const ReportRun& run) {
    const auto missing = std::ranges::count_if(run.result.faults, fault_missing);
    std::string text = run.verdicts.empty() ? "no expectations"
                                            : fmt::format("{} of {} expectations met", met(run), run.verdicts.size());
    if (missing > 0) text += fmt::format(", {} fault{} did not fire", missing, missing == 1 ? "" : "s");
    return text;
}

std::string_view verdict_style(const ReportRun& run) {
    if (!is_success(run)) return "bad";
    return run.verdicts.empty() ? "plain" : "good";
}

/// One number of a run, with what is to be seen in it.
struct Figure {
    std::string label;
    std::string value;
    std::string note;
    std::string_view style;
};

std::string optional_text(const std::optional<double>& value) {
    return value ? number_text(*value) : kNoNumber;
}

std::vector<Figure> flow_figures(const RunResult& result) {
    const FlowTotals f = total_flows(result.flows);
    const uint64_t open = f.failed + f.unfinished;
    std::string note = f.flows == 0 ? "" : open == 0 ? "all done" : "done";
    if (f.failed > 0) note += ", " + count_text(f.failed) + " failed";
    if (f.unfinished > 0) note += ", " + count_text(f.unfinished) + " unfinished";
    if (f.measured != f.flows) note += "; " + count_text(f.measured) + " measured";
    const std::string flows = open == 0 ? count_text(f.flows) : count_text(f.completed) + " of " + count_text(f.flows);
    const std::string fct =
        f.fct_p99_us
            ? "FCT p99 " + time_text(sim::SimTime::ns(static_cast<int64_t>(std::min(*f.fct_p99_us * 1000, 9e15))))
            : "";
    return {
        {"Flows", flows, note,
         f.failed > 0       ? "bad"
         : f.unfinished > 0 ? "warn"
                            : ""},
        {"Goodput", rate_text(f.bits_a_second), "all flows", ""},
        {"Slowdown p50", optional_text(f.slowdown_p50), "FCT over that of the empty network", ""},
        {"Slowdown p99", optional_text(f.slowdown_p99), fct, ""},
        {"Resent", count_text(f.retransmitted), count_text(f.timeouts) + " timeouts", f.timeouts > 0 ? "warn" : ""},
    };
}

std::vector<Figure> fabric_figures(const RunResult& result) {
    const PortTotals p = total_ports(result);
    std::string drops_note = p.lossless_drops > 0 ? count_text(p.lossless_drops) + " in lossless classes" : "";
    if (p.watchdog_drops > 0)
        drops_note += (drops_note.empty() ? "" : ", ") + count_text(p.watchdog_drops) + " by watchdog";
    std::string pauses_note =
        p.paused_time > sim::SimTime::zero() ? "paused " + time_text(p.paused_time) + " in all" : "";
    if (result.deadlocks > 0) pauses_note += fmt::format("; {} deadlocks", result.deadlocks);
    return {
        {"Drops", count_text(p.drops), drops_note,
         p.lossless_drops > 0 ? "bad"
         : p.drops > 0        ? "warn"
                              : ""},
        {"Pauses", count_text(p.pauses), pauses_note, result.deadlocks > 0 ? "bad" : ""},
        {"ECN marks", count_text(p.marks), "", ""},
        {"Largest queue", bytes_text(static_cast<double>(p.max_queue)), "", ""},
        {"Simulated time", time_text(result.simulated_time), ending_text(result), ending_style(result)},
        {"Packet hops", count_text(result.packet_hops), "", ""},
    };
}

std::vector<Figure> figures_of(const RunResult& result) {
    std::vector<Figure> all = flow_figures(result);
    std::ranges::move(fabric_figures(result), std::back_inserter(all));
    return all;
}

std::string fact(std::string_view term, std::string_view text) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, escape_html(text));
}

std::string header_facts(const std::vector<ReportRun>& runs) {
    const RunResult& first = runs.front().result;
    std::string out;
    const auto same = [&](auto&& of) {
        return std::ranges::all_of(runs, [&](const ReportRun& r) { return of(r.result) == of(first); });
    };
    if (!first.algorithm.empty() && same([](const RunResult& r) { return r.algorithm; }))
        out += fact("Congestion control", first.algorithm);
    if (same([](const RunResult& r) { return r.seed; })) out += fact("Seed", std::to_string(first.seed));
    out += fact("Hosts", count_text(first.hosts.size()));
    out += fact("Switches", count_text(first.switches.size()));
    out += fact("Links", count_text(first.links.size()));
    if (runs.size() > 1) out += fact("Runs", count_text(runs.size()));
    if (first.measure_from > sim::SimTime::zero() || first.measure_until) {
        out += fact("Measured", "flows that start from " + time_text(first.measure_from) +
                                    (first.measure_until ? " to " + time_text(*first.measure_until) : " on"));
    }
    return "<dl class=\"facts\">\n" + out + "</dl>\n";
}

std::string badge(std::string_view style, std::string_view word, std::string_view text) {
    return fmt::format("<p class=\"verdict {}\"><strong>{}</strong> <span>{}</span></p>\n", style, word,
                       escape_html(text));
}

std::string headline_of_one(const ReportRun& run) {
    const std::string_view style = verdict_style(run);
    const std::string_view word = style == "bad" ? "Failed" : style == "good" ? "Passed" : "Ran";
    return badge(style, word,
                 verdict_text(run) + "; " + ending_text(run.result) + " at " + time_text(run.result.simulated_time));
}

std::string headline_of_many(const std::vector<ReportRun>& runs) {
    const auto good = static_cast<size_t>(std::ranges::count_if(runs, is_success));
    const auto stuck =
        std::ranges::count_if(runs, [](const ReportRun& r) { return r.result.ending == RunEnding::Stuck; });
    const bool none = std::ranges::all_of(runs, [](const ReportRun& r) { return r.verdicts.empty(); });
    std::string text = none && good == runs.size()
                           ? fmt::format("{} runs, no expectations", runs.size())
                           : fmt::format("{} of {} runs met all expectations", good, runs.size());
    if (stuck > 0) text += fmt::format("; {} got stuck", stuck);
    if (good != runs.size()) return badge("bad", "Failed", text);
    return none ? badge("plain", "Ran", text) : badge("good", "Passed", text);
}

std::string sentence_of(const Verdict& v) {
    return v.name.empty() || v.name == v.sentence ? v.sentence : v.name + ": " + v.sentence;
}

std::string_view result_style(const Verdict& v) {
    return v.passed ? "good" : "bad";
}

bool states_same(const ReportRun& a, const ReportRun& b) {
    return std::ranges::equal(a.verdicts, b.verdicts, {}, sentence_of, sentence_of);
}

/// A row for each expectation, a column for each run.
std::string verdicts_side_by_side(const std::vector<ReportRun>& runs) {
    std::vector<Cell> head{{"Expectation", ""}, {"Wanted", ""}};
    for (const ReportRun& run : runs) head.push_back({run_label(run.result), ""});
    std::vector<std::vector<Cell>> rows;
    for (size_t i = 0; i < runs.front().verdicts.size(); ++i) {
        std::vector<Cell> row{{sentence_of(runs.front().verdicts[i]), ""}, {runs.front().verdicts[i].wanted, ""}};
        for (const ReportRun& run : runs) {
            const Verdict& v = run.verdicts[i];
            row.push_back({(v.passed ? "met: " : "not met: ") + v.measured, result_style(v)});
        }
        rows.push_back(std::move(row));
    }
    return html_table("Expectations", head, rows);
}

std::string verdicts_in_order(const std::vector<ReportRun>& runs) {
    std::vector<std::vector<Cell>> rows;
    for (const ReportRun& run : runs) {
        for (const Verdict& v : run.verdicts) {
            std::vector<Cell> row{{sentence_of(v), ""}};
            if (runs.size() > 1) row.push_back({run_label(run.result), ""});
            row.push_back({v.passed ? "met" : "not met", result_style(v)});
            row.push_back({v.measured, "number"});
            row.push_back({v.wanted, "number"});
            rows.push_back(std::move(row));
        }
    }
    std::vector<Cell> head{{"Expectation", ""}};
    if (runs.size() > 1) head.push_back({"Run", ""});
    for (const Cell& cell : {Cell{"Result", ""}, Cell{"Measured", "number"}, Cell{"Wanted", "number"}})
        head.push_back(cell);
    return html_table("Expectations", head, rows);
}

}  // namespace

std::string section(std::string_view id, std::string_view heading, std::string_view content) {
    return fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n{2}</section>\n", id,
        heading, content);
}

bool is_success(const ReportRun& run) {
    return met(run) == run.verdicts.size() && std::ranges::none_of(run.result.faults, fault_missing);
}

std::string header_html(const std::vector<ReportRun>& runs) {
    if (runs.empty()) return "<header>\n<h1>No runs</h1>\n<p>There is nothing to report.</p>\n</header>\n";
    const RunResult& first = runs.front().result;
    std::string out = fmt::format("<header>\n<p class=\"kind\">simverbs scenario report</p>\n<h1>{}</h1>\n",
                                  escape_html(first.scenario.empty() ? "Scenario" : first.scenario));
    if (!first.description.empty()) out += fmt::format("<p class=\"lead\">{}</p>\n", escape_html(first.description));
    out += runs.size() == 1 ? headline_of_one(runs.front()) : headline_of_many(runs);
    return out + header_facts(runs) + "</header>\n";
}

std::string key_figures_html(const std::vector<ReportRun>& runs) {
    if (runs.empty()) return "";
    if (runs.size() == 1) {
        std::string cards;
        for (const Figure& f : figures_of(runs.front().result)) {
            cards += fmt::format("<div class=\"card {}\"><dt>{}</dt><dd><span class=\"value\">{}</span>{}</dd></div>\n",
                                 f.style, f.label, f.value,
                                 f.note.empty() ? "" : fmt::format(" <span class=\"note\">{}</span>", f.note));
        }
        return section("figures", "Key figures", "<dl class=\"cards\">\n" + cards + "</dl>\n");
    }
    std::vector<Cell> head{{"Run", ""}, {"Expectations", ""}, {"Ending", ""}};
    std::vector<std::vector<Cell>> rows;
    for (const ReportRun& run : runs) {
        std::vector<Cell> row{
            {run_label(run.result), ""},
            {run.verdicts.empty() ? kNoNumber : fmt::format("{} of {} met", met(run), run.verdicts.size()),
             verdict_style(run)},
            {ending_text(run.result), ending_style(run.result)}};
        for (const Figure& f : figures_of(run.result)) {
            if (rows.empty()) head.push_back({f.label, "number"});
            row.push_back({f.value, f.style == "bad" ? "number bad" : f.style == "warn" ? "number warn" : "number"});
        }
        rows.push_back(std::move(row));
    }
    return section("figures", "Key figures", html_table("Key figures of each run", head, rows));
}

std::string stuck_html(const std::vector<ReportRun>& runs) {
    std::string out;
    for (const ReportRun& run : runs) {
        if (run.result.ending != RunEnding::Stuck) continue;
        const std::string label = escape_html(run_label(run.result));
        const std::string_view dump = run.result.stuck_dump.empty() ? "Nothing is known about what it waited for."
                                                                    : std::string_view(run.result.stuck_dump);
        out +=
            fmt::format("{2}<pre tabindex=\"0\" role=\"region\" aria-label=\"Who waits for what: {0}\">{1}</pre>\n",
                        label, escape_html(dump), runs.size() > 1 ? "<h3 class=\"one-line\">" + label + "</h3>\n" : "");
    }
    return out.empty() ? "" : section("stuck", "Why it got stuck", out);
}

std::string expectations_html(const std::vector<ReportRun>& runs) {
    const bool none = std::ranges::all_of(runs, [](const ReportRun& r) { return r.verdicts.empty(); });
    if (none) return section("expectations", "Expectations", "<p class=\"none\">The scenario states none.</p>\n");
    const bool alike = std::ranges::all_of(runs, [&](const ReportRun& r) { return states_same(r, runs.front()); });
    return section("expectations", "Expectations",
                   runs.size() > 1 && alike ? verdicts_side_by_side(runs) : verdicts_in_order(runs));
}

std::string workloads_html(const std::vector<ReportRun>& runs) {
    std::vector<std::vector<Cell>> rows;
    for (const ReportRun& run : runs) {
        for (uint32_t g = 0; g < run.result.groups.size(); ++g) {
            const run::GroupRecord& group = run.result.groups[g];
            const FlowTotals f = total_flows(run.result.flows, g);
            std::vector<Cell> row{{group.name, ""}};
            if (runs.size() > 1) row.push_back({run_label(run.result), ""});
            row.push_back({group.kind, ""});
            for (const std::string& text :
                 {count_text(f.flows), count_text(f.completed), bytes_text(f.bytes), rate_text(f.bits_a_second),
                  optional_text(f.slowdown_p50), optional_text(f.slowdown_p95), optional_text(f.slowdown_p99),
                  optional_text(f.slowdown_max)})
                row.push_back({text, "number"});
            rows.push_back(std::move(row));
        }
    }
    if (rows.empty()) return "";
    std::vector<Cell> head{{"Workload", ""}};
    if (runs.size() > 1) head.push_back({"Run", ""});
    head.push_back({"Kind", ""});
    for (const char* text : {"Flows", "Done", "Delivered", "Goodput", "Slowdown p50", "p95", "p99", "max"})
        head.push_back({text, "number"});
    return section("workloads", "Workloads", html_table("Workloads", head, rows));
}

std::string programs_html(const std::vector<ReportRun>& runs) {
    std::vector<std::vector<Cell>> rows;
    std::string outputs;
    for (const ReportRun& run : runs) {
        for (const run::ProgramRecord& p : run.result.programs) {
            std::vector<Cell> row{{p.name, ""}};
            if (runs.size() > 1) row.push_back({run_label(run.result), ""});
            row.push_back({p.host, ""});
            row.push_back({p.command, ""});
            row.push_back({p.exit_code ? count_text(static_cast<uint64_t>(*p.exit_code)) : kNoNumber, "number"});
            row.push_back({p.problem.empty() ? "as expected" : p.problem, p.problem.empty() ? "good" : "bad"});
            rows.push_back(std::move(row));
            if (p.output.empty()) continue;
            const std::string name = runs.size() > 1 ? p.name + ", " + run_label(run.result) : p.name;
            outputs += fmt::format(
                "<details><summary>Output of {0}</summary><pre class=\"output\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Output of {0}\">{1}</pre></details>\n",
                escape_html(name), escape_html(p.output));
        }
    }
    if (rows.empty()) return "";
    std::vector<Cell> head{{"Program", ""}};
    if (runs.size() > 1) head.push_back({"Run", ""});
    for (const char* title : {"Host", "Command", "Exit code", "Ended"}) head.push_back({title, ""});
    return section("programs", "Programs", html_table("Programs", head, rows) + outputs);
}

std::string faults_html(const std::vector<ReportRun>& runs) {
    std::vector<std::vector<Cell>> rows;
    for (const ReportRun& run : runs) {
        for (const run::FaultRecord& fault : run.result.faults) {
            std::vector<Cell> row{{fault.name, ""}};
            if (runs.size() > 1) row.push_back({run_label(run.result), ""});
            row.push_back(
                {fault.fired > 0 ? count_text(fault.fired) + (fault.fired == 1 ? " time" : " times") : "never",
                 fault_missing(fault) ? "bad" : ""});
            const std::string when = fault.first == fault.last
                                         ? time_text(fault.first)
                                         : time_text(fault.first) + " to " + time_text(fault.last);
            row.push_back({fault.fired > 0 ? when : fault.silence, ""});
            rows.push_back(std::move(row));
        }
    }
    if (rows.empty()) return "";
    std::vector<Cell> head{{"Fault", ""}};
    if (runs.size() > 1) head.push_back({"Run", ""});
    head.push_back({"Fired", ""});
    head.push_back({"When, or why not", ""});
    return section("faults", "Faults", html_table("Faults", head, rows));
}

std::string settings_html(const std::vector<ReportRun>& runs) {
    std::vector<std::vector<Cell>> rows;
    for (const ReportRun& run : runs) {
        for (const auto& [key, value] : run.result.settings) {
            std::vector<Cell> row{{key, ""}};
            if (runs.size() > 1) row.push_back({run_label(run.result), ""});
            row.push_back({value, ""});
            rows.push_back(std::move(row));
        }
    }
    if (rows.empty()) return "";
    std::vector<Cell> head{{"Setting", ""}};
    if (runs.size() > 1) head.push_back({"Run", ""});
    head.push_back({"Value", ""});
    return section("settings", "Settings", html_table("Settings", head, rows));
}

}  // namespace simverbs::scenarios::report
