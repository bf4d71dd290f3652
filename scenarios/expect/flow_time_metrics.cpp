// Metrics that flows' own times tell: fct, fct.slowdown, duration, bus_bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "scenarios/expect/bits_per_second.hpp"
#include "scenarios/expect/metric_rules.hpp"

namespace simverbs::scenarios::expect {

namespace {

bool is_complete(const run::FlowRecord& flow) {
    return flow.status == flow::FlowStatus::Success;
}

/// Calls `add(number, flow)` for each selected flow that completed in the time asked; says how many did not complete.
template <typename Add>
void for_each_completed(const Question& question, Measurement& out, Add add) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    std::size_t incomplete = 0;
    for (const uint32_t number : selected.numbers) {
        const run::FlowRecord& flow = question.result().flows[number];
        if (!is_complete(flow)) {
            ++incomplete;
        } else if (question.span.contains(flow.acknowledged)) {
            add(number, flow);
        }
    }
    if (incomplete > 0) {
        out.remark = fmt::format("{} of {} flows did not complete", incomplete, selected.numbers.size());
    }
}

void collect_fct(const Question& question, Measurement& out) {
    for_each_completed(question, out, [&](uint32_t number, const run::FlowRecord& flow) {
        out.values.push_back({static_cast<double>((flow.acknowledged - flow.started).in_ps()), number});
    });
}

void collect_slowdown(const Question& question, Measurement& out) {
    for_each_completed(question, out, [&](uint32_t number, const run::FlowRecord& flow) {
        if (flow.ideal <= sim::SimTime::zero()) return;
        const auto fct = static_cast<double>((flow.acknowledged - flow.started).in_ps());
        out.values.push_back({fct / static_cast<double>(flow.ideal.in_ps()), number});
    });
}

void collect_duration(const Question& question, Measurement& out) {
    sim::SimTime first = sim::SimTime::max();
    sim::SimTime last = sim::SimTime::zero();
    for_each_completed(question, out, [&](uint32_t, const run::FlowRecord& flow) {
        first = std::min(first, flow.started);
        last = std::max(last, flow.acknowledged);
    });
    if (!out.problem.empty()) return;
    if (!out.remark.empty()) {
        out.problem = out.remark;
    } else if (first == sim::SimTime::max()) {
        out.problem = "no flow completed in this time";
    } else {
        out.value = static_cast<double>((last - first).in_ps());
    }
}

/// When each iteration of a collective was complete, in order; those of the first flow that has not arrived and later
/// ones are missing. Flow i x transfers + t is transfer t of iteration i.
std::vector<sim::SimTime> iteration_ends(const run::RunResult& result, uint32_t group, uint64_t iterations,
                                         sim::SimTime& begin) {
    std::vector<const run::FlowRecord*> flows;
    for (const run::FlowRecord& flow : result.flows) {
        if (flow.group == group) flows.push_back(&flow);
    }
    std::sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
    std::vector<sim::SimTime> ends;
    if (flows.empty() || iterations == 0) return ends;
    const std::size_t transfers = flows.size() / iterations;
    begin = sim::SimTime::max();
    for (const run::FlowRecord* flow : flows) begin = std::min(begin, flow->started);
    for (uint64_t i = 0; i < iterations; ++i) {
        sim::SimTime end = ends.empty() ? begin : ends.back();
        for (std::size_t t = 0; t < transfers; ++t) end = std::max(end, flows[i * transfers + t]->received);
        if (end == sim::SimTime::max()) break;
        ends.push_back(end);
    }
    return ends;
}

/// Iteration i lasts from the end of the one before, so that the times of all add up to that of the collective: ranks
/// that are ready begin the next one before the last rank is.
void collect_bus_bandwidth(const Question& question, Measurement& out) {
    const Selection selected = question.index.groups(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Iteration;
    bool has_collective = false;
    for (const uint32_t number : selected.numbers) {
        const run::GroupRecord& group = question.result().groups[number];
        if (group.ranks == 0 || group.bus_bandwidth_factor <= 0) continue;
        has_collective = true;
        sim::SimTime begin;
        uint32_t iteration = 0;
        for (const sim::SimTime end : iteration_ends(question.result(), number, group.iterations, begin)) {
            const double bytes = static_cast<double>(group.rank_bytes) * group.bus_bandwidth_factor;
            const bool counts = question.span.contains(end) && end > begin;
            if (counts) out.values.push_back({bits_per_second(bytes, end - begin), iteration});
            begin = end;
            ++iteration;
        }
        if (iteration < group.iterations) {
            out.remark = fmt::format("{} of {} iterations of '{}' did not complete", group.iterations - iteration,
                                     group.iterations, group.name);
        }
    }
    if (out.problem.empty() && !has_collective) {
        out.problem = question.expression.selector.kind == SelectorKind::Group
                          ? fmt::format("'{}' is no collective", question.expression.selector.name)
                          : "there is no collective";
    }
}

constexpr std::array kFlowTimeRules{
    MetricRule{"fct", SampleNeed::Nothing, false, collect_fct},
    MetricRule{"fct.slowdown", SampleNeed::Nothing, false, collect_slowdown},
    MetricRule{"duration", SampleNeed::Nothing, false, collect_duration},
    MetricRule{"bus_bandwidth", SampleNeed::Nothing, false, collect_bus_bandwidth},
};

}  // namespace

std::span<const MetricRule> flow_time_rules() noexcept {
    return kFlowTimeRules;
}

}  // namespace simverbs::scenarios::expect
