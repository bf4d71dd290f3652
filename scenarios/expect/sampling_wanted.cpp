#include "scenarios/expect/sampling_wanted.hpp"

#include <algorithm>

#include "scenarios/expect/metric_rules.hpp"
#include "scenarios/expect/result_index.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// Samples in a `within`: what happens between two samples may lie in either of two intervals, so that a tenth is the
/// largest share of a growth that can be missed if it is even.
constexpr int64_t kSamplesWithin = 10;

template <typename T>
void sort_and_merge(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

void add_bounds(const MetricExpression& expression, SamplingWanted& wanted) {
    // At time 0 everything is 0.
    if (expression.from && *expression.from > sim::SimTime::zero()) wanted.instants.push_back(*expression.from);
    if (expression.until) wanted.instants.push_back(*expression.until);
}

void add_interval(const MetricExpression& expression, SamplingWanted& wanted) {
    wanted.needs_interval = true;
    if (!expression.within) return;
    const sim::SimTime interval = std::max(*expression.within / kSamplesWithin, sim::SimTime::ps(1));
    wanted.interval = std::min(wanted.interval.value_or(interval), interval);
}

void add_needs(const MetricExpression& expression, SamplingWanted& wanted) {
    const MetricRule* rule = find_rule(expression.metric->name);
    if (rule == nullptr) return;
    const bool has_bounds = expression.from || expression.until;
    const bool is_series = needs_series(expression, *rule);
    if (rule->need == SampleNeed::Nothing || (!has_bounds && !is_series)) return;
    switch (rule->need) {
        case SampleNeed::Nothing:
            return;
        case SampleNeed::PortCounts:
        case SampleNeed::QueueLength:
        case SampleNeed::Delays:
            wanted.ports.push_back(expression.selector);
            break;
        case SampleNeed::Delivered:
        case SampleNeed::FlowValues:
            wanted.flows.push_back(expression.selector);
            break;
        case SampleNeed::BufferLength:
            wanted.switches.push_back(expression.selector);
            break;
    }
    add_bounds(expression, wanted);
    if (is_series) add_interval(expression, wanted);
}

}  // namespace

SamplingWanted sampling_wanted(const std::vector<ExpectationSpec>& expectations) {
    SamplingWanted wanted;
    for (const ExpectationSpec& spec : expectations) {
        const auto* claim = std::get_if<MetricExpectation>(&spec.statement);
        if (claim == nullptr) continue;
        add_needs(claim->left, wanted);
        if (const auto* right = std::get_if<MetricExpression>(&claim->right)) add_needs(*right, wanted);
    }
    sort_and_merge(wanted.instants);
    return wanted;
}

SampledParts sampled_parts(const SamplingWanted& wanted, const run::RunResult& result) {
    const ResultIndex index(result);
    SampledParts parts;
    const auto add = [](std::vector<uint32_t>& to, const Selection& found) {
        to.insert(to.end(), found.numbers.begin(), found.numbers.end());
    };
    for (const Selector& selector : wanted.ports) add(parts.ports, index.ports(selector));
    for (const Selector& selector : wanted.switches) add(parts.switches, index.switches(selector));
    for (const Selector& selector : wanted.flows) add(parts.flows, index.flows(selector));
    sort_and_merge(parts.ports);
    sort_and_merge(parts.switches);
    sort_and_merge(parts.flows);
    return parts;
}

}  // namespace simverbs::scenarios::expect
