#include "scenarios/report/flow_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace simverbs::scenarios::report {
namespace {

using sim::SimTime;

/// A flow that starts at `start` us and takes `fct` us where it would take `ideal` us alone.
run::FlowRecord done_flow(sim::ByteCount bytes, int start, int fct, int ideal) {
    run::FlowRecord f;
    f.bytes = bytes;
    f.planned = f.started = SimTime::us(start);
    f.acknowledged = f.received = SimTime::us(start + fct);
    f.ideal = SimTime::us(ideal);
    f.status = flow::FlowStatus::Success;
    return f;
}

TEST(FlowStatistics, PercentilesAreNearestRanks) {
    std::vector<double> hundred(100);
    std::iota(hundred.begin(), hundred.end(), 1.0);
    EXPECT_EQ(percentile(hundred, 50), 50);
    EXPECT_EQ(percentile(hundred, 99), 99);
    EXPECT_EQ(percentile(hundred, 100), 100);
    EXPECT_EQ(percentile(hundred, 0), 1);
    EXPECT_EQ(percentile({7}, 99.9), 7);
    EXPECT_EQ(percentile({1, 2, 3}, 50), 2);
}

TEST(FlowStatistics, SlowdownIsTheTimeToTheLastAckOverTheIdealOne) {
    EXPECT_EQ(slowdown(done_flow(1000, 5, 30, 10)), 3.0);
    EXPECT_EQ(slowdown(done_flow(1000, 5, 30, 0)), std::nullopt);
    run::FlowRecord failed = done_flow(1000, 5, 30, 10);
    failed.status = flow::FlowStatus::RetryExceeded;
    EXPECT_EQ(slowdown(failed), std::nullopt);
    EXPECT_EQ(slowdown(run::FlowRecord{}), std::nullopt);
}

TEST(FlowStatistics, TotalsCountEndingsAndMeasureOnlyTheMeasuredFlows) {
    std::vector<run::FlowRecord> flows{
        done_flow(1'000'000, 0, 40, 10), done_flow(1'000'000, 60, 40, 20), done_flow(500, 0, 90, 10), {}, {}};
    flows[1].group = 1;
    flows[2].is_measured = false;
    flows[3].status = flow::FlowStatus::RetryExceeded;
    const FlowTotals all = total_flows(flows);
    EXPECT_EQ(all.flows, 5U);
    EXPECT_EQ(all.completed, 3U);
    EXPECT_EQ(all.failed, 1U);
    EXPECT_EQ(all.unfinished, 1U);
    EXPECT_EQ(all.measured, 4U);
    EXPECT_EQ(all.slowdown_p50, 2.0);
    EXPECT_EQ(all.slowdown_max, 4.0);
    EXPECT_NEAR(all.bits_a_second, 2'000'500 * 8 / 100e-6, 1);
    const FlowTotals second = total_flows(flows, 1);
    EXPECT_EQ(second.flows, 1U);
    EXPECT_EQ(second.slowdown_p99, 2.0);
    EXPECT_EQ(total_flows({}).slowdown_p50, std::nullopt);
}

TEST(FlowStatistics, SizeBinsHaveFlowsOfLikeSizeInOrder) {
    const std::vector<run::FlowRecord> flows{done_flow(1'000'000, 0, 30, 10), done_flow(1000, 0, 20, 10),
                                             done_flow(1000, 0, 40, 10), done_flow(0, 0, 10, 10)};
    const auto bins = slowdown_by_size(flows);
    ASSERT_EQ(bins.size(), 3U);
    EXPECT_EQ(bins[0].bytes, 1);  // an empty flow counts as one byte
    EXPECT_NEAR(bins[1].bytes, 1000, 1e-6);
    EXPECT_EQ(bins[1].flows, 2U);
    EXPECT_EQ(bins[1].p50, 2);
    EXPECT_EQ(bins[1].p99, 4);
    EXPECT_EQ(bins[2].p99, 3);
}

TEST(FlowStatistics, ADistributionEndsAtOneAndIsFineInItsTail) {
    std::vector<double> values(100'000);
    std::iota(values.begin(), values.end(), 1.0);
    const auto points = distribution(values);
    EXPECT_LT(points.size(), 300U);
    EXPECT_EQ(points.back(), std::pair(100'000.0, 1.0));
    EXPECT_EQ(points.front().first, 1);
    EXPECT_GT(points[points.size() - 2].second, 0.9999);
    for (size_t i = 1; i < points.size(); ++i) EXPECT_GT(points[i].second, points[i - 1].second);
    EXPECT_TRUE(distribution({}).empty());
    EXPECT_EQ(distribution({5}).size(), 1U);
}

TEST(FlowStatistics, GoodputOverTimeAddsUpToTheBytes) {
    run::RunResult r;
    r.simulated_time = SimTime::us(100);
    r.flows = {done_flow(125'000, 0, 100, 1), done_flow(12'500, 13, 4, 1), done_flow(777, 99, 1, 1)};
    const auto over_time = goodput_over_time(r, 10);
    ASSERT_EQ(over_time.bits_a_second.size(), 10U);
    EXPECT_EQ(over_time.interval, SimTime::us(10));
    const double sum = std::accumulate(over_time.bits_a_second.begin(), over_time.bits_a_second.end(), 0.0);
    EXPECT_NEAR(sum * 10e-6 / 8, 125'000 + 12'500 + 777, 0.01);
    EXPECT_NEAR(over_time.bits_a_second[0], 10e9, 1);
    EXPECT_NEAR(over_time.bits_a_second[1], 20e9, 1);
    EXPECT_TRUE(goodput_over_time(run::RunResult{}, 10).bits_a_second.empty());
}

TEST(FlowStatistics, TheWorstFlowsFailedThenDidNotEndThenWereSlow) {
    std::vector<run::FlowRecord> flows{
        done_flow(1, 0, 20, 10), {}, done_flow(1, 0, 90, 10), {}, done_flow(1, 0, 90, 10)};
    flows[3].status = flow::FlowStatus::RetryExceeded;
    EXPECT_EQ(worst_flows(flows, 4), (std::vector<uint32_t>{3, 1, 2, 4}));
    EXPECT_EQ(worst_flows(flows, 100).size(), 5U);
    EXPECT_TRUE(worst_flows({}, 4).empty());
}

}  // namespace
}  // namespace simverbs::scenarios::report
