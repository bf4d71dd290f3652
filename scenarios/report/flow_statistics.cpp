#include "scenarios/report/flow_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace simverbs::scenarios::report {

using flow::FlowStatus;
using run::FlowRecord;
using sim::SimTime;

std::optional<SimTime> completion_time(const FlowRecord& flow) {
    if (flow.status != FlowStatus::Success || flow.acknowledged == SimTime::max() || flow.acknowledged < flow.started)
        return std::nullopt;
    return flow.acknowledged - flow.started;
}

std::optional<double> slowdown(const FlowRecord& flow) {
    const auto time = completion_time(flow);
    if (!time || flow.ideal <= SimTime::zero()) return std::nullopt;
    return static_cast<double>(time->in_ps()) / static_cast<double>(flow.ideal.in_ps());
}

double percentile(const std::vector<double>& sorted, double percent) {
    // A hair less, so that 99% of 100 is 99 and not 100 by a rounding error.
    constexpr double kRounding = 1e-9;
    const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()) - kRounding);
    const auto index = static_cast<size_t>(std::max(rank - 1, 0.0));
    return sorted[std::min(index, sorted.size() - 1)];
}

namespace {

void add_to_totals(FlowTotals& totals, const FlowRecord& f, SimTime& first, SimTime& last) {
    ++totals.flows;
    totals.measured += f.is_measured;
    totals.retransmitted += f.retransmitted;
    totals.timeouts += f.timeouts;
    totals.naks += f.naks;
    totals.cnps += f.cnps;
    switch (f.status) {
        case FlowStatus::Pending:
            ++totals.unfinished;
            break;
        case FlowStatus::RetryExceeded:
            ++totals.failed;
            break;
        case FlowStatus::Success:
            ++totals.completed;
            break;
    }
    first = std::min(first, f.started);
    if (completion_time(f)) {
        totals.bytes += static_cast<double>(f.bytes);
        last = std::max(last, f.acknowledged);
    }
}

}  // namespace

FlowTotals total_flows(const std::vector<FlowRecord>& flows, std::optional<uint32_t> group) {
    FlowTotals totals;
    SimTime first = SimTime::max();
    SimTime last = SimTime::zero();
    std::vector<double> slowdowns;
    std::vector<double> times;
    for (const FlowRecord& f : flows) {
        if (group && f.group != *group) continue;
        add_to_totals(totals, f, first, last);
        if (!f.is_measured) continue;
        if (const auto s = slowdown(f)) slowdowns.push_back(*s);
        if (const auto t = completion_time(f)) times.push_back(t->in_us());
    }
    if (last > first) totals.bits_a_second = totals.bytes * 8 / (last - first).in_s();
    std::ranges::sort(slowdowns);
    std::ranges::sort(times);
    if (!slowdowns.empty()) {
        totals.slowdown_p50 = percentile(slowdowns, 50);
        totals.slowdown_p95 = percentile(slowdowns, 95);
        totals.slowdown_p99 = percentile(slowdowns, 99);
        totals.slowdown_max = slowdowns.back();
    }
    if (!times.empty()) {
        totals.fct_p50_us = percentile(times, 50);
        totals.fct_p99_us = percentile(times, 99);
    }
    return totals;
}

std::vector<SizeBin> slowdown_by_size(const std::vector<FlowRecord>& flows) {
    struct Bin {
        double log_sum = 0;
        std::vector<double> slowdowns;
    };
    std::map<int, Bin> bins;
    for (const FlowRecord& f : flows) {
        const auto s = slowdown(f);
        if (!s || !f.is_measured) continue;
        const double log_bytes = std::log10(static_cast<double>(std::max<sim::ByteCount>(f.bytes, 1)));
        Bin& bin = bins[static_cast<int>(std::floor(log_bytes * kBinsPerDecade))];
        bin.log_sum += log_bytes;
        bin.slowdowns.push_back(*s);
    }
    std::vector<SizeBin> out;
    for (auto& [number, bin] : bins) {
        std::ranges::sort(bin.slowdowns);
        out.push_back({.bytes = std::pow(10.0, bin.log_sum / static_cast<double>(bin.slowdowns.size())),
                       .flows = bin.slowdowns.size(),
                       .p50 = percentile(bin.slowdowns, 50),
                       .p95 = percentile(bin.slowdowns, 95),
                       .p99 = percentile(bin.slowdowns, 99)});
    }
    return out;
}

