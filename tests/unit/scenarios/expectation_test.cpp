// Statements about a run, as trees.
#include <gtest/gtest.h>

#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

constexpr std::string_view kScenario =
    "hosts: 4\n"
    "workloads: [{name: web, kind: incast, senders: 3, receiver: h3, bytes: 1 MB}]\n"
    "faults: [{name: cut, link: h0, drop: {packet: 1}}]\n"
    "expectations:\n  - \"";

ExpectationSpec read(std::string_view statement) {
    const ScenarioSpec spec = testing::load_one(std::string(kScenario) + std::string(statement) + "\"\n");
    if (spec.expectations.size() != 1) return {};
    EXPECT_EQ(spec.expectations[0].text, statement);
    return spec.expectations[0];
}

MetricExpectation metric(std::string_view statement) {
    const ExpectationSpec spec = read(statement);
    const auto* found = std::get_if<MetricExpectation>(&spec.statement);
    EXPECT_TRUE(found != nullptr && found->left.metric != nullptr) << statement;
    return found != nullptr ? *found : MetricExpectation{};
}

double value(const MetricExpectation& expectation) {
    return std::get<ExpectedValue>(expectation.right).value;
}

TEST(Expectation, AMetricOfAWorkloadIsComparedWithANumber) {
    const MetricExpectation e = metric("fct.slowdown.p99.9 of web < 10.5");
    EXPECT_EQ(e.left.metric->name, "fct.slowdown");
    EXPECT_EQ(e.left.statistic.kind, StatisticKind::Percentile);
    EXPECT_DOUBLE_EQ(e.left.statistic.percentile, 99.9);
    EXPECT_EQ(e.left.selector.kind, SelectorKind::Group);
    EXPECT_EQ(e.left.selector.name, "web");
    EXPECT_EQ(e.comparison, Comparison::Less);
    EXPECT_DOUBLE_EQ(value(e), 10.5);
}

TEST(Expectation, ValuesAreInBaseUnits) {
    EXPECT_EQ(value(metric("goodput of flow 3 >= 39 Gb/s")), 39e9);
    EXPECT_EQ(value(metric("fct.max of flow web[2] <= 1ms")), 1e9);
    EXPECT_EQ(value(metric("queue.p99 of sw0/4 < 200 KB")), 200e3);
    EXPECT_DOUBLE_EQ(value(metric("link sw0/4 utilisation > 97%")), 0.97);
    EXPECT_EQ(value(metric("drops = 3")), 3);
}

TEST(Expectation, TheSelectorMayComeFirst) {
    const MetricExpectation queue = metric("queue sw0/2 priority 3 p99 < 200 KB");
    EXPECT_EQ(queue.left.metric->name, "queue");
    EXPECT_EQ(queue.left.selector.kind, SelectorKind::Queue);
    EXPECT_EQ(queue.left.selector.name, "sw0/2");
    EXPECT_EQ(queue.left.selector.priority, 3);
    EXPECT_EQ(queue.left.statistic.percentile, 99);
    EXPECT_EQ(metric("link h0 - sw0/1 > 5 %").left.metric->name, "utilisation");
    EXPECT_EQ(metric("link h0 - sw0/1 > 5 %").left.selector.name, "h0 - sw0/1");
    const MetricExpectation flow = metric("flow 3 goodput mean > 1 Gb/s");
    EXPECT_EQ(flow.left.selector.index, 3);
    EXPECT_EQ(flow.left.statistic.kind, StatisticKind::Mean);
}

TEST(Expectation, ANameAloneIsAWorkloadHostSwitchOrPort) {
    EXPECT_EQ(metric("goodput of web > 0 b/s").left.selector.kind, SelectorKind::Group);
    EXPECT_EQ(metric("goodput of h1 > 0 b/s").left.selector.kind, SelectorKind::Host);
    EXPECT_EQ(metric("buffer of sw0 < 1 MB").left.selector.kind, SelectorKind::Switch);
    EXPECT_EQ(metric("drops of sw0/1 == 0").left.selector.kind, SelectorKind::Port);
    EXPECT_EQ(metric("drops == 0").left.selector.kind, SelectorKind::Run);
}

