// The evaluation of the HPCC group: WebSearch on 320 hosts, FCT slowdowns by size, four algorithms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "scenarios/workloads/size_distribution.hpp"
#include "tests/fidelity/fidelity_support.hpp"
#include "tests/fidelity/websearch_published.hpp"

namespace simverbs::fidelity {

namespace {

struct Table {
    Twentieths p50{}, p95{}, p99{};
};
using Tables = std::map<std::string, Table, std::less<>>;
using Bins = std::array<std::vector<double>, kTwentieths>;

/// The largest flow of each twentieth.
Twentieths largest_flows() {
    const scenarios::workloads::SizeDistribution sizes(scenarios::workloads::find_distribution("WebSearch")->points);
    Twentieths bytes{};
    for (size_t i = 0; i < kTwentieths; ++i)
        bytes[i] = static_cast<double>(sizes.size_at(static_cast<double>(i + 1) / kTwentieths));
    return bytes;
}

void add_slowdowns(const scenarios::run::RunResult& result, Bins& bins) {
    const Twentieths largest = largest_flows();
    for (const auto& flow : result.flows) {
        EXPECT_EQ(flow.status, flow::FlowStatus::Success);
        if (!flow.is_measured) continue;
        const auto bin = std::ranges::lower_bound(largest, static_cast<double>(flow.bytes));
        ASSERT_NE(bin, largest.end()) << flow.bytes << " B";
        bins[static_cast<size_t>(bin - largest.begin())].push_back(slowdown(flow));
    }
}

Table table_of(Bins& bins) {
    Table table;
    for (size_t i = 0; i < kTwentieths; ++i) {
        std::ranges::sort(bins[i]);
        table.p50[i] = percentile(bins[i], 50);
        table.p95[i] = percentile(bins[i], 95);
        table.p99[i] = percentile(bins[i], 99);
    }
    return table;
}

std::string line_of(const char* name, const Twentieths& row) {
    std::string line = fmt::format("  {:4}", name);
    for (const double v : row) line += fmt::format(" {:5.2f}", v);
    return line + "\n";
}

/// RoCEv2 on Ethernet with preamble and gap: a packet of 1000 bytes of payload, and its ACK.
constexpr double kBytesWithAck = 1082 + 86;

/// One run for each algorithm. The published load counts payload; ours makes links carry as many bytes as there.
Tables tables(double published_load, const std::vector<std::string>& settings) {
    Tables all;
    for (const PublishedBytes& published : kPublishedBytes) {
        auto with_algorithm = settings;
        with_algorithm.push_back(fmt::format("cc.algorithm={}", published.algorithm));
        with_algorithm.push_back(
            fmt::format("load={:.1f} %", published_load * (published.data + published.ack) / kBytesWithAck));
        const auto specs = load_library("websearch_30.yaml", with_algorithm);
        EXPECT_EQ(specs.size(), 1U);
        if (specs.empty()) continue;
        const auto result = run(specs.front());
        EXPECT_EQ(result.ending, scenarios::run::RunEnding::Done);
        EXPECT_EQ(drops(result), 0U);
        Bins bins;
        add_slowdowns(result, bins);
        const Table& table = all[specs.front().cc.algorithm] = table_of(bins);
        fmt::print("{}\n{}{}{}", published.algorithm, line_of("p50", table.p50), line_of("p95", table.p95),
                   line_of("p99", table.p99));
    }
    EXPECT_EQ(all.size(), 4U);
    return all;
}

double mean(const Twentieths& row, size_t first, size_t last) {
    double sum = 0;
    for (size_t i = first; i <= last; ++i) sum += row[i];
    return sum / static_cast<double>(last - first + 1);
}

/// Flows up to 73 KB, and those of 2 to 10 MB.
double short_flows(const Twentieths& row) {
    return mean(row, 0, 9);
}
double long_flows(const Twentieths& row) {
    return mean(row, 16, 18);
}

void expect_short_flow_order(Tables& t) {
    for (const auto row : {&Table::p95, &Table::p99}) {
        const double hpcc = short_flows(t["hpcc"].*row);
        const double dctcp = short_flows(t["dctcp"].*row);
        EXPECT_LT(hpcc, dctcp);
        EXPECT_LT(dctcp, short_flows(t["dcqcn+window"].*row));
        EXPECT_LT(dctcp, short_flows(t["timely+window"].*row));
    }
}

const Twentieths& row_of(const Table& table, int percentile) {
    return percentile == 50 ? table.p50 : percentile == 95 ? table.p95 : table.p99;
}

/// How far one twentieth of the flows, and the mean of four neighbours, may be from the published curve. A twentieth
/// has about 400 flows: its p99 is the fourth largest.
struct Tolerance {
    double bin = 0;
    double fifth = 0;
};

/// A published slowdown is over an ideal of packets with basic headers, ours over what the same packets take alone:
/// what the published packets take alone, over that ideal.
double ideal_with_headers(std::string_view algorithm, double bytes) {
    constexpr double kBaseRttNs = 12'240, kNsPerByte = 8.0 / 100;
    const auto* published = std::ranges::find(kPublishedBytes, algorithm, &PublishedBytes::algorithm);
    const double ns = bytes * kNsPerByte / 1000;
    return (kBaseRttNs + ns * published->data) / (kBaseRttNs + ns * kBasicBytes);
}

/// Each fifth, and each bin, of all algorithms' `percentile` at `load`.
void expect_as_published(const Tables& t, int load, int percentile, Tolerance tolerance) {
    const Twentieths largest = largest_flows();
    for (const PublishedCurve& curve : kPublished) {
        if (curve.load != load || curve.percentile != percentile) continue;
        Twentieths row = row_of(t.at(std::string(curve.algorithm)), percentile);
        for (size_t i = 0; i < kTwentieths; ++i) row[i] *= ideal_with_headers(curve.algorithm, largest[i]);
        const auto what = [&](size_t first, size_t last) {
            return fmt::format("{} p{} at {} %, twentieths {} to {} of the flows", curve.algorithm, percentile, load,
                               first + 1, last + 1);
        };
        for (size_t i = 0; i < kTwentieths; ++i)
            EXPECT_NEAR(row[i] / curve.slowdown[i], 1, tolerance.bin) << what(i, i);
        for (size_t i = 0; i < kTwentieths; i += 4)
            EXPECT_NEAR(mean(row, i, i + 3) / mean(curve.slowdown, i, i + 3), 1, tolerance.fifth) << what(i, i + 3);
    }
}

/// About 70 flows a bin, in a network that fills up: medians have their place, tails only an order.
TEST(WebSearchShort, ShortFlowsAreFastestWithHpccThenDctcpThenTheOthers) {
    auto t = tables(30, {"until=5 ms", "measure_until=4 ms"});
    expect_short_flow_order(t);
    expect_as_published(t, 30, 50, {.bin = 0.30, .fifth = 0.20});
}

TEST(WebSearchFull, At30PercentSlowdownsAreThosePublished) {
    auto t = tables(30, {"measure_from=4 ms", "measure_until=16 ms", "until=19 ms"});
    expect_short_flow_order(t);
    expect_as_published(t, 30, 50, {.bin = 0.12, .fifth = 0.06});
    expect_as_published(t, 30, 95, {.bin = 0.20, .fifth = 0.10});
    expect_as_published(t, 30, 99, {.bin = 0.60, .fifth = 0.15});
}

TEST(WebSearchFull, At50PercentSlowdownsAreThosePublishedAndLongFlowsPayForShortQueues) {
    auto t = tables(50, {"measure_from=10 ms", "measure_until=18 ms", "until=22 ms"});
    expect_short_flow_order(t);
    expect_as_published(t, 50, 50, {.bin = 0.25, .fifth = 0.15});
    expect_as_published(t, 50, 95, {.bin = 0.30, .fifth = 0.15});
    expect_as_published(t, 50, 99, {.bin = 0.60, .fifth = 0.20});
    for (const auto row : {&Table::p95, &Table::p99})
        for (const char* other : {"dcqcn+window", "dctcp"})
            EXPECT_GT(long_flows(t["hpcc"].*row), long_flows(t[other].*row)) << other;
}

}  // namespace

}  // namespace simverbs::fidelity