std::vector<std::pair<double, double>> distribution(const std::vector<double>& sorted) {
    constexpr size_t kEven = 200;
    constexpr size_t kTailPerDecade = 16;  // the tail: from 0.9 on, each decade of what is above
    std::vector<size_t> ranks;             // how many values are not above
    const size_t n = sorted.size();
    if (n == 0) return {};
    for (size_t i = 0; i <= kEven; ++i) ranks.push_back(std::max<size_t>(n * i / kEven, 1));
    for (size_t i = 0;; ++i) {
        const double above =
            static_cast<double>(n) * std::pow(10.0, -1 - static_cast<double>(i) / static_cast<double>(kTailPerDecade));
        if (above < 1) break;
        ranks.push_back(std::max<size_t>(n - static_cast<size_t>(above), 1));
    }
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<std::pair<double, double>> out;
    out.reserve(ranks.size());
    for (const size_t rank : ranks) {
        out.emplace_back(sorted[rank - 1], static_cast<double>(rank) / static_cast<double>(n));
    }
    return out;
}

GoodputOverTime goodput_over_time(const run::RunResult& result, size_t intervals) {
    SimTime end = result.simulated_time;
    for (const FlowRecord& f : result.flows) {
        if (f.received != SimTime::max()) end = std::max(end, f.received);
    }
    if (intervals == 0 || end <= SimTime::zero() || result.flows.empty()) return {};
    const double width = end.in_s() / static_cast<double>(intervals);
    // Differences first: a flow costs as much as it has ends, not as many intervals as it lasts.
    std::vector<double> level(intervals + 1);  // change of the rate from this interval on
    std::vector<double> extra(intervals + 1);  // what the partly covered intervals differ by
    const auto position = [&](SimTime t) { return std::clamp(t.in_s() / width, 0.0, static_cast<double>(intervals)); };
    // The rate r from position p on: all of the intervals after p, and a share of that in which p lies.
    const auto begin_rate = [&](double p, double r) {
        const auto i = std::min(static_cast<size_t>(p), intervals - 1);
        level[i + 1] += r;
        extra[i] += r * (static_cast<double>(i) + 1 - p);
    };
    for (const FlowRecord& f : result.flows) {
        if (f.received == SimTime::max() || f.started == SimTime::max() || f.received <= f.started) continue;
        const double rate = static_cast<double>(f.bytes) * 8 / (f.received - f.started).in_s();
        begin_rate(position(f.started), rate);
        begin_rate(position(f.received), -rate);
    }
    GoodputOverTime out{.interval = SimTime::ps(end.in_ps() / static_cast<int64_t>(intervals)), .bits_a_second = {}};
    double now = 0;
    for (size_t i = 0; i < intervals; ++i) {
        now += level[i];
        out.bits_a_second.push_back(std::max(now + extra[i], 0.0));
    }
    return out;
}

std::vector<uint32_t> worst_flows(const std::vector<FlowRecord>& flows, size_t most) {
    const auto badness = [&](uint32_t i) {
        constexpr double kFailed = 2e300;  // above every slowdown
        constexpr double kUnfinished = 1e300;
        if (flows[i].status == FlowStatus::RetryExceeded) return kFailed;
        if (flows[i].status == FlowStatus::Pending) return kUnfinished;
        return slowdown(flows[i]).value_or(0);
    };
    std::vector<uint32_t> order(flows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<double> keys(flows.size());
    for (uint32_t i = 0; i < flows.size(); ++i) keys[i] = badness(i);
    const auto worse = [&](uint32_t a, uint32_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; };
    const size_t count = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), worse);
    order.resize(count);
    return order;
}

}  // namespace simverbs::scenarios::report
