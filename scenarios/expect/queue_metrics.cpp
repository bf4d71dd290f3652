// Bytes that wait: queues, buffers, headroom.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "scenarios/expect/metric_rules.hpp"

namespace simverbs::scenarios::expect {

namespace {

double queue_length(const run::PortCounts& counts, const std::optional<int>& priority) {
    if (priority) return static_cast<double>(counts.queue.at(static_cast<std::size_t>(*priority)));
    return static_cast<double>(std::accumulate(counts.queue.begin(), counts.queue.end(), sim::ByteCount{0}));
}

/// Adds the samples of the time asked; only the highest if that is what is asked, which keeps long series small.
template <typename Samples, typename Read>
void add_samples(const Question& question, const Samples& samples, uint32_t owner, Read read, Measurement& out) {
    const auto& times = question.result().sample_times;
    const std::size_t count = std::min(times.size(), samples.size());
    const bool keeps_highest = question.statistic.kind == StatisticKind::Max;
    std::optional<double> highest;
    for (std::size_t i = 0; i < count; ++i) {
        if (!question.span.contains(times[i])) continue;
        const double value = read(samples[i]);
        if (!keeps_highest) out.values.push_back({value, owner});
        highest = std::max(highest.value_or(value), value);
    }
    if (keeps_highest && highest) out.values.push_back({*highest, owner});
}

void collect_queue(const Question& question, Measurement& out) {
    const Selection selected = question.index.ports(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Port;
    const bool from_samples = needs_series(question.expression, *find_rule("queue"));
    const auto& priority = question.expression.selector.priority;
    for (const uint32_t number : selected.numbers) {
        const run::PortRecord& port = question.result().ports[number];
        if (!from_samples) {
            out.values.push_back({static_cast<double>(port.max_queue), number});
            continue;
        }
        const run::PortSamples* samples = question.index.port_samples(number);
        if (samples == nullptr) {
            out.problem = fmt::format("the queue of {} was not sampled in this run", port.name);
            return;
        }
        add_samples(
            question, samples->counts, number,
            [&](const run::PortCounts& counts) { return queue_length(counts, priority); }, out);
    }
}

void collect_buffer(const Question& question, Measurement& out) {
    const Selection selected = question.index.switches(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Switch;
    const bool from_samples = needs_series(question.expression, *find_rule("buffer"));
    for (const uint32_t number : selected.numbers) {
        const run::SwitchRecord& node = question.result().switches[number];
        if (!from_samples) {
            out.values.push_back({static_cast<double>(node.max_buffer), number});
            continue;
        }
        const run::SwitchSamples* samples = question.index.switch_samples(number);
        if (samples == nullptr) {
            out.problem = fmt::format("the buffer of {} was not sampled in this run", node.name);
            return;
        }
        add_samples(
            question, samples->buffer, number, [](sim::ByteCount bytes) { return static_cast<double>(bytes); }, out);
    }
}

/// Only the most that each switch has wanted is known.
void collect_headroom(const Question& question, Measurement& out) {
    const SelectorKind kind = question.expression.selector.kind;
    const bool is_highest = question.statistic.kind == StatisticKind::Max && question.span.is_whole;
    if ((kind != SelectorKind::Run && kind != SelectorKind::Switch) || !is_highest) {
        out.problem = "'headroom' is measured only as the most that a switch has wanted in the whole run";
        return;
    }
    const Selection selected = question.index.switches(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Switch;
    for (const uint32_t number : selected.numbers) {
        out.values.push_back({static_cast<double>(question.result().switches[number].max_headroom), number});
    }
}

void collect_queueing_delay(const Question&, Measurement& out) {
    out.problem = "'queueing_delay' is not measured in this run";
}

constexpr std::array kQueueRules{
    MetricRule{"queue", SampleNeed::QueueLength, false, collect_queue},
    MetricRule{"buffer", SampleNeed::BufferLength, false, collect_buffer},
    MetricRule{"headroom", SampleNeed::Nothing, false, collect_headroom},
    MetricRule{"queueing_delay", SampleNeed::Nothing, false, collect_queueing_delay},
};

}  // namespace

std::span<const MetricRule> queue_rules() noexcept {
    return kQueueRules;
}

}  // namespace simverbs::scenarios::expect
