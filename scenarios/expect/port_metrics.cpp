// Counters of ports, and shares of links' time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/expect/bits_per_second.hpp"
#include "scenarios/expect/metric_rules.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// A port's counters at an instant; nullptr if nobody took a sample then. Nothing is counted at time 0.
const run::PortCounts* counts_at(const Question& question, uint32_t port, sim::SimTime time) {
    static const run::PortCounts kNothing;
    const run::RunResult& result = question.result();
    if (time >= result.simulated_time) return &result.ports[port].end;
    if (time <= sim::SimTime::zero()) return &kNothing;
    const auto sample = question.index.sample_at(time);
    const run::PortSamples* samples = question.index.port_samples(port);
    if (!sample || samples == nullptr || *sample >= samples->counts.size()) return nullptr;
    return &samples->counts[*sample];
}

/// What a counter has grown by in the time asked; nothing, and a problem, if that is not known.
template <typename Read>
std::optional<double> growth(const Question& question, uint32_t port, Read read, Measurement& out) {
    const run::PortCounts* before = counts_at(question, port, question.span.from);
    const run::PortCounts* after = counts_at(question, port, question.span.until);
    if (before != nullptr && after != nullptr) return read(*after) - read(*before);
    if (out.problem.empty()) {
        const sim::SimTime missing = before == nullptr ? question.span.from : question.span.until;
        out.problem = fmt::format("{} was not sampled at {}", question.result().ports[port].name,
                                  format_quantity(QuantityKind::Time, missing.in_ps()));
    }
    return std::nullopt;
}

/// A counter of all selected ports at each instant at which it is known: 0, the samples', the end.
template <typename Read>
std::vector<std::pair<sim::SimTime, double>> sums_over_time(const Question& question,
                                                            const std::vector<uint32_t>& ports, Read read) {
    std::vector<sim::SimTime> times{sim::SimTime::zero()};
    for (const sim::SimTime time : question.result().sample_times) {
        if (time > times.back() && time < question.result().simulated_time) times.push_back(time);
    }
    times.push_back(question.result().simulated_time);
    std::vector<std::pair<sim::SimTime, double>> sums;
    for (const sim::SimTime time : times) {
        if (time < question.span.from || time > question.span.until) continue;
        double sum = 0;
        bool is_known = true;
        for (const uint32_t port : ports) {
            const run::PortCounts* counts = counts_at(question, port, time);
            is_known = is_known && counts != nullptr;
            if (counts != nullptr) sum += read(*counts);
        }
        if (is_known) sums.emplace_back(time, sum);
    }
    return sums;
}

/// The largest growth from one sample to another that is at most `length` later. Counters only grow, so that the
/// latest such sample decides.
template <typename Read>
void largest_growth(const Question& question, const std::vector<uint32_t>& ports, Read read, Measurement& out) {
    const sim::SimTime length = *question.expression.within;
    const auto sums = sums_over_time(question, ports, read);
    sim::SimTime longest_gap;
    double largest = 0;
    std::size_t first = 0;
    for (std::size_t i = 1; i < sums.size(); ++i) {
        longest_gap = std::max(longest_gap, sums[i].first - sums[i - 1].first);
        while (sums[i].first - sums[first].first > length) ++first;
        largest = std::max(largest, sums[i].second - sums[first].second);
    }
    if (sums.size() < 2 || longest_gap > length) {
        out.problem = fmt::format("'{}' was not sampled every {} or more often", question.expression.metric->name,
                                  format_quantity(QuantityKind::Time, length.in_ps()));
        return;
    }
    out.value = largest;
}

template <typename Read>
void collect_counter(const Question& question, Measurement& out, Read read) {
    const Selection selected = question.index.ports(question.expression.selector);
    out.problem = selected.problem;
    if (!out.problem.empty()) return;
    if (question.expression.within && *question.expression.within < question.span.length()) {
        largest_growth(question, selected.numbers, read, out);
        return;
    }
    out.owners = OwnerKind::Port;
    for (const uint32_t port : selected.numbers) {
        if (const auto grown = growth(question, port, read, out)) out.values.push_back({*grown, port});
    }
}

