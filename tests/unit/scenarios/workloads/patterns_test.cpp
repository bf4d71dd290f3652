#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "scenarios/workloads/all_to_all.hpp"
#include "scenarios/workloads/incast.hpp"
#include "scenarios/workloads/perftest_flows.hpp"
#include "scenarios/workloads/permutation.hpp"
#include "tests/unit/scenarios/workloads/plan_executor.hpp"

namespace simverbs::scenarios::workloads {
namespace {

WorkloadCommon common(uint32_t hosts, std::string name = "w") {
    WorkloadCommon c;
    c.name = std::move(name);
    c.host_count = hosts;
    c.seed = 5;
    c.start = sim::SimTime::us(10);
    return c;
}

std::set<std::string> paths(const Problems& problems) {
    std::set<std::string> out;
    for (const Diagnostic& problem : problems) out.insert(problem.path);
    return out;
}

TEST(Incast, EverySenderSendsToTheTargetInEveryBurst) {
    flow::FlowPlan plan;
    IncastParameters p{common(17), host_range(0, 16), 16, 65536, sim::SimTime::us(2), 3, sim::SimTime::us(100)};
    ASSERT_TRUE(append_incast(plan, p).empty());
    ASSERT_EQ(plan.flows.size(), 48U);
    std::set<int64_t> offsets;
    for (std::size_t i = 0; i < plan.flows.size(); ++i) {
        const flow::FlowSpec& flow = plan.flows[i];
        EXPECT_EQ(flow.src, i % 16);
        EXPECT_EQ(flow.dst, 16U);
        EXPECT_EQ(flow.bytes, 65536);
        const auto offset = flow.start - sim::SimTime::us(10) - sim::SimTime::us(100) * static_cast<int64_t>(i / 16);
        EXPECT_GE(offset, sim::SimTime::zero());
        EXPECT_LT(offset, sim::SimTime::us(2));
        offsets.insert(offset.in_ps());
    }
    EXPECT_GT(offsets.size(), 40U);
    expect_contract(plan);
}

TEST(Incast, EveryWrongParameterIsReportedAtOnce) {
    flow::FlowPlan plan;
    const IncastParameters p{common(4), {0, 1, 1, 7}, 0, 0, -sim::SimTime::ps(1), 2, {}};
    EXPECT_EQ(paths(append_incast(plan, p)),
              (std::set<std::string>{"senders", "senders[3]", "target", "bytes", "jitter", "period"}));
    EXPECT_TRUE(plan.flows.empty());
}

TEST(Permutation, EveryHostSendsOnceAndReceivesOnceAndNeverFromItself) {
    for (const uint32_t n : {2U, 3U, 128U, 1024U}) {
        flow::FlowPlan plan;
        PermutationParameters p;
        p.common = common(n);
        p.bytes = 1000;
        ASSERT_TRUE(append_permutation(plan, p).empty());
        std::set<flow::HostIndex> sources;
        std::set<flow::HostIndex> destinations;
        for (const flow::FlowSpec& flow : plan.flows) {
            sources.insert(flow.src);
            destinations.insert(flow.dst);
        }
        EXPECT_EQ(sources.size(), n);
        EXPECT_EQ(destinations.size(), n);
        expect_contract(plan);
    }
}

TEST(Permutation, AllNineDerangementsOfFourAreEquallyLikely) {
    std::map<std::vector<uint32_t>, int> count;
    for (uint64_t seed = 0; seed < 9000; ++seed) {
        ++count[random_derangement(4, sim::Draws(seed, 1, sim::DrawPurpose::Workload))];
    }
    EXPECT_EQ(count.size(), 9U);
    for (const auto& [image, times] : count) EXPECT_NEAR(times, 1000, 150);
}

TEST(Permutation, TheNameDecidesAndNothingElse) {
    const auto flows_of = [](flow::FlowPlan& plan, std::string name) {
        PermutationParameters p;
        p.common = common(64, std::move(name));
        p.bytes = 1;
        EXPECT_TRUE(append_permutation(plan, p).empty());
        std::vector<flow::HostIndex> to;
        for (std::size_t i = plan.flows.size() - 64; i < plan.flows.size(); ++i) to.push_back(plan.flows[i].dst);
        return to;
    };
    flow::FlowPlan one;
    flow::FlowPlan two;
    const auto a = flows_of(one, "a");
    const auto b = flows_of(two, "b");
    EXPECT_NE(a, b);
    EXPECT_EQ(a, flows_of(two, "a"));
    PermutationParameters again;
    again.common = common(64, "a");
    again.bytes = 1;
    EXPECT_EQ(paths(append_permutation(two, again)), (std::set<std::string>{"name"}));
}

TEST(AllToAll, EachPairHasOneFlowAndNoHostHasMoreInFlightThanItMay) {
    flow::FlowPlan plan;
    AllToAllParameters p;
    p.common = common(10);
    p.hosts = {1, 3, 5, 7, 9};
    p.bytes = 100;
    p.at_once = 2;
    p.jitter = sim::SimTime::us(1);
    ASSERT_TRUE(append_all_to_all(plan, p).empty());
    expect_contract(plan);
    std::set<std::pair<flow::HostIndex, flow::HostIndex>> pairs;
    for (const flow::FlowSpec& flow : plan.flows) pairs.insert({flow.src, flow.dst});
    EXPECT_EQ(pairs.size(), 20U);
    std::map<flow::HostIndex, int> in_flight;
    int most = 0;
    EXPECT_TRUE(execute_plan(plan, 4, [&](flow::FlowIndex i, FlowEvent event) {
        int& count = in_flight[plan.flows[i].src];
        count += event == FlowEvent::Start ? 1 : event == FlowEvent::Acknowledge ? -1 : 0;
        most = std::max(most, count);
    }));
    EXPECT_EQ(most, 2);
}

TEST(AllToAll, APlanTooLargeIsRefusedBeforeItIsMade) {
    flow::FlowPlan plan;
    AllToAllParameters p;
    p.common = common(65536);
    p.bytes = 1;
    EXPECT_EQ(paths(append_all_to_all(plan, p)), (std::set<std::string>{"hosts"}));
}

TEST(Perftest, AQpHasTxDepthMessagesInFlight) {
    flow::FlowPlan plan;
    PerftestParameters p;
    p.common = common(2);
    p.dst = 1;
    p.iterations = 100;
    p.tx_depth = 16;
    p.qps = 2;
    p.is_bidirectional = true;
    ASSERT_TRUE(append_perftest(plan, p).empty());
    EXPECT_EQ(plan.flows.size(), 400U);
    expect_contract(plan);
    std::map<flow::HostIndex, int> in_flight;
    int most = 0;
    EXPECT_TRUE(execute_plan(plan, 4, [&](flow::FlowIndex i, FlowEvent event) {
        int& count = in_flight[plan.flows[i].src];
        count += event == FlowEvent::Start ? 1 : event == FlowEvent::Acknowledge ? -1 : 0;
        most = std::max(most, count);
    }));
    EXPECT_LE(most, 32);
    EXPECT_GT(most, 16);
}

TEST(Perftest, ADurationBecomesTheMessagesThatFitIntoIt) {
    flow::FlowPlan plan;
    PerftestParameters p;
    p.common = common(2);
    p.dst = 1;
    p.iterations = 0;
    p.duration = sim::SimTime::us(10);
    p.rate = sim::BitRate::gbps(100);
    p.message_bytes = 1000;
    ASSERT_TRUE(append_perftest(plan, p).empty());
    EXPECT_EQ(plan.flows.size(), 125U);
}

TEST(Perftest, LatencyIsOneMessageAtATime) {
    flow::FlowPlan plan;
    PerftestParameters p;
    p.common = common(2);
    p.kind = PerftestKind::Latency;
    p.dst = 1;
    p.iterations = 50;
    ASSERT_TRUE(append_perftest(plan, p).empty());
    EXPECT_EQ(plan.flows.size(), 100U);
    expect_contract(plan);
    flow::FlowIndex next = 0;
    EXPECT_TRUE(execute_plan(
        plan, 4, [&](flow::FlowIndex i, FlowEvent event) { EXPECT_EQ(i, event == FlowEvent::Start ? next++ : i); }));
}

TEST(Perftest, EveryWrongParameterIsReportedAtOnce) {
    flow::FlowPlan plan;
    PerftestParameters p;
    p.common = common(2);
    p.message_bytes = 0;
    p.iterations = 0;
    p.tx_depth = 0;
    p.qps = 0;
    EXPECT_EQ(paths(append_perftest(plan, p)),
              (std::set<std::string>{"dst", "message_bytes", "iterations", "tx_depth", "qps", "rate"}));
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