TEST(Expectation, TimesSayWhichPartOfTheRunCounts) {
    const MetricExpectation e = metric("pfc_pauses of sw0/3 within 1 ms from 2 ms until 5 ms < 5");
    EXPECT_EQ(e.left.within, sim::SimTime::ms(1));
    EXPECT_EQ(e.left.from, sim::SimTime::ms(2));
    EXPECT_EQ(e.left.until, sim::SimTime::ms(5));
}

TEST(Expectation, AnEqualityMayHaveATolerance) {
    for (const char* text : {"goodput of web == 5 Gb/s ± 5%", "goodput of web = 5 Gb/s +- 5 %"}) {
        const auto right = std::get<ExpectedValue>(metric(text).right);
        EXPECT_EQ(right.value, 5e9);
        EXPECT_DOUBLE_EQ(right.tolerance, 0.05);
    }
}

TEST(Expectation, TwoMetricsMayBeCompared) {
    const MetricExpectation e = metric("fct.p95 of web < duration");
    EXPECT_EQ(std::get<MetricExpression>(e.right).metric->name, "duration");
}

TEST(Expectation, NeverMeansThatACountIsZero) {
    const MetricExpectation e = metric("never drops of sw0");
    EXPECT_EQ(e.left.metric->name, "drops");
    EXPECT_EQ(e.comparison, Comparison::Equal);
    EXPECT_EQ(value(e), 0);
}

TEST(Expectation, FaultsFire) {
    const ExpectationSpec three = read("fault 'cut' fired 3 times");
    const auto fired = std::get<FaultExpectation>(three.statement);
    EXPECT_EQ(fired.fault, "cut");
    EXPECT_EQ(fired.times, 3);
    const ScenarioSpec spec = testing::load_one(std::string(kScenario) + "fault cut never fired\"\n");
    EXPECT_FALSE(std::get<FaultExpectation>(spec.expectations.at(0).statement).has_fired);
    EXPECT_FALSE(spec.faults.at(0).must_fire);
}

TEST(Expectation, FlowsComplete) {
    const ExpectationSpec within = read("all flows of web complete within 10 ms");
    const auto done = std::get<CompletionExpectation>(within.statement);
    EXPECT_EQ(done.selector.name, "web");
    EXPECT_EQ(done.within, sim::SimTime::ms(10));
    const ExpectationSpec ever = read("all flows complete");
    EXPECT_EQ(std::get<CompletionExpectation>(ever.statement).selector.kind, SelectorKind::Run);
}

TEST(Expectation, OfAFabricNamesPlacesThatAreStillToBeBuilt) {
    const ScenarioSpec spec = testing::load_one(
        "topology: {kind: fat_tree, k: 4}\nexpectations:\n  - {name: short queues, expect: queue tor0/5 < 1 KB}\n"
        "  - drops of agg1 == 0\n");
    EXPECT_EQ(spec.expectations.at(0).name, "short queues");
    const auto& first = std::get<MetricExpectation>(spec.expectations.at(0).statement);
    EXPECT_FALSE(first.left.selector.is_checked);
    EXPECT_EQ(std::get<MetricExpectation>(spec.expectations.at(1).statement).left.selector.kind, SelectorKind::Switch);
}

TEST(Metrics, AreNamedOnceAndExplained) {
    for (const MetricInfo& info : metrics()) {
        EXPECT_EQ(find_metric(info.name), &info);
        EXPECT_FALSE(info.help.empty()) << info.name;
        EXPECT_TRUE(info.selectors.contains(SelectorKind::Run)) << info.name;
    }
}

}  // namespace
}  // namespace simverbs::scenarios