template <auto Member>
void collect_count(const Question& question, Measurement& out) {
    collect_counter(question, out, [](const run::PortCounts& counts) { return static_cast<double>(counts.*Member); });
}

void collect_paused_time(const Question& question, Measurement& out) {
    collect_counter(question, out,
                    [](const run::PortCounts& counts) { return static_cast<double>(counts.paused_time.in_ps()); });
}

void collect_credit_wait(const Question& question, Measurement& out) {
    if (!question.result().is_infiniband) {
        out.problem = "the links have no credits: 'credit_wait' is of InfiniBand, 'paused_time' of Ethernet";
        return;
    }
    collect_paused_time(question, out);
}

std::optional<double> sending_share(const Question& question, uint32_t port, Measurement& out) {
    const auto bytes = growth(
        question, port, [](const run::PortCounts& counts) { return static_cast<double>(counts.tx_bytes); }, out);
    const auto rate = static_cast<double>(question.result().ports[port].rate.in_bps());
    const sim::SimTime time = question.span.length();
    if (!bytes || rate <= 0 || time <= sim::SimTime::zero()) return std::nullopt;
    return bits_per_second(*bytes, time) / rate;
}

/// Of a link or host: the busier way of each link, for an incast's link is full one way and empty the other. Else each
/// way is a value.
void collect_utilisation(const Question& question, Measurement& out) {
    const SelectorKind kind = question.expression.selector.kind;
    if (kind == SelectorKind::Link || kind == SelectorKind::Host) {
        const Selection selected = question.index.links(question.expression.selector);
        out.problem = selected.problem;
        out.owners = OwnerKind::Link;
        for (const uint32_t number : selected.numbers) {
            const run::LinkRecord& link = question.result().links[number];
            const auto forth = sending_share(question, link.a, out);
            const auto back = sending_share(question, link.b, out);
            if (forth && back) out.values.push_back({std::max(*forth, *back), number});
        }
        return;
    }
    const Selection selected = question.index.ports(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::Port;
    for (const uint32_t port : selected.numbers) {
        if (question.result().ports[port].link == run::kNone) continue;
        if (const auto share = sending_share(question, port, out)) out.values.push_back({*share, port});
    }
}

using Counts = run::PortCounts;

constexpr std::array kPortRules{
    MetricRule{"utilisation", SampleNeed::PortCounts, false, collect_utilisation},
    MetricRule{"packets", SampleNeed::PortCounts, true, collect_count<&Counts::tx_packets>, MetricScope::WholePorts},
    MetricRule{"pfc_pauses", SampleNeed::PortCounts, true, collect_count<&Counts::pauses_sent>,
               MetricScope::WholePorts},
    MetricRule{"paused_time", SampleNeed::PortCounts, true, collect_paused_time, MetricScope::WholePorts},
    MetricRule{"credit_wait", SampleNeed::PortCounts, true, collect_credit_wait, MetricScope::WholePorts},
    MetricRule{"corrupted", SampleNeed::PortCounts, true, collect_count<&Counts::corrupted>, MetricScope::WholePorts},
    MetricRule{"drops", SampleNeed::PortCounts, true, collect_count<&Counts::drops>, MetricScope::WholePorts},
    MetricRule{"lossless_drops", SampleNeed::PortCounts, true, collect_count<&Counts::lossless_drops>,
               MetricScope::WholePorts},
    MetricRule{"trims", SampleNeed::PortCounts, true, collect_count<&Counts::trims>, MetricScope::WholePorts},
    MetricRule{"ecn_marks", SampleNeed::PortCounts, true, collect_count<&Counts::marks>, MetricScope::WholePorts},
    MetricRule{"watchdog_drops", SampleNeed::PortCounts, true, collect_count<&Counts::watchdog_drops>,
               MetricScope::WholePorts},
    MetricRule{"pause_storms", SampleNeed::PortCounts, true, collect_count<&Counts::pause_storms>,
               MetricScope::WholePorts},
};

}  // namespace

std::span<const MetricRule> port_rules() noexcept {
    return kPortRules;
}

}  // namespace simverbs::scenarios::expect
