#include "scenarios/report/port_statistics.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <tuple>

namespace simverbs::scenarios::report {

using run::PortRecord;
using run::RunResult;
using sim::SimTime;

double utilisation(const PortRecord& port, SimTime simulated_time) {
    const double bits = static_cast<double>(port.rate.in_bps()) * simulated_time.in_s();
    return bits > 0 ? static_cast<double>(port.end.tx_bytes) * 8 / bits : 0;
}

double paused_share(const PortRecord& port, SimTime simulated_time) {
    return simulated_time > SimTime::zero() ? port.end.paused_time.in_s() / simulated_time.in_s() : 0;
}

uint64_t all_drops(const run::PortCounts& counts) {
    return counts.drops + counts.other_drops;
}

PortTotals total_ports(const RunResult& result) {
    PortTotals totals;
    for (const PortRecord& port : result.ports) {
        totals.drops += all_drops(port.end);
        totals.lossless_drops += port.end.lossless_drops;
        totals.watchdog_drops += port.end.watchdog_drops;
        totals.corrupted += port.end.corrupted;
        totals.trims += port.end.trims;
        totals.marks += port.end.marks;
        totals.pauses += port.end.pauses_sent;
        totals.pause_storms += port.end.pause_storms;
        totals.paused_time += port.end.paused_time;
        totals.max_queue = std::max(totals.max_queue, port.max_queue);
    }
    return totals;
}

std::vector<uint32_t> notable_ports(const RunResult& result, size_t most) {
    std::vector<uint32_t> order(result.ports.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](uint32_t i) {
        const PortRecord& port = result.ports[i];
        return std::tuple(all_drops(port.end), port.end.paused_time, utilisation(port, result.simulated_time));
    };
    const size_t count = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](uint32_t a, uint32_t b) {
                          const auto ka = key(a);
                          const auto kb = key(b);
                          return ka != kb ? ka > kb : a < b;
                      });
    order.resize(count);
    return order;
}

namespace {

using Neighbours = std::vector<std::vector<uint32_t>>;

Neighbours neighbours_of(const RunResult& result) {
    const auto hosts = static_cast<uint32_t>(result.hosts.size());
    Neighbours out(hosts + result.switches.size());
    const auto node_of = [&](uint32_t port) -> uint32_t {
        if (port >= result.ports.size()) return run::kNone;
        const PortRecord& record = result.ports[port];
        const uint32_t node = record.is_switch ? hosts + record.node : record.node;
        return node < out.size() ? node : run::kNone;
    };
    for (const run::LinkRecord& link : result.links) {
        const uint32_t a = node_of(link.a);
        const uint32_t b = node_of(link.b);
        if (a == run::kNone || b == run::kNone) continue;
        out[a].push_back(b);
        out[b].push_back(a);
    }
    return out;
}

/// Steps from the nearest host; switches that no host reaches stand above all others.
std::vector<uint32_t> levels_of(const Neighbours& neighbours, size_t hosts) {
    std::vector<uint32_t> level(neighbours.size(), run::kNone);
    std::deque<uint32_t> queue;
    for (uint32_t h = 0; h < hosts; ++h) {
        level[h] = 0;
        queue.push_back(h);
    }
    uint32_t highest = 0;
    for (; !queue.empty(); queue.pop_front()) {
        const uint32_t node = queue.front();
        highest = std::max(highest, level[node]);
        for (const uint32_t next : neighbours[node]) {
            if (level[next] != run::kNone) continue;
            level[next] = level[node] + 1;
            queue.push_back(next);
        }
    }
    std::ranges::replace(level, run::kNone, highest + 1);
    return level;
}

}  // namespace

std::vector<PlacedNode> place_nodes(const RunResult& result) {
    const size_t hosts = result.hosts.size();
    const Neighbours neighbours = neighbours_of(result);
    const std::vector<uint32_t> level = levels_of(neighbours, hosts);
    std::vector<uint32_t> order(neighbours.size());
    std::iota(order.begin(), order.end(), 0U);
    // Hosts beside those of the same switch.
    const auto key = [&](uint32_t node) {
        const bool grouped = node < hosts && !neighbours[node].empty();
        return std::tuple(level[node], grouped ? neighbours[node].front() : node, node);
    };
    std::ranges::sort(order, {}, key);
    std::vector<PlacedNode> out(neighbours.size());
    uint32_t place = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const uint32_t node = order[i];
        place = i > 0 && level[order[i - 1]] == level[node] ? place + 1 : 0;
        const bool is_switch = node >= hosts;
        out[node] = {.is_switch = is_switch,
                     .index = is_switch ? node - static_cast<uint32_t>(hosts) : node,
                     .level = level[node],
                     .place = place};
    }
    return out;
}

}  // namespace simverbs::scenarios::report
