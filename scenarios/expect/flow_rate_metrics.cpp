// Metrics of payload over time, and what is sampled of flows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "scenarios/expect/bits_per_second.hpp"
#include "scenarios/expect/metric_rules.hpp"
#include "scenarios/expect/statistic.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios::expect {

namespace {

std::string no_payload_known(const Question& question, uint32_t flow, sim::SimTime time) {
    const std::string when = time == question.result().simulated_time
                                 ? "the end of the run"
                                 : format_quantity(QuantityKind::Time, time.in_ps());
    return fmt::format("the payload delivered at {} is not measured ({})", when, question.index.flow_text(flow));
}

/// Payload of each selected flow in the time asked: `add(number, bytes)`.
template <typename Add>
void for_each_delivery(const Question& question, Measurement& out, Add add) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    for (const uint32_t number : selected.numbers) {
        const auto before = delivered_at(question.index, number, question.span.from);
        const auto after = delivered_at(question.index, number, question.span.until);
        if (before && after) {
            add(number, *after - *before);
        } else if (out.problem.empty()) {
            out.problem = no_payload_known(question, number, before ? question.span.until : question.span.from);
        }
    }
}

void collect_bytes(const Question& question, Measurement& out) {
    for_each_delivery(question, out, [&](uint32_t number, sim::ByteCount bytes) {
        out.values.push_back({static_cast<double>(bytes), number});
    });
}

/// Contributions of the flows: their sum is the throughput.
void collect_throughput(const Question& question, Measurement& out) {
    // Without a time of its own it is the one in which measured flows may be active.
    const sim::SimTime from =
        question.expression.from ? question.span.from : std::min(question.result().measure_from, question.span.until);
    const sim::SimTime length = question.span.until - from;
    if (length <= sim::SimTime::zero()) {
        out.problem = "no time was measured";
        return;
    }
    for_each_delivery(question, out, [&](uint32_t number, sim::ByteCount bytes) {
        out.values.push_back({bits_per_second(static_cast<double>(bytes), length), number});
    });
}

void collect_fairness(const Question& question, Measurement& out) {
    collect_goodput(question, out);
    if (!out.problem.empty()) return;
    std::vector<double> goodputs;
    for (const MeasuredValue& value : out.values) goodputs.push_back(value.value);
    out.owners = OwnerKind::None;
    out.values.clear();
    const double index = jain_index(goodputs);
    if (index > 0) {
        out.value = index;
    } else {
        out.problem = "no flow delivered anything";
    }
}

/// Values of flows that are under way (0: the flow is not), at every instant that was sampled in the time asked.
template <auto Member, typename Convert>
void collect_sampled(const Question& question, Measurement& out, Convert convert) {
    const Selection selected = question.index.flows(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Flow;
    const auto& times = question.result().sample_times;
    bool is_sampled = false;
    for (const uint32_t number : selected.numbers) {
        const run::FlowSamples* samples = question.index.flow_samples(number);
        if (samples == nullptr || (samples->*Member).empty()) continue;
        is_sampled = true;
        const std::size_t count = std::min(times.size(), (samples->*Member).size());
        for (std::size_t i = 0; i < count; ++i) {
            const double value = convert((samples->*Member)[i]);
            if (value > 0 && question.span.contains(times[i])) out.values.push_back({value, number});
        }
    }
    if (out.problem.empty() && !is_sampled) {
        out.problem = fmt::format("'{}' was not sampled in this run", question.expression.metric->name);
    }
}

void collect_rate(const Question& question, Measurement& out) {
    collect_sampled<&run::FlowSamples::rate>(question, out,
                                             [](sim::BitRate rate) { return static_cast<double>(rate.in_bps()); });
}

void collect_rtt(const Question& question, Measurement& out) {
    collect_sampled<&run::FlowSamples::rtt>(question, out,
                                            [](sim::SimTime time) { return static_cast<double>(time.in_ps()); });
}

constexpr std::array kFlowRateRules{
    MetricRule{"goodput", SampleNeed::Delivered, false, collect_goodput},
    MetricRule{"throughput", SampleNeed::Delivered, false, collect_throughput},
    MetricRule{"rate", SampleNeed::FlowValues, false, collect_rate},
    MetricRule{"rtt", SampleNeed::FlowValues, false, collect_rtt},
    MetricRule{"fairness", SampleNeed::Delivered, false, collect_fairness},
    MetricRule{"bytes", SampleNeed::Delivered, false, collect_bytes},
};

}  // namespace

std::optional<sim::ByteCount> delivered_at(const ResultIndex& index, uint32_t flow, sim::SimTime time) {
    const run::RunResult& result = index.result();
    const run::FlowRecord& record = result.flows[flow];
    if (record.started >= time) return 0;
    if (record.received <= time) return record.bytes;
    if (time >= result.simulated_time && record.delivered) return record.delivered;
    const auto sample = index.sample_at(time);
    const run::FlowSamples* samples = index.flow_samples(flow);
    if (!sample || samples == nullptr || *sample >= samples->delivered.size()) return std::nullopt;
    return samples->delivered[*sample];
}

void collect_goodput(const Question& question, Measurement& out) {
    for_each_delivery(question, out, [&](uint32_t number, sim::ByteCount bytes) {
        const run::FlowRecord& flow = question.result().flows[number];
        const sim::SimTime begin = std::max(flow.started, question.span.from);
        const sim::SimTime end = std::min(flow.acknowledged, question.span.until);
        if (begin < end) out.values.push_back({bits_per_second(static_cast<double>(bytes), end - begin), number});
    });
}

std::span<const MetricRule> flow_rate_rules() noexcept {
    return kFlowRateRules;
}

}  // namespace simverbs::scenarios::expect
