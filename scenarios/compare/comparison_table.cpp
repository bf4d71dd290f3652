#include "scenarios/compare/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scenarios/compare/read_run_folder.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/output/result_json.hpp"
#include "scenarios/output/text_columns.hpp"
#include "scenarios/report/number_text.hpp"

namespace simverbs::scenarios::compare {

using report::kNoNumber;

namespace {

using Values = std::vector<std::optional<double>>;

/// Values as text, and each over the first.
ComparisonRow row_of(std::string name, MetricUnit unit, const Values& values) {
    ComparisonRow row{.name = std::move(name), .values = {}, .ratios = {}};
    for (const auto& value : values) row.values.push_back(value ? expect::value_text(unit, *value) : kNoNumber);
    for (std::size_t i = 1; i < values.size(); ++i) {
        const bool has_ratio = values[i] && values[0] && *values[0] != 0;
        row.ratios.push_back(has_ratio ? expect::value_text(MetricUnit::Number, *values[i] / *values[0]) : kNoNumber);
    }
    return row;
}

bool is_anywhere(const Values& values) {
    return std::any_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
}

/// `of(run)` of each run; empty where `keep_equal` is false and all have the same.
template <typename Of>
void add_texts(ComparisonSection& out, const std::string& name, const std::vector<ComparedRun>& runs, bool keep_equal,
               Of of) {
    ComparisonRow row{.name = name, .values = {}, .ratios = {}};
    for (const ComparedRun& run : runs) {
        const std::string text = of(run);
        row.values.push_back(text.empty() ? kNoNumber : text);
    }
    const bool differ =
        std::adjacent_find(row.values.begin(), row.values.end(), std::not_equal_to<>()) != row.values.end();
    if (keep_equal || differ) out.rows.push_back(std::move(row));
}

std::string setting_of(const ComparedRun& run, const std::string& key) {
    for (const auto& [name, value] : run.result.settings)
        if (name == key) return value;
    return "";
}

std::string expectations_met(const ComparedRun& run) {
    if (run.verdicts.empty()) return "";
    return fmt::format("{} of {}", std::ranges::count_if(run.verdicts, &report::Verdict::passed), run.verdicts.size());
}

ComparisonSection runs_section(const std::vector<ComparedRun>& runs) {
    ComparisonSection out{.title = "Runs", .rows = {}};
    add_texts(out, "folder", runs, true, [](const ComparedRun& run) { return run.folder; });
    add_texts(out, "scenario", runs, false, [](const ComparedRun& run) { return run.result.scenario; });
    add_texts(out, "run", runs, false, [](const ComparedRun& run) { return run.run_name; });
    std::set<std::string> keys;
    for (const ComparedRun& run : runs)
        for (const auto& [key, value] : run.result.settings) keys.insert(key);
    for (const std::string& key : keys)
        add_texts(out, key, runs, false, [&](const ComparedRun& run) { return setting_of(run, key); });
    if (!keys.contains("cc.algorithm"))
        add_texts(out, "congestion control", runs, false, [](const ComparedRun& run) { return run.result.algorithm; });
    if (!keys.contains("seed"))
        add_texts(out, "seed", runs, false, [](const ComparedRun& run) { return std::to_string(run.result.seed); });
    add_texts(out, "ending", runs, false,
              [](const ComparedRun& run) { return std::string(output::ending_text(run.result.ending)); });
    add_texts(out, "expectations met", runs, true, expectations_met);
    return out;
}

template <typename Of>
Values totals_of(const std::vector<ComparedRun>& runs, Of of) {
    Values out;
    for (const ComparedRun& run : runs) out.emplace_back(run.totals.*of);
    return out;
}

ComparisonSection totals_section(const std::vector<ComparedRun>& runs) {
    ComparisonSection out{.title = "All flows and ports", .rows = {}};
    Values simulated;
    for (const ComparedRun& run : runs) simulated.emplace_back(static_cast<double>(run.result.simulated_time.in_ps()));
    const auto add = [&](const char* name, MetricUnit unit, auto of) {
        out.rows.push_back(row_of(name, unit, totals_of(runs, of)));
    };
    out.rows.push_back(row_of("simulated time", MetricUnit::Time, simulated));
    add("flows completed", MetricUnit::Count, &ComparedTotals::completed);
    add("throughput", MetricUnit::Rate, &ComparedTotals::throughput);
    add("retransmissions", MetricUnit::Count, &ComparedTotals::retransmissions);
    add("timeouts", MetricUnit::Count, &ComparedTotals::timeouts);
    add("drops", MetricUnit::Count, &ComparedTotals::drops);
    add("lossless drops", MetricUnit::Count, &ComparedTotals::lossless_drops);
    add("ECN marks", MetricUnit::Count, &ComparedTotals::marks);
    add("PFC pauses sent", MetricUnit::Count, &ComparedTotals::pauses);
    add("pause time", MetricUnit::Time, &ComparedTotals::paused);
    add("largest queue", MetricUnit::Size, &ComparedTotals::max_queue);
    return out;
}

/// The groups of this name, nullptr where a run has none.
using SameGroup = std::vector<const ComparedGroup*>;

void add_percentiles(ComparisonSection& out, const SameGroup& groups, const char* name, MetricUnit unit,
                     Percentiles ComparedGroup::*which) {
    struct Percentile {
        const char* name;
        std::optional<double> Percentiles::*value;
    };
    for (const auto& [percentile, value] :
         {Percentile{"p50", &Percentiles::p50}, {"p95", &Percentiles::p95}, {"p99", &Percentiles::p99}}) {
        Values values;
        for (const ComparedGroup* group : groups) values.push_back(group ? group->*which.*value : std::nullopt);
        if (is_anywhere(values)) out.rows.push_back(row_of(fmt::format("{} {}", name, percentile), unit, values));
    }
}

ComparisonSection group_section(const std::string& name, const SameGroup& groups) {
    ComparisonSection out{.title = name, .rows = {}};
    const auto add = [&](const char* row, MetricUnit unit, auto of) {
        Values values;
        for (const ComparedGroup* group : groups)
            values.push_back(group ? std::optional<double>(of(*group)) : std::nullopt);
        if (is_anywhere(values)) out.rows.push_back(row_of(row, unit, values));
    };
    add("flows", MetricUnit::Count, [](const ComparedGroup& g) { return g.flows; });
    add("completed", MetricUnit::Count, [](const ComparedGroup& g) { return g.completed; });
    add_percentiles(out, groups, "FCT", MetricUnit::Time, &ComparedGroup::fct);
    add_percentiles(out, groups, "slowdown", MetricUnit::Number, &ComparedGroup::slowdown);
    add("goodput, mean", MetricUnit::Rate, [](const ComparedGroup& g) { return g.goodput.mean; });
    add("bus bandwidth, mean", MetricUnit::Rate, [](const ComparedGroup& g) { return g.bus_bandwidth.mean; });
    return out;
}

}  // namespace

std::vector<ComparisonSection> compare_runs(const std::vector<ComparedRun>& runs) {
    std::vector<ComparisonSection> out{runs_section(runs)};
    std::vector<std::string> names;
    for (const ComparedRun& run : runs)
        for (const ComparedGroup& group : run.groups)
            if (std::find(names.begin(), names.end(), group.name) == names.end()) names.push_back(group.name);
    for (const std::string& name : names) {
        SameGroup groups;
        for (const ComparedRun& run : runs) {
            const auto at = std::ranges::find(run.groups, name, &ComparedGroup::name);
            groups.push_back(at == run.groups.end() ? nullptr : &*at);
        }
        out.push_back(group_section(name, groups));
    }
    out.push_back(totals_section(runs));
    return out;
}

std::vector<std::string> column_heads(std::size_t runs) {
    std::vector<std::string> out{""};
    for (std::size_t i = 0; i < runs; ++i) {
        out.push_back(column_name(i));
        if (i > 0) out.push_back(column_name(i) + "/A");
    }
    return out;
}

std::vector<std::string> texts_of(const ComparisonRow& row) {
    std::vector<std::string> out{row.name};
    for (std::size_t i = 0; i < row.values.size(); ++i) {
        out.push_back(row.values[i]);
        if (i > 0) out.push_back(row.ratios.empty() ? "" : row.ratios[i - 1]);
    }
    return out;
}

std::string comparison_text(const std::vector<ComparedRun>& runs) {
    const std::vector<ComparisonSection> sections = compare_runs(runs);
    std::vector<std::vector<std::string>> lines{column_heads(runs.size())};
    for (const ComparisonSection& section : sections) {
        if (&section != &sections.front()) lines.push_back({section.title});
        for (const ComparisonRow& row : section.rows) {
            lines.push_back(texts_of(row));
            lines.back().front().insert(0, "  ");
        }
    }
    std::vector<std::size_t> widths(lines.front().size());
    for (const auto& line : lines)
        for (std::size_t i = 0; line.size() > 1 && i < line.size(); ++i)
            widths[i] = std::max(widths[i], output::columns_of(line[i]));
    std::string out;
    for (const auto& line : lines) {
        std::string text = line.front();
        for (std::size_t i = 1; i < line.size(); ++i) {
            if (i == 1) text.append(widths[0] - output::columns_of(line[0]), ' ');
            text.append(2 + widths[i] - output::columns_of(line[i]), ' ').append(line[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    }
    return out;
}

}  // namespace simverbs::scenarios::compare
