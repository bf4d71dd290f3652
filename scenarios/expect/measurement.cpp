#include "scenarios/expect/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/expect/metric_rules.hpp"
#include "scenarios/expect/statistic.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// The time that an expression speaks of; a problem if the run did not get there.
std::string find_span(const MetricExpression& expression, const run::RunResult& result, TimeSpan& span) {
    const sim::SimTime end = result.simulated_time;
    span.from = expression.from.value_or(sim::SimTime::zero());
    span.until = std::min(expression.until.value_or(end), end);
    span.reaches_end = span.until == end && (!expression.until || *expression.until > end);
    span.is_whole = span.from == sim::SimTime::zero() && span.until == end;
    if (span.from < end || span.from == sim::SimTime::zero()) return {};
    return fmt::format("the run ended at {}, before {}", value_text(MetricUnit::Time, static_cast<double>(end.in_ps())),
                       format_quantity(QuantityKind::Time, span.from.in_ps()));
}

void finish(const Question& question, Measurement& out) {
    if (!out.problem.empty() || out.value) return;
    const StatisticKind kind = question.statistic.kind;
    const bool may_be_empty =
        kind == StatisticKind::None || kind == StatisticKind::Total || kind == StatisticKind::Count;
    if (out.values.empty() && !may_be_empty) {
        out.problem = out.remark.empty() ? "there is nothing to measure" : out.remark;
        return;
    }
    std::vector<double> values;
    values.reserve(out.values.size());
    for (const MeasuredValue& value : out.values) values.push_back(value.value);
    out.value = apply_statistic(question.statistic, std::move(values));
    if (kind == StatisticKind::Count) out.unit = MetricUnit::Count;
}

}  // namespace

const MetricRule* find_rule(std::string_view metric) noexcept {
    for (const auto rules : {flow_time_rules(), flow_count_rules(), flow_rate_rules(), port_rules(), queue_rules(),
                             pcie_rules(), run_rules()}) {
        for (const MetricRule& rule : rules) {
            if (rule.name == metric) return &rule;
        }
    }
    return nullptr;
}

bool needs_series(const MetricExpression& expression, const MetricRule& rule) noexcept {
    switch (rule.need) {
        case SampleNeed::Nothing:
        case SampleNeed::Delivered:
        case SampleNeed::Delays:
            return false;
        case SampleNeed::PortCounts:
            return expression.within.has_value();
        case SampleNeed::FlowValues:
            return true;
        case SampleNeed::QueueLength:
        case SampleNeed::BufferLength:
            break;
    }
    const StatisticKind kind = expression.statistic.kind;
    const bool is_highest = kind == StatisticKind::Max || kind == StatisticKind::None;
    return !is_highest || expression.from || expression.until || expression.selector.priority;
}

MetricProblem check_metric(const MetricExpression& expression, const ResultIndex& index) {
    const MetricRule* rule = find_rule(expression.metric->name);
    if (rule == nullptr || rule->scope == MetricScope::Everything) return {};
    const Selection selected = index.ports(expression.selector);
    if (!selected.problem.empty()) return {};
    if (rule->scope == MetricScope::WholePorts) {
        if (!expression.selector.priority) return {};
        return {fmt::format("'{}' is not measured by priority", rule->name), "ask for the whole port"};
    }
    const auto is_of_switch = [&](uint32_t port) { return index.result().ports[port].is_switch; };
    if (std::ranges::any_of(selected.numbers, is_of_switch)) return {};
    return {fmt::format("'{}' is of switches", rule->name), "ask for the switch's port"};
}

Measurement measure(const MetricExpression& expression, const ResultIndex& index) {
    Measurement out;
    out.unit = expression.metric->unit;
    const MetricRule* rule = find_rule(expression.metric->name);
    if (rule == nullptr) {
        out.problem = fmt::format("'{}' is not measured", expression.metric->name);
        return out;
    }
    if (expression.within && !rule->allows_within) {
        out.problem = fmt::format("'within' says nothing about '{}'", rule->name);
        return out;
    }
    if (const MetricProblem found = check_metric(expression, index); !found.problem.empty()) {
        out.problem = fmt::format("{}: {}", found.problem, found.advice);
        return out;
    }
    Question question{expression, index, {}, expression.statistic};
    if (question.statistic.kind == StatisticKind::None) question.statistic = default_statistic(*expression.metric);
    out.problem = find_span(expression, index.result(), question.span);
    if (out.problem.empty()) rule->collect(question, out);
    finish(question, out);
    return out;
}

std::string owner_text(const Measurement& measurement, uint32_t owner, const ResultIndex& index) {
    const run::RunResult& result = index.result();
    switch (measurement.owners) {
        case OwnerKind::None:
            return "";
        case OwnerKind::Flow:
            return index.flow_text(owner);
        case OwnerKind::Port:
            return result.ports[owner].name;
        case OwnerKind::Switch:
            return result.switches[owner].name;
        case OwnerKind::Link:
            return result.links[owner].name;
        case OwnerKind::PcieLink:
            return result.pcie_links[owner].name;
        case OwnerKind::Iteration:
            return fmt::format("iteration {}", owner);
    }
    return "";
}

}  // namespace simverbs::scenarios::expect
