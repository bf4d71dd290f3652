#include "scenarios/report/series.hpp"

#include <algorithm>
#include <numeric>

namespace simverbs::scenarios::report {

using run::PortCounts;
using run::RunResult;
using sim::SimTime;

namespace {

/// Samples [first, last] become one point, at the time of the last.
struct Interval {
    size_t first = 0;
    size_t last = 0;
    double seconds = 0;  ///< since the interval before
};

std::vector<Interval> intervals_of(const std::vector<SimTime>& times, size_t points) {
    std::vector<Interval> out;
    const size_t count = std::min(points, times.size());
    for (size_t i = 0; i < count; ++i) {
        const size_t first = i == 0 ? 0 : out.back().last + 1;
        const size_t last = times.size() * (i + 1) / count - 1;
        const SimTime before = i == 0 ? SimTime::zero() : times[first - 1];
        out.push_back({.first = first, .last = last, .seconds = (times[last] - before).in_s()});
    }
    return out;
}

/// The greatest of value(i) within each interval, of `size` samples.
template <class F>
std::vector<double> peaks(const std::vector<Interval>& intervals, size_t size, const F& value) {
    std::vector<double> out;
    for (const Interval& interval : intervals) {
        double peak = 0;
        for (size_t i = interval.first; i <= interval.last && i < size; ++i) peak = std::max(peak, value(i));
        out.push_back(peak);
    }
    return out;
}

/// Growth of value(i) within each interval, a second.
template <class F>
std::vector<double> growth(const std::vector<Interval>& intervals, size_t size, const F& value) {
    std::vector<double> out;
    double before = 0;
    for (const Interval& interval : intervals) {
        const double now = interval.last < size ? value(interval.last) : before;
        out.push_back(interval.seconds > 0 ? std::max(now - before, 0.0) / interval.seconds : 0);
        before = now;
    }
    return out;
}

double peak_of(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::ranges::max_element(values);
}

/// Adds the panel with those of the `count` series make(0), make(1), … that have the highest peaks, unless all are 0.
/// Makes some twice rather than holding all at once.
template <class F>
void add_panel(SampledSeries& out, SeriesPanel head, size_t count, size_t most, const F& make) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < count; ++i) order.emplace_back(-peak_of(make(i).values), i);
    std::ranges::sort(order);
    if (order.empty() || order.front().first == 0) return;
    head.sampled = static_cast<uint32_t>(count);
    for (size_t i = 0; i < std::min(most, count); ++i) head.series.push_back(make(order[i].second));
    out.panels.push_back(std::move(head));
}

double queued(const PortCounts& counts) {
    return static_cast<double>(std::accumulate(counts.queue.begin(), counts.queue.end(), sim::ByteCount{0}));
}

std::string flow_name(const RunResult& result, uint32_t index) {
    if (index >= result.flows.size()) return "flow " + std::to_string(index);
    const run::FlowRecord& f = result.flows[index];
    const auto host = [&](uint32_t h) { return h < result.hosts.size() ? result.hosts[h].name : std::to_string(h); };
    const std::string group = f.group < result.groups.size() ? result.groups[f.group].name : "flow";
    return group + " " + std::to_string(f.number) + " (" + host(f.src) + " > " + host(f.dst) + ")";
}

struct PortPanel {
    SeriesPanel head;
    bool is_peak;
    double (*value)(const PortCounts&);
};

const std::vector<PortPanel>& port_panels() {
    static const std::vector<PortPanel> panels{
        {{"queue", "Queues", "B", "Bytes waiting at the egress, all priorities; the peak of each interval.", 0, {}},
         true,
         queued},
        {{"rate", "Port rates", "b/s", "Bits sent, as they are on the wire; averages over each interval.", 0, {}},
         false,
         [](const PortCounts& c) { return static_cast<double>(c.tx_bytes) * 8; }},
        {{"paused", "Paused", "share", "Share of each interval in which sending was paused by the other side.", 0, {}},
         false,
         [](const PortCounts& c) { return c.paused_time.in_s(); }},
        {{"marks", "ECN marks", "1/s", "Packets marked a second.", 0, {}},
         false,
         [](const PortCounts& c) { return static_cast<double>(c.marks); }},
        {{"drops", "Drops", "1/s", "Packets dropped a second.", 0, {}},
         false,
         [](const PortCounts& c) { return static_cast<double>(c.drops + c.other_drops); }},
    };
    return panels;
}

