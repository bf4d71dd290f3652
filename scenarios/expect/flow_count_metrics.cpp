// Metrics that count flows, and what happened to them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "scenarios/expect/metric_rules.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// Most events in any interval [t, t + length).
uint64_t most_within(std::vector<sim::SimTime> times, sim::SimTime length) {
    std::sort(times.begin(), times.end());
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        while (times[i] - times[first] >= length) ++first;
        most = std::max(most, i - first + 1);
    }
    return most;
}

/// Counts flows by an event that each has at most once; `event_of` says when, or nothing.
template <typename EventOf>
void count_events(const Question& question, Measurement& out, EventOf event_of) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    std::vector<sim::SimTime> times;
    for (const uint32_t number : selected.numbers) {
        const std::optional<sim::SimTime> time = event_of(question.result().flows[number]);
        if (!time || (!question.span.is_whole && !question.span.contains(*time))) continue;
        out.values.push_back({1, number});
        times.push_back(*time);
    }
    if (question.expression.within) {
        out.value = static_cast<double>(most_within(std::move(times), *question.expression.within));
    }
}

std::optional<sim::SimTime> end_as(const run::FlowRecord& flow, flow::FlowStatus status) {
    return flow.status == status ? std::optional(flow.acknowledged) : std::nullopt;
}

void collect_flows(const Question& question, Measurement& out) {
    if (!question.span.is_whole || question.expression.within) {
        count_events(question, out, [](const run::FlowRecord& flow) {
            return flow.started == sim::SimTime::max() ? std::nullopt : std::optional(flow.started);
        });
        return;
    }
    // Of the whole run, those count too that could not start.
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.value = static_cast<double>(selected.numbers.size());
}

void collect_completed(const Question& question, Measurement& out) {
    count_events(question, out, [](const run::FlowRecord& flow) { return end_as(flow, flow::FlowStatus::Success); });
}

void collect_errors(const Question& question, Measurement& out) {
    count_events(question, out,
                 [](const run::FlowRecord& flow) { return end_as(flow, flow::FlowStatus::RetryExceeded); });
}

void collect_unfinished(const Question& question, Measurement& out) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    for (const uint32_t number : selected.numbers) {
        const run::FlowRecord& flow = question.result().flows[number];
        // Of a part of the run: flows that were under way when it was over.
        const bool had_ended = flow.status != flow::FlowStatus::Pending &&
                               (question.span.reaches_end || flow.acknowledged < question.span.until);
        const bool had_begun = question.span.is_whole || flow.started < question.span.until;
        if (!had_ended && had_begun) out.values.push_back({1, number});
    }
}

template <auto Member>
void sum_of_flows(const Question& question, Measurement& out) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    if (out.problem.empty() && (!question.span.is_whole || question.expression.within)) {
        out.problem = fmt::format("'{}' is not measured for a part of the run", question.expression.metric->name);
        return;
    }
    for (const uint32_t number : selected.numbers) {
        out.values.push_back({static_cast<double>(question.result().flows[number].*Member), number});
    }
}

constexpr std::array kFlowCountRules{
    MetricRule{"flows", SampleNeed::Nothing, true, collect_flows},
    MetricRule{"completed", SampleNeed::Nothing, true, collect_completed},
    MetricRule{"unfinished", SampleNeed::Nothing, false, collect_unfinished},
    MetricRule{"errors", SampleNeed::Nothing, true, collect_errors},
    MetricRule{"retransmissions", SampleNeed::Nothing, true, sum_of_flows<&run::FlowRecord::retransmitted>},
    MetricRule{"timeouts", SampleNeed::Nothing, true, sum_of_flows<&run::FlowRecord::timeouts>},
    MetricRule{"naks", SampleNeed::Nothing, true, sum_of_flows<&run::FlowRecord::naks>},
    MetricRule{"cnps", SampleNeed::Nothing, true, sum_of_flows<&run::FlowRecord::cnps>},
};

}  // namespace

std::span<const MetricRule> flow_count_rules() noexcept {
    return kFlowCountRules;
}

}  // namespace simverbs::scenarios::expect
