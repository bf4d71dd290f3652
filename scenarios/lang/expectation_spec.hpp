// What a scenario claims about its run, as a tree that can be evaluated without the text.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/metric_table.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::scenarios {

enum class StatisticKind { None, Mean, Min, Max, Total, Count, Percentile };
/// How the values that a metric has (one a flow, one a sample, one a port) become one.
struct Statistic {
    StatisticKind kind = StatisticKind::None;  ///< None: the metric's default, see MetricInfo
    double percentile = 0;                     ///< 99.9 for p99.9
};

/// What a metric is asked of. `Run`: of everything.
struct Selector {
    SelectorKind kind = SelectorKind::Run;
    std::string name;              ///< "websearch", "tor0/5", "tor0/1 - agg0/2", "h3"; of a flow: its workload or ""
    std::optional<int64_t> index;  ///< of a flow: its number in the run, or in its workload
    std::optional<int> priority;   ///< of a queue or port: "tor0/5 priority 3" or "VL 3"
    bool is_checked = false;  ///< the name is known to exist (a workload, or a part of a topology that is no fabric)
    SourcePosition position;
};

/// A metric of something, as one number.
struct MetricExpression {
    const MetricInfo* metric = nullptr;
    Statistic statistic;
    Selector selector;
    std::optional<sim::SimTime> within;  ///< the largest value in any interval of this length (counts, times)
    std::optional<sim::SimTime> from;    ///< only what happened in [from, until)
    std::optional<sim::SimTime> until;
};

enum class Comparison { Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual };

/// A number in base units (bit/s, bytes, ps; a ratio as 0…1).
struct ExpectedValue {
    MetricUnit unit = MetricUnit::Count;
    double value = 0;
    double tolerance = 0;  ///< with Equal: relative, 0.05 for "± 5%"
};

/// "goodput of flow 3 >= 39 Gb/s", "fct.p99 of a < fct.p99 of b". "never drops" is "drops == 0".
struct MetricExpectation {
    MetricExpression left;
    Comparison comparison = Comparison::Equal;
    std::variant<ExpectedValue, MetricExpression> right;
};

/// "fault 'x' fired", "fault 'x' never fired", "fault 'x' fired 3 times".
struct FaultExpectation {
    std::string fault;
    bool has_fired = true;
    std::optional<int64_t> times;
};

/// "all flows complete", "all flows of websearch complete within 10 ms" (after time 0).
struct CompletionExpectation {
    Selector selector;  ///< Run, Group or Flow
    std::optional<sim::SimTime> within;
};

struct ExpectationSpec {
    std::string name;  ///< the statement itself if it has no name
    std::string text;
    std::variant<MetricExpectation, FaultExpectation, CompletionExpectation> statement;
    std::string path;
    SourcePosition position;
};

}  // namespace simverbs::scenarios
