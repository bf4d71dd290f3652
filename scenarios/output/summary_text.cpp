#include "scenarios/output/summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/expect/result_index.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/output/group_summary.hpp"
#include "scenarios/output/text_columns.hpp"

namespace simverbs::scenarios::output {

namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kMaxGroups = 5;
constexpr std::size_t kMaxWarnings = 3;
constexpr std::size_t kMaxVerdicts = 10;
constexpr std::size_t kMaxFaults = 8;

std::string time_text(sim::SimTime time) {
    return expect::value_text(MetricUnit::Time, static_cast<double>(time.in_ps()));
}

/// `text` broken at spaces; further lines begin with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::size_t column = std::min(text.find_first_not_of(' '), text.size());
    std::string out(column, ' ');
    text.remove_prefix(column);
    bool is_first = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t width = columns_of(word);
        if (!is_first && column + 1 + width > kColumns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!is_first) {
            out += ' ';
            ++column;
        }
        is_first = false;
        out += word;
        column += width;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out + "\n";
}

std::string ending_line(const run::RunResult& result) {
    const std::string at = time_text(result.simulated_time);
    switch (result.ending) {
        case run::RunEnding::Done:
            return fmt::format("all flows have ended at {}", at);
        case run::RunEnding::Until:
            return fmt::format("the time was over at {}", at);
        case run::RunEnding::Stuck:
            return fmt::format("STUCK at {}: see stuck_dump in result.json", at);
        case run::RunEnding::Interrupted:
            return fmt::format("INTERRUPTED at {}: what there was until then", at);
    }
    return "";
}

std::string flows_line(const Totals& totals) {
    const GroupSummary& flows = totals.flows;
    std::string out = fmt::format("flows    {} of {} completed", flows.completed, flows.measured);
    if (flows.unfinished > 0) out += fmt::format(", {} unfinished", flows.unfinished);
    if (flows.errors > 0) out += fmt::format(", {} failed", flows.errors);
    if (flows.measured < flows.flows) out += fmt::format(" ({} not measured)", flows.flows - flows.measured);
    out += fmt::format("; {} delivered", expect::value_text(MetricUnit::Size, static_cast<double>(flows.delivered)));
    if (totals.throughput) out += ", " + expect::value_text(MetricUnit::Rate, *totals.throughput);
    return out;
}

std::string network_line(const Totals& totals) {
    const run::PortCounts& ports = totals.ports;
    std::string out = fmt::format("network  {} drops, {} pauses", ports.drops, ports.pauses_sent);
    if (ports.paused_time > sim::SimTime::zero()) out += fmt::format(" (paused {})", time_text(ports.paused_time));
    out += fmt::format(", {} marks, {} CNPs", ports.marks, totals.flows.cnps);
    const std::array<std::pair<uint64_t, std::string_view>, 5> rare{{{ports.other_drops, "other drops"},
                                                                     {ports.corrupted, "corrupted"},
                                                                     {ports.trims, "trims"},
                                                                     {totals.flows.retransmissions, "retransmissions"},
                                                                     {totals.flows.timeouts, "timeouts"}}};
    for (const auto& [count, name] : rare) {
        if (count > 0) out += fmt::format(", {} {}", count, name);
    }
    if (!totals.max_queue_at.empty()) {
        out += fmt::format("; longest queue {} at {}",
                           expect::value_text(MetricUnit::Size, static_cast<double>(totals.max_queue)),
                           totals.max_queue_at);
    }
    return out;
}

/// Columns of a group: name, flows, FCT, slowdown, goodput; of a collective its bus bandwidth.
std::string group_line(const expect::ResultIndex& index, uint32_t number) {
    const run::GroupRecord& group = index.result().groups[number];
    const GroupSummary summary = summary_of_group(index, number);
    const auto pair = [](MetricUnit unit, const expect::Distribution& d) {
        if (d.count == 0) return std::string("-");
        return expect::value_text(unit, d.p50) + " / " + expect::value_text(unit, d.p99);
    };
    std::string rate = "-";
    if (summary.bus_bandwidth.count > 0) {
        rate = expect::value_text(MetricUnit::Rate, summary.bus_bandwidth.mean) + " bus";
    } else if (summary.goodput.count > 0) {
        rate = expect::value_text(MetricUnit::Rate, summary.goodput.mean);
    }
    return fmt::format("  {:<14.14} {:>7}  {:<21}  {:<15}  {}", group.name, summary.measured,
                       pair(MetricUnit::Time, summary.fct), pair(MetricUnit::Number, summary.slowdown), rate);
}

std::string_view mark_of(expect::Outcome outcome) {
    switch (outcome) {
        case expect::Outcome::Passed:
            return "✓";
        case expect::Outcome::Failed:
            return "✗";
        case expect::Outcome::NotEvaluable:
            return "?";
    }
    return "";
}

