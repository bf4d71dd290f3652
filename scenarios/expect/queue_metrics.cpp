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

uint32_t headroom_of(const std::array<uint32_t, run::kLosslessPriorities>& by_priority,
                     const std::optional<int>& priority) {
    if (!priority) return std::accumulate(by_priority.begin(), by_priority.end(), 0U);
    const auto index = static_cast<std::size_t>(*priority);
    return index < by_priority.size() ? by_priority[index] : 0U;
}

/// Ports of switches among those selected; adapters have neither queues nor headroom of this kind.
std::vector<uint32_t> switch_ports(const Question& question, Measurement& out) {
    const Selection selected = question.index.ports(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Port;
    std::vector<uint32_t> ports;
    for (const uint32_t number : selected.numbers)
        if (question.result().ports[number].is_switch) ports.push_back(number);
    return ports;
}

/// The highest of the whole run is known exactly, of each port and priority; all else is sampled.
void collect_headroom(const Question& question, Measurement& out) {
    const auto& priority = question.expression.selector.priority;
    const bool is_highest = question.statistic.kind == StatisticKind::Max && question.span.is_whole;
    const SelectorKind kind = question.expression.selector.kind;
    if (is_highest && !priority && (kind == SelectorKind::Run || kind == SelectorKind::Switch)) {
        const Selection selected = question.index.switches(question.expression.selector);
        out.problem = selected.problem;
        out.owners = OwnerKind::Switch;
        for (const uint32_t number : selected.numbers)
            out.values.push_back({static_cast<double>(question.result().switches[number].max_headroom), number});
        return;
    }
    for (const uint32_t number : switch_ports(question, out)) {
        const run::PortRecord& port = question.result().ports[number];
        if (is_highest) {
            const auto most = priority ? headroom_of(port.max_headroom, priority)
                                       : *std::max_element(port.max_headroom.begin(), port.max_headroom.end());
            out.values.push_back({static_cast<double>(most), number});
            continue;
        }
        const run::PortSamples* samples = question.index.port_samples(number);
        if (samples == nullptr) {
            out.problem = fmt::format("the headroom of {} was not sampled in this run", port.name);
            return;
        }
        const auto read = [&](const run::PortCounts& counts) {
            return static_cast<double>(headroom_of(counts.headroom, priority));
        };
        add_samples(question, samples->counts, number, read, out);
    }
}

/// The delays of a port that were counted before `time`, by priority; nullptr if nobody knows.
const std::vector<sim::TimeHistogram>* delays_at(const Question& question, uint32_t port, sim::SimTime time) {
    static const std::vector<sim::TimeHistogram> kNone;
    const run::RunResult& result = question.result();
    if (time >= result.simulated_time) return &result.ports[port].delays;
    if (time <= sim::SimTime::zero()) return &kNone;
    const auto sample = question.index.sample_at(time);
    const run::PortSamples* samples = question.index.port_samples(port);
    if (!sample || samples == nullptr || *sample >= samples->delays.size()) return nullptr;
    return samples->delays[*sample].empty() ? nullptr : &samples->delays[*sample];
}

std::optional<double> statistic_of(const Statistic& statistic, const sim::TimeHistogram& times) {
    switch (statistic.kind) {
        case StatisticKind::Count:
            return static_cast<double>(times.count());
        case StatisticKind::None:
        case StatisticKind::Total:
            return times.sum();
        case StatisticKind::Mean:
            return times.sum() / static_cast<double>(times.count());
        case StatisticKind::Min:
            return times.percentile(0);
        case StatisticKind::Max:
            return times.percentile(100);
        case StatisticKind::Percentile:
            return times.percentile(statistic.percentile);
    }
    return std::nullopt;
}

/// Of all packets that have left the selected queues in the time asked.
void collect_queueing_delay(const Question& question, Measurement& out) {
    const auto& priority = question.expression.selector.priority;
    sim::TimeHistogram all;
    for (const uint32_t number : switch_ports(question, out)) {
        const auto* before = delays_at(question, number, question.span.from);
        const auto* after = delays_at(question, number, question.span.until);
        if (before == nullptr || after == nullptr || after->empty()) {
            out.problem = "'queueing_delay' is not measured in this run";
            return;
        }
        for (std::size_t p = 0; p < after->size(); ++p) {
            if (priority && static_cast<std::size_t>(*priority) != p) continue;
            all.add((*after)[p]);
            if (p < before->size()) all.subtract((*before)[p]);
        }
    }
    if (!out.problem.empty()) return;
    out.owners = OwnerKind::None;
    if (all.count() == 0 && question.statistic.kind != StatisticKind::Count) {
        out.problem = "no packet left in this time";
        return;
    }
    out.value = statistic_of(question.statistic, all);
    if (question.statistic.kind == StatisticKind::Count) out.unit = MetricUnit::Count;
}

constexpr std::array kQueueRules{
    MetricRule{"queue", SampleNeed::QueueLength, false, collect_queue},
    MetricRule{"buffer", SampleNeed::BufferLength, false, collect_buffer},
    MetricRule{"headroom", SampleNeed::QueueLength, false, collect_headroom, MetricScope::SwitchPorts},
    MetricRule{"queueing_delay", SampleNeed::Delays, false, collect_queueing_delay, MetricScope::SwitchPorts},
};

}  // namespace

std::span<const MetricRule> queue_rules() noexcept {
    return kQueueRules;
}

}  // namespace simverbs::scenarios::expect