void add_port_panels(SampledSeries& out, const RunResult& result, const std::vector<Interval>& intervals, size_t most) {
    for (const PortPanel& kind : port_panels()) {
        const auto make = [&](size_t k) -> Series {
            const run::PortSamples& samples = result.port_samples[k];
            const auto value = [&](size_t i) { return kind.value(samples.counts[i]); };
            const size_t size = samples.counts.size();
            const bool known = samples.port < result.ports.size();
            return {known ? result.ports[samples.port].name : "port " + std::to_string(samples.port),
                    kind.is_peak ? peaks(intervals, size, value) : growth(intervals, size, value)};
        };
        add_panel(out, kind.head, result.port_samples.size(), most, make);
    }
}

void add_switch_panel(SampledSeries& out, const RunResult& result, const std::vector<Interval>& intervals,
                      size_t most) {
    const auto make = [&](size_t k) -> Series {
        const run::SwitchSamples& samples = result.switch_samples[k];
        const auto value = [&](size_t i) { return static_cast<double>(samples.buffer[i]); };
        const bool known = samples.node < result.switches.size();
        return {known ? result.switches[samples.node].name : "switch " + std::to_string(samples.node),
                peaks(intervals, samples.buffer.size(), value)};
    };
    add_panel(out, {"buffer", "Switch buffers", "B", "Bytes in use; the peak of each interval.", 0, {}},
              result.switch_samples.size(), most, make);
}

void add_flow_panels(SampledSeries& out, const RunResult& result, const std::vector<Interval>& intervals, size_t most) {
    const auto delivered = [&](size_t k) -> Series {
        const run::FlowSamples& samples = result.flow_samples[k];
        const auto bits = [&](size_t i) { return static_cast<double>(samples.delivered[i]) * 8; };
        return {flow_name(result, samples.flow), growth(intervals, samples.delivered.size(), bits)};
    };
    const auto allowed = [&](size_t k) -> Series {
        const run::FlowSamples& samples = result.flow_samples[k];
        const auto rate = [&](size_t i) { return static_cast<double>(samples.rate[i].in_bps()); };
        return {flow_name(result, samples.flow), peaks(intervals, samples.rate.size(), rate)};
    };
    const size_t count = result.flow_samples.size();
    add_panel(out,
              {"delivered",
               "Flow rates: delivered",
               "b/s",
               "Payload that arrived in order; averages over each interval.",
               0,
               {}},
              count, most, delivered);
    add_panel(out,
              {"allowed",
               "Flow rates: allowed",
               "b/s",
               "What congestion control lets a sender send; the highest of each interval.",
               0,
               {}},
              count, most, allowed);
}

}  // namespace

SampledSeries thin_out(const RunResult& result, const SeriesBudget& budget) {
    constexpr size_t kFlowPanels = 2;
    constexpr size_t kFewestPoints = 50;
    const size_t most = budget.series;
    const size_t lines = std::min(most, result.port_samples.size()) * port_panels().size() +
                         std::min(most, result.switch_samples.size()) +
                         std::min(most, result.flow_samples.size()) * kFlowPanels;
    SampledSeries out;
    if (lines == 0 || result.sample_times.empty()) return out;
    const size_t points = std::clamp(budget.numbers / lines, kFewestPoints, std::max(budget.points, kFewestPoints));
    const std::vector<Interval> intervals = intervals_of(result.sample_times, points);
    for (const Interval& interval : intervals) out.times_us.push_back(result.sample_times[interval.last].in_us());
    add_port_panels(out, result, intervals, most);
    add_switch_panel(out, result, intervals, most);
    add_flow_panels(out, result, intervals, most);
    return out;
}

}  // namespace simverbs::scenarios::report