/// Those that passed need no sentence: their value says enough. Of a long text only the first line.
std::string verdict_line(const expect::ExpectationVerdict& verdict) {
    std::string_view text = verdict.sentence;
    text = text.substr(0, text.find('\n'));
    const bool is_named = verdict.name != verdict.text;
    return fmt::format("{} {}{}", mark_of(verdict.outcome), is_named ? verdict.name + ": " : "", text);
}

void add_verdicts(const std::vector<expect::ExpectationVerdict>& verdicts, std::string& out) {
    if (verdicts.empty()) return;
    const auto passed = std::count_if(verdicts.begin(), verdicts.end(),
                                      [](const auto& verdict) { return verdict.outcome == expect::Outcome::Passed; });
    out += fmt::format("{} of {} expectations are met\n", passed, verdicts.size());
    std::vector<const expect::ExpectationVerdict*> shown;
    shown.reserve(verdicts.size());
    for (const expect::ExpectationVerdict& verdict : verdicts) shown.push_back(&verdict);
    if (shown.size() > kMaxVerdicts) {
        std::stable_partition(shown.begin(), shown.end(), [](const expect::ExpectationVerdict* verdict) {
            return verdict->outcome != expect::Outcome::Passed;
        });
    }
    for (std::size_t i = 0; i < std::min(shown.size(), kMaxVerdicts); ++i) {
        out += wrapped("  " + verdict_line(*shown[i]), 4);
    }
    if (shown.size() > kMaxVerdicts) {
        out += fmt::format("  … and {} more: see result.json\n", shown.size() - kMaxVerdicts);
    }
}

/// "'flap' fired 2 times, from 1 ms to 3 ms".
std::string fault_text(const run::FaultRecord& fault) {
    if (fault.fired == 0)
        return fmt::format("'{}' never fired{}", fault.name, fault.silence.empty() ? "" : ": " + fault.silence);
    const std::string times = fault.fired == 1 ? "once" : fmt::format("{} times", fault.fired);
    const std::string when = fault.first == fault.last
                                 ? "at " + time_text(fault.first)
                                 : fmt::format("from {} to {}", time_text(fault.first), time_text(fault.last));
    return fmt::format("'{}' fired {}, {}", fault.name, times, when);
}

void add_faults(const run::RunResult& result, std::string& out) {
    if (result.faults.empty()) return;
    std::string text = "faults   ";
    for (std::size_t i = 0; i < std::min(result.faults.size(), kMaxFaults); ++i)
        text += (i == 0 ? "" : "; ") + fault_text(result.faults[i]);
    if (result.faults.size() > kMaxFaults)
        text += fmt::format("; and {} more: see result.json", result.faults.size() - kMaxFaults);
    out += wrapped(text, 9);
}

}  // namespace

std::string fault_lines(const run::RunResult& result) {
    std::string out;
    for (std::size_t i = 0; i < std::min(result.faults.size(), kMaxFaults); ++i)
        out += wrapped("  fault " + fault_text(result.faults[i]), 4);
    if (result.faults.size() > kMaxFaults)
        out += fmt::format("  … and {} more faults: see result.json\n", result.faults.size() - kMaxFaults);
    return out;
}

std::string summary_text(const run::RunResult& result, const std::vector<expect::ExpectationVerdict>& verdicts) {
    const expect::ResultIndex index(result);
    const Totals totals = totals_of(index);
    std::string title = result.scenario;
    if (!result.run_name.empty()) title += fmt::format(" [{}]", result.run_name);
    if (!result.algorithm.empty()) title += fmt::format(", {}", result.algorithm);
    std::string out = wrapped(fmt::format("{}: {}", title, ending_line(result)), 2);
    out += wrapped(flows_line(totals), 9);
    out += wrapped(network_line(totals), 9);
    if (!result.groups.empty()) {
        out += fmt::format("  {:<14} {:>7}  {:<21}  {:<15}  {}\n", "group", "flows", "FCT p50 / p99", "slowdown",
                           "goodput");
    }
    for (uint32_t i = 0; i < std::min(result.groups.size(), kMaxGroups); ++i) out += group_line(index, i) + "\n";
    if (result.groups.size() > kMaxGroups) {
        out += fmt::format("  … and {} more groups: see result.json\n", result.groups.size() - kMaxGroups);
    }
    const std::vector<std::string> warnings = warnings_of(index);
    for (std::size_t i = 0; i < std::min(warnings.size(), kMaxWarnings); ++i) {
        out += wrapped("warning  " + warnings[i], 9);
    }
    if (warnings.size() > kMaxWarnings) {
        out += fmt::format("         … and {} more warnings: see result.json\n", warnings.size() - kMaxWarnings);
    }
    add_faults(result, out);
    add_verdicts(verdicts, out);
    return out;
}

}  // namespace simverbs::scenarios::output
