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

/// All runs of the sweep over algorithms, the flows of all seeds together.
Tables tables(const std::vector<std::string>& settings, uint64_t seeds = 1) {
    Tables all;
    for (auto& spec : load_library("websearch_30.yaml", settings)) {
        Bins bins;
        for (uint64_t seed = 1; seed <= seeds; ++seed) {
            spec.lab.seed = seed;
            const auto result = run(spec);
            EXPECT_EQ(result.ending, scenarios::run::RunEnding::Done);
            EXPECT_EQ(drops(result), 0U);
            add_slowdowns(result, bins);
        }
        const Table& table = all[spec.cc.algorithm] = table_of(bins);
        fmt::print("{}\n{}{}{}", spec.cc.algorithm, line_of("p50", table.p50), line_of("p95", table.p95),
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

/// How far one twentieth of the flows, and the mean of four neighbours, may be from the published curve.
struct Tolerance {
    double bin = 0;
    double fifth = 0;
};

/// Each fifth, and each bin, of all algorithms' `percentile` at `load`.
void expect_as_published(const Tables& t, int load, int percentile, Tolerance tolerance) {
    for (const PublishedCurve& curve : kPublished) {
        if (curve.load != load || curve.percentile != percentile) continue;
        const Twentieths& row = row_of(t.at(std::string(curve.algorithm)), percentile);
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

/// About 40 flows a bin: medians have their place, tails only an order.
TEST(WebSearchShort, ShortFlowsAreFastestWithHpccThenDctcpThenTheOthers) {
    auto t = tables({"until=5 ms", "measure_until=4 ms"});
    expect_short_flow_order(t);
    expect_as_published(t, 30, 50, {.bin = 0.35, .fifth = 0.15});
}

TEST(WebSearchFull, At30PercentSlowdownsAreThosePublished) {
    auto t = tables({}, 2);
    expect_short_flow_order(t);
    expect_as_published(t, 30, 50, {.bin = 0.15, .fifth = 0.10});
    expect_as_published(t, 30, 95, {.bin = 0.25, .fifth = 0.15});
    expect_as_published(t, 30, 99, {.bin = 0.50, .fifth = 0.25});
}

TEST(WebSearchFull, At50PercentSlowdownsAreThosePublishedAndLongFlowsPayForShortQueues) {
    auto t = tables({"load=50%", "until=16 ms"});
    expect_short_flow_order(t);
    expect_as_published(t, 50, 50, {.bin = 0.15, .fifth = 0.10});
    expect_as_published(t, 50, 95, {.bin = 0.25, .fifth = 0.15});
    expect_as_published(t, 50, 99, {.bin = 0.50, .fifth = 0.25});
    for (const auto row : {&Table::p95, &Table::p99})
        for (const char* other : {"dcqcn+window", "dctcp"})
            EXPECT_GT(long_flows(t["hpcc"].*row), long_flows(t[other].*row)) << other;
}

}  // namespace

}  // namespace simverbs::fidelity
