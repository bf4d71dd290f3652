#include "scenarios/workloads/poisson_flows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/scenarios/workloads/plan_executor.hpp"

namespace simverbs::scenarios::workloads {
namespace {

PoissonParameters web_search(uint32_t hosts, double load, sim::SimTime length) {
    PoissonParameters p;
    p.common.name = "web";
    p.common.host_count = hosts;
    p.common.start = sim::SimTime::ms(1);
    const auto points = find_distribution("WebSearch")->points;
    p.sizes.assign(points.begin(), points.end());
    p.load = load;
    p.link_rate = sim::BitRate::gbps(100);
    p.until = p.common.start + length;
    return p;
}

bool same_flow(const flow::FlowSpec& a, const flow::FlowSpec& b) {
    return a.src == b.src && a.dst == b.dst && a.bytes == b.bytes && a.start == b.start && a.priority == b.priority;
}

TEST(PoissonFlows, TheLoadIsWhatWasAskedForWithinTwoPercent) {
    for (const double load : {0.3, 0.5, 0.8}) {
        flow::FlowPlan plan;
        const PoissonParameters p = web_search(320, load, sim::SimTime::ms(200));
        ASSERT_TRUE(append_poisson(plan, p).empty());
        double bits = 0;
        for (const flow::FlowSpec& flow : plan.flows) bits += 8.0 * static_cast<double>(flow.bytes);
        EXPECT_NEAR(bits / (320 * 100e9 * 0.2), load, 0.02 * load);
        expect_contract(plan);
    }
}

TEST(PoissonFlows, FlowsStartWithinTheirTimeAndGoToEveryOtherHostEvenly) {
    flow::FlowPlan plan;
    const PoissonParameters p = web_search(8, 0.5, sim::SimTime::s(1));
    ASSERT_TRUE(append_poisson(plan, p).empty());
    std::vector<std::vector<int>> count(8, std::vector<int>(8));
    for (const flow::FlowSpec& flow : plan.flows) {
        ASSERT_GE(flow.start, p.common.start);
        ASSERT_LT(flow.start, p.until);
        ++count[flow.src][flow.dst];
    }
    const double each = static_cast<double>(plan.flows.size()) / 56;
    for (int s = 0; s < 8; ++s) {
        for (int d = 0; d < 8; ++d) {
            EXPECT_NEAR(count[s][d], s == d ? 0 : each, s == d ? 0 : 5 * std::sqrt(each));
        }
    }
}

TEST(PoissonFlows, GapsHaveTheDeviationOfAPoissonProcess) {
    flow::FlowPlan plan;
    PoissonParameters p = web_search(2, 0.5, sim::SimTime::s(10));
    ASSERT_TRUE(append_poisson(plan, p).empty());
    double sum = 0;
    double squares = 0;
    double gaps = 0;
    for (std::size_t i = 1; i < plan.flows.size() && plan.flows[i].src == 0; ++i) {
        const double gap = (plan.flows[i].start - plan.flows[i - 1].start).in_s();
        sum += gap;
        squares += gap * gap;
        ++gaps;
    }
    const double mean = sum / gaps;
    EXPECT_NEAR(mean * poisson_rate(p), 1, 0.03);
    EXPECT_NEAR(std::sqrt(squares / gaps - mean * mean) / mean, 1, 0.05);
}

TEST(PoissonFlows, AnotherWorkloadOrAnotherHostChangesNothing) {
    const PoissonParameters p = web_search(16, 0.3, sim::SimTime::ms(20));
    flow::FlowPlan alone;
    ASSERT_TRUE(append_poisson(alone, p).empty());
    flow::FlowPlan both;
    PoissonParameters other = p;
    other.common.name = "other";
    ASSERT_TRUE(append_poisson(both, other).empty());
    const std::size_t first = both.flows.size();
    ASSERT_TRUE(append_poisson(both, p).empty());
    ASSERT_EQ(both.flows.size() - first, alone.flows.size());
    std::size_t equal_to_other = 0;
    for (std::size_t i = 0; i < alone.flows.size(); ++i) {
        ASSERT_TRUE(same_flow(alone.flows[i], both.flows[first + i]));
        EXPECT_EQ(both.flows[first + i].group, 1U);
        if (i < first && same_flow(alone.flows[i], both.flows[i])) ++equal_to_other;
    }
    EXPECT_EQ(equal_to_other, 0U);
}

TEST(PoissonFlows, EveryWrongParameterIsReportedAtOnce) {
    flow::FlowPlan plan;
    PoissonParameters p = web_search(1, -1, sim::SimTime::zero());
    p.common.priority = 16;
    p.link_rate = {};
    p.sizes.back().percent = 99;
    std::set<std::string> paths;
    for (const Diagnostic& problem : append_poisson(plan, p)) paths.insert(problem.path);
    EXPECT_EQ(paths, (std::set<std::string>{"hosts", "load", "priority", "link_rate", "sizes[11]", "until"}));
    EXPECT_TRUE(plan.flows.empty());
    EXPECT_FALSE(append_poisson(plan, web_search(1000, 0.5, sim::SimTime::s(1000))).empty());
    EXPECT_FALSE(append_poisson(plan, web_search(4, std::nan(""), sim::SimTime::s(1))).empty());
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
