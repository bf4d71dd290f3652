#include "scenarios/output/group_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/expect/measurement.hpp"
#include "scenarios/expect/value_text.hpp"

namespace simverbs::scenarios::output {

namespace {

/// Points of the figures of FCT slowdown by size in Li et al., "HPCC", SIGCOMM 2019 (WebSearch).
constexpr std::array<sim::ByteCount, 10> kWebSearchSizes{6'700,   20'000,    30'000,    50'000,    73'000,
                                                         200'000, 1'000'000, 2'000'000, 5'000'000, 30'000'000};

expect::Measurement measure_group(const expect::ResultIndex& index, std::string_view metric, const std::string& group) {
    MetricExpression expression;
    expression.metric = find_metric(metric);
    expression.selector.kind = group.empty() ? SelectorKind::Run : SelectorKind::Group;
    expression.selector.name = group;
    return expect::measure(expression, index);
}

expect::Distribution distribution_of(const expect::Measurement& measurement) {
    std::vector<double> values;
    if (!measurement.value) return {};
    values.reserve(measurement.values.size());
    for (const expect::MeasuredValue& value : measurement.values) values.push_back(value.value);
    return expect::distribution_of(std::move(values));
}

/// Distributions of the values of each bin's flows.
std::vector<expect::Distribution> by_bin(const expect::Measurement& measurement, const run::RunResult& result,
                                         const std::vector<sim::ByteCount>& ends) {
    std::vector<std::vector<double>> values(ends.size());
    for (const expect::MeasuredValue& value : measurement.values) {
        const auto end = std::lower_bound(ends.begin(), ends.end(), result.flows[value.owner].bytes);
        if (end != ends.end()) values[static_cast<std::size_t>(end - ends.begin())].push_back(value.value);
    }
    std::vector<expect::Distribution> out;
    out.reserve(values.size());
    for (std::vector<double>& bin : values) out.push_back(expect::distribution_of(std::move(bin)));
    return out;
}

void count_flow(const run::FlowRecord& flow, GroupSummary& out) {
    ++out.flows;
    if (!flow.is_measured) return;
    ++out.measured;
    switch (flow.status) {
        case flow::FlowStatus::Pending:
            ++out.unfinished;
            break;
        case flow::FlowStatus::Success:
            ++out.completed;
            break;
        case flow::FlowStatus::RetryExceeded:
            ++out.errors;
            break;
    }
    out.retransmissions += flow.retransmitted;
    out.timeouts += flow.timeouts;
    out.naks += flow.naks;
    out.cnps += flow.cnps;
    out.delivered += flow.received == sim::SimTime::max() ? flow.delivered.value_or(0) : flow.bytes;
}

void add_counts(const run::PortCounts& counts, run::PortCounts& sum) {
    sum.tx_packets += counts.tx_packets;
    sum.tx_bytes += counts.tx_bytes;
    sum.rx_packets += counts.rx_packets;
    sum.rx_bytes += counts.rx_bytes;
    sum.drops += counts.drops;
    sum.lossless_drops += counts.lossless_drops;
    sum.watchdog_drops += counts.watchdog_drops;
    sum.other_drops += counts.other_drops;
    sum.corrupted += counts.corrupted;
    sum.trims += counts.trims;
    sum.marks += counts.marks;
    sum.pauses_sent += counts.pauses_sent;
    sum.pauses_received += counts.pauses_received;
    sum.pause_storms += counts.pause_storms;
    sum.paused_time += counts.paused_time;
}

std::string lossless_drops_warning(const run::RunResult& result) {
    const run::PortRecord* worst = nullptr;
    uint64_t all = 0;
    for (const run::PortRecord& port : result.ports) {
        all += port.end.lossless_drops;
        if (worst == nullptr || port.end.lossless_drops > worst->end.lossless_drops) worst = &port;
    }
    if (all == 0) return "";
    std::string out =
        fmt::format("{} packets of a lossless class were dropped, {} of them at {}: the headroom is too small", all,
                    worst->end.lossless_drops, worst->name);
    sim::ByteCount missing = 0;
    for (const run::SwitchRecord& node : result.switches)
        missing = std::max(missing, node.max_headroom - node.headroom);
    // To the byte: whoever adds it wants no more drops.
    if (missing > 0) out += " by " + expect::exact_value_text(MetricUnit::Size, static_cast<double>(missing));
    return out;
}

/// What the PFC watchdogs have seen.
std::string pause_storms_warning(const run::RunResult& result) {
    constexpr std::size_t kPortsNamed = 4;
    uint64_t storms = 0;
    uint64_t dropped = 0;
    std::vector<std::string> names;
    for (const run::PortRecord& port : result.ports) {
        storms += port.end.pause_storms;
        dropped += port.end.watchdog_drops;
        if (port.end.pause_storms > 0) names.push_back(port.name);
    }
    if (names.empty()) return {};
    std::string out = fmt::format("pause storms detected: {} (sending was paused for too long at ", storms);
    for (std::size_t i = 0; i < std::min(names.size(), kPortsNamed); ++i) out += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kPortsNamed) out += fmt::format(" and {} more", names.size() - kPortsNamed);
    return out + fmt::format("; the watchdog dropped {} packet{})", dropped, dropped == 1 ? "" : "s");
}

}  // namespace

std::vector<sim::ByteCount> size_bin_ends(const std::string& size_distribution, std::vector<sim::ByteCount> sizes) {
    if (size_distribution == "websearch") return {kWebSearchSizes.begin(), kWebSearchSizes.end()};
    constexpr std::size_t kBins = 10;
    std::vector<sim::ByteCount> ends;
    std::sort(sizes.begin(), sizes.end());
    for (std::size_t bin = 1; bin <= kBins && !sizes.empty(); ++bin) {
        const std::size_t rank = (sizes.size() * bin + kBins - 1) / kBins;
        const sim::ByteCount end = sizes[rank - 1];
        if (ends.empty() || end > ends.back()) ends.push_back(end);
    }
    return ends;
}

GroupSummary summary_of_group(const expect::ResultIndex& index, uint32_t group) {
    const run::RunResult& result = index.result();
    const run::GroupRecord& record = result.groups[group];
    GroupSummary out;
    std::vector<sim::ByteCount> sizes;
    for (const run::FlowRecord& flow : result.flows) {
        if (flow.group != group) continue;
        count_flow(flow, out);
        if (flow.is_measured) sizes.push_back(flow.bytes);
    }
    const expect::Measurement fct = measure_group(index, "fct", record.name);
    const expect::Measurement slowdown = measure_group(index, "fct.slowdown", record.name);
    out.fct = distribution_of(fct);
    out.slowdown = distribution_of(slowdown);
    out.goodput = distribution_of(measure_group(index, "goodput", record.name));
    out.bus_bandwidth = distribution_of(measure_group(index, "bus_bandwidth", record.name));
    out.fairness = measure_group(index, "fairness", record.name).value;
    const std::vector<sim::ByteCount> ends = size_bin_ends(record.size_distribution, std::move(sizes));
    const auto fct_bins = by_bin(fct, result, ends);
    const auto slowdown_bins = by_bin(slowdown, result, ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        out.by_size.push_back({i == 0 ? 0 : ends[i - 1], ends[i], fct_bins[i], slowdown_bins[i]});
    }
    return out;
}

Totals totals_of(const expect::ResultIndex& index) {
    const run::RunResult& result = index.result();
    Totals out;
    for (const run::FlowRecord& flow : result.flows) count_flow(flow, out.flows);
    for (const run::PortRecord& port : result.ports) {
        add_counts(port.end, out.ports);
        if (port.max_queue > out.max_queue) {
            out.max_queue = port.max_queue;
            out.max_queue_at = port.name;
        }
    }
    for (const run::SwitchRecord& node : result.switches) {
        if (node.max_buffer > out.max_buffer) {
            out.max_buffer = node.max_buffer;
            out.max_buffer_at = node.name;
        }
    }
    out.throughput = measure_group(index, "throughput", "").value;
    return out;
}

std::vector<std::string> warnings_of(const expect::ResultIndex& index) {
    const run::RunResult& result = index.result();
    std::vector<std::string> out = result.warnings;
    if (std::string text = lossless_drops_warning(result); !text.empty()) out.push_back(std::move(text));
    if (std::string text = pause_storms_warning(result); !text.empty()) out.push_back(std::move(text));
    if (result.deadlocks > 0)
        out.push_back(fmt::format("circles of queues that wait for each other: {}", result.deadlocks));
    const bool is_measured = std::any_of(result.flows.begin(), result.flows.end(),
                                         [](const run::FlowRecord& flow) { return flow.is_measured; });
    if (!is_measured && !result.flows.empty()) out.push_back("no flow starts in the time that is measured");
    return out;
}

}  // namespace simverbs::scenarios::output
