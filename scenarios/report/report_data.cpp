#include "scenarios/report/report_data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "scenarios/report/flow_statistics.hpp"
#include "scenarios/report/port_statistics.hpp"
#include "scenarios/report/series.hpp"

namespace simverbs::scenarios::report {

using nlohmann::json;
using run::RunResult;
using sim::SimTime;

std::string run_label(const RunResult& result) {
    if (!result.run_name.empty()) return result.run_name;
    return result.scenario.empty() ? "run" : result.scenario;
}

namespace {

// A page of a hundred thousand flows and a thousand sampled ports stays below 5 MB.
constexpr size_t kSeriesNumbers = 240'000;  // of all runs; a number takes about six bytes
constexpr size_t kFewestSeriesNumbers = 8'000;
constexpr size_t kPortsListed = 3'000;  // of all runs
constexpr size_t kFewestPorts = 50;
constexpr size_t kFlowsListed = 100;     // of a run
constexpr size_t kFlowsOfManyRuns = 25;  // where there are more runs than
constexpr size_t kManyRuns = 20;
constexpr size_t kGoodputIntervals = 240;
constexpr size_t kNodesDrawn = 400;
constexpr size_t kInsidesDrawn = 8;  // of a run

constexpr int kDigits = 5;  // of measured values: finer than a screen
constexpr int kShareDigits = 3;
constexpr int kTimeDigits = 8;  // of instants, which differ little from each other

/// `value` with so many significant digits; whole numbers without a point; null if it is not finite.
json number(double value, int digits = kDigits) {
    if (!std::isfinite(value)) return nullptr;
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
    double rounded = 0;
    std::from_chars(text, end, rounded);
    constexpr double kExact = 9e15;  // below 2^53: whole numbers are exact
    if (rounded == std::floor(rounded) && std::fabs(rounded) < kExact) return static_cast<int64_t>(rounded);
    return rounded;
}

json number(const std::optional<double>& value) {
    return value ? number(*value) : json(nullptr);
}

json numbers(const std::vector<double>& values, int digits = kDigits) {
    json out = json::array();
    for (const double value : values) out.push_back(number(value, digits));
    return out;
}

json instant(SimTime time) {
    return time == SimTime::max() ? json(nullptr) : number(time.in_us(), kTimeDigits);
}

json slowdown_bins(const RunResult& result) {
    json out = json::array();
    for (const SizeBin& bin : slowdown_by_size(result.flows)) {
        out.push_back({number(bin.bytes), bin.flows, number(bin.p50), number(bin.p95), number(bin.p99)});
    }
    return out;
}

json distribution_of(std::vector<double> values) {
    std::ranges::sort(values);
    json x = json::array();
    json y = json::array();
    for (const auto& [value, share] : distribution(values)) {
        x.push_back(number(value));
        y.push_back(number(share, kTimeDigits));
    }
    return {{"x", std::move(x)}, {"y", std::move(y)}};
}

json distributions(const RunResult& result) {
    std::vector<double> times;
    std::vector<double> slowdowns;
    for (const run::FlowRecord& f : result.flows) {
        if (!f.is_measured) continue;
        if (const auto time = completion_time(f)) times.push_back(time->in_us());
        if (const auto s = slowdown(f)) slowdowns.push_back(*s);
    }
    return {{"fct", distribution_of(std::move(times))}, {"slowdown", distribution_of(std::move(slowdowns))}};
}

json goodput(const RunResult& result) {
    const GoodputOverTime all = goodput_over_time(result, kGoodputIntervals);
    return {{"step", number(all.interval.in_us(), kTimeDigits)}, {"values", numbers(all.bits_a_second)}};
}

json sampled(const RunResult& result, const SeriesBudget& budget) {
    const SampledSeries series = thin_out(result, budget);
    json panels = json::array();
    for (const SeriesPanel& panel : series.panels) {
        json lines = json::array();
        for (const Series& line : panel.series)
            lines.push_back({{"name", line.name}, {"values", numbers(line.values)}});
        panels.push_back({{"id", panel.id},
                          {"title", panel.title},
                          {"unit", panel.unit},
                          {"note", panel.note},
                          {"sampled", panel.sampled},
                          {"series", std::move(lines)}});
    }
    return {{"times", numbers(series.times_us, kTimeDigits)}, {"panels", std::move(panels)}};
}

/// A row for each: name, rate, utilisation, paused share, max queue, drops, marks, pauses sent, pauses received.
json port_rows(const RunResult& result, size_t most) {
    json rows = json::array();
    for (const uint32_t i : notable_ports(result, most)) {
        const run::PortRecord& port = result.ports[i];
        rows.push_back({port.name, number(static_cast<double>(port.rate.in_bps())),
                        number(utilisation(port, result.simulated_time)),
                        number(paused_share(port, result.simulated_time)), port.max_queue, all_drops(port.end),
                        port.end.marks, port.end.pauses_sent, port.end.pauses_received});
    }
    return rows;
}

/// A row for each: name, from, to, bytes, start, FCT (us), slowdown, resent, timeouts, CNPs, what became of it.
json flow_rows(const RunResult& result, size_t most) {
    static constexpr const char* kStatus[] = {"unfinished", "done", "failed"};
    const auto host = [&](uint32_t h) { return h < result.hosts.size() ? result.hosts[h].name : std::string("?"); };
    json rows = json::array();
    for (const uint32_t i : worst_flows(result.flows, most)) {
        const run::FlowRecord& f = result.flows[i];
        const std::string group = f.group < result.groups.size() ? result.groups[f.group].name : "flow";
        const auto time = completion_time(f);
        rows.push_back({group + " " + std::to_string(f.number), host(f.src), host(f.dst), f.bytes, instant(f.started),
                        time ? number(time->in_us()) : json(nullptr), number(slowdown(f)), f.retransmitted, f.timeouts,
                        f.cnps, kStatus[static_cast<size_t>(f.status)]});
    }
    return rows;
}

/// nodes: name, level, place. links: node a, node b, rate, utilisation a to b and b to a, paused share, drops, name.
json picture(const RunResult& result) {
    const size_t count = result.hosts.size() + result.switches.size();
    if (count > kNodesDrawn) return {{"count", count}, {"most", kNodesDrawn}};
    json nodes = json::array();
    for (const PlacedNode& node : place_nodes(result)) {
        nodes.push_back({node.is_switch ? result.switches[node.index].name : result.hosts[node.index].name, node.level,
                         node.place, node.is_switch ? 1 : 0});
    }
    json links = json::array();
    const SimTime time = result.simulated_time;
    for (const run::LinkRecord& link : result.links) {
        if (link.a >= result.ports.size() || link.b >= result.ports.size()) continue;
        const run::PortRecord& a = result.ports[link.a];
        const run::PortRecord& b = result.ports[link.b];
        const auto node = [&](const run::PortRecord& p) { return p.is_switch ? result.hosts.size() + p.node : p.node; };
        if (node(a) >= count || node(b) >= count) continue;
        links.push_back({node(a), node(b), number(static_cast<double>(link.rate.in_bps())),
                         number(utilisation(a, time)), number(utilisation(b, time)),
                         number(std::max(paused_share(a, time), paused_share(b, time))),
                         all_drops(a.end) + all_drops(b.end), link.name});
    }
    return {{"count", count}, {"most", kNodesDrawn}, {"nodes", std::move(nodes)}, {"links", std::move(links)}};
}

/// What the page shows of one direction of a link: width of the bins (us), busy shares, the mean of the run.
json link_use(const run::HostInsideRecord& inside, uint32_t part, SimTime end) {
    if (part >= inside.parts.size() || end <= SimTime::zero()) return nullptr;
    const run::InsidePart& p = inside.parts[part];
    json values = json::array();
    for (size_t i = 0; i < p.bins.size(); ++i) {
        const SimTime from = p.bin * static_cast<int64_t>(i);
        const SimTime length = std::min(from + p.bin, end) - from;
        const double share = static_cast<double>(p.bins[i].in_ps()) / static_cast<double>(length.in_ps());
        values.push_back(number(std::min(share, 1.0), kShareDigits));
    }
    return {{"bin", number(p.bin.in_us(), kTimeDigits)},
            {"values", std::move(values)},
            {"mean", number(static_cast<double>(p.busy.in_ps()) / static_cast<double>(end.in_ps()), kShareDigits)}};
}

std::string_view kind_of(run::InsideKind kind) {
    switch (kind) {
        case run::InsideKind::NumaNode:
            return "numa";
        case run::InsideKind::HostBridge:
            return "bridge";
        case run::InsideKind::Switch:
            return "switch";
        case run::InsideKind::Adapter:
            return "adapter";
        case run::InsideKind::Gpu:
            return "gpu";
    }
    return "";
}

/// Devices in the order of the tree, with how deep they are in it.
json inside_tree(const run::HostInsideRecord& inside, SimTime end) {
    json devices = json::array();
    std::vector<int> depths;
    for (const run::InsideDevice& device : inside.devices) {
        depths.push_back(device.parent < depths.size() ? depths[device.parent] + 1 : 0);
        devices.push_back({{"name", device.name},
                           {"kind", kind_of(device.kind)},
                           {"what", device.what},
                           {"link", device.link.empty() ? json(nullptr) : json(device.link)},
                           {"depth", depths.back()},
                           {"up", link_use(inside, device.up, end)},
                           {"down", link_use(inside, device.down, end)}});
    }
    return {{"host", inside.host},
            {"platform", inside.platform},
            {"end", number(end.in_us(), kTimeDigits)},
            {"devices", std::move(devices)}};
}

json insides(const RunResult& result, size_t most) {
    json out = json::array();
    for (size_t i = 0; i < std::min(most, result.insides.size()); ++i)
        out.push_back(inside_tree(result.insides[i], result.simulated_time));
    return out;
}

/// What charts of several runs show of one.
json chart_data(const RunResult& result, size_t runs) {
    const SeriesBudget budget{.numbers = std::max(kSeriesNumbers / runs, kFewestSeriesNumbers)};
    return {{"label", run_label(result)},
            {"bins", slowdown_bins(result)},
            {"distributions", distributions(result)},
            {"goodput", goodput(result)},
            {"sampled", sampled(result, budget)}};
}

}  // namespace

json comparison_data(const std::vector<ReportRun>& runs) {
    json list = json::array();
    for (const ReportRun& run : runs) list.push_back(chart_data(run.result, runs.size()));
    return {{"runs", std::move(list)}};
}

json report_data(const std::vector<ReportRun>& runs) {
    const size_t count = std::max<size_t>(runs.size(), 1);
    const size_t ports = std::max(kPortsListed / count, kFewestPorts);
    const size_t flows = runs.size() > kManyRuns ? kFlowsOfManyRuns : kFlowsListed;
    json list = json::array();
    for (const ReportRun& run : runs) {
        const RunResult& result = run.result;
        json data = chart_data(result, count);
        data["portCount"] = result.ports.size();
        data["ports"] = port_rows(result, ports);
        const size_t shown_insides = runs.size() > kManyRuns ? 1 : kInsidesDrawn;
        data["insides"] = insides(result, shown_insides);
        data["insidesLeftOut"] = result.insides.size() - std::min(shown_insides, result.insides.size());
        data["flowCount"] = result.flows.size();
        data["flows"] = flow_rows(result, flows);
        data["topology"] = picture(result);
        list.push_back(std::move(data));
    }
    return {{"runs", std::move(list)}};
}

}  // namespace simverbs::scenarios::report
