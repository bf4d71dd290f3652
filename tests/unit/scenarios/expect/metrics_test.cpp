#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/expect/metric_rules.hpp"
#include "tests/unit/scenarios/expect/expect_test_support.hpp"

namespace simverbs::scenarios {
namespace {

struct Case {
    std::string expression;
    double measured;
};

/// Each expression is compared with something of its unit; whether that holds is no matter here.
void expect_measured(const run::RunResult& result, const std::string& comparison, const std::vector<Case>& cases) {
    std::vector<std::string> statements;
    for (const Case& c : cases) statements.push_back(c.expression + comparison);
    const auto expectations = testing::expectations_of(statements);
    ASSERT_EQ(expectations.size(), cases.size());
    const auto verdicts = expect::evaluate(expectations, result);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        ASSERT_TRUE(verdicts[i].measured.has_value()) << statements[i] << ": " << verdicts[i].sentence;
        EXPECT_NEAR(*verdicts[i].measured, cases[i].measured, 1e-9 * cases[i].measured) << statements[i];
    }
}

TEST(Metrics, EveryMetricOfTheTableHasARuleAndNoRuleIsWithoutMetric) {
    for (const MetricInfo& metric : metrics()) EXPECT_NE(expect::find_rule(metric.name), nullptr) << metric.name;
    for (const auto rules : {expect::flow_time_rules(), expect::flow_count_rules(), expect::flow_rate_rules(),
                             expect::port_rules(), expect::queue_rules(), expect::run_rules()}) {
        for (const expect::MetricRule& rule : rules) EXPECT_NE(find_metric(rule.name), nullptr) << rule.name;
    }
}

TEST(Metrics, TimesOfFlowsAreThoseOfMeasuredFlowsThatCompleted) {
    expect_measured(testing::sample_result(), " > 1 us",
                    {{"fct of web", 2'020e6 / 3},
                     {"fct.max of web", 1e9},
                     {"fct.min of web", 20e6},
                     {"fct.p50 of web", 1e9},
                     {"fct.p33 of web", 20e6},
                     {"fct.total of web", 2'020e6},
                     {"fct of flow 0", 1e9},
                     {"fct of flow ring[1]", 100e6},
                     {"fct.max of h3", 1e9},
                     {"fct.max of web from 2 ms until 3 ms", 20e6},
                     {"duration of ring", 300e6},
                     {"simulated_time", 10e9}});
}

TEST(Metrics, ACountIsAPlainNumberWhateverTheUnitOfWhatIsCounted) {
    expect_measured(testing::sample_result(), " > 1", {{"fct.count of web", 3}, {"goodput.count of web", 4}});
}

TEST(Metrics, DelaysAreThoseOfThePacketsThatLeftInTheTimeAsked) {
    run::RunResult result = testing::sample_result();
    std::vector<sim::TimeHistogram> early(run::kPriorities);
    early[3].add(sim::SimTime::us(10));
    std::vector<sim::TimeHistogram> late = early;
    late[3].add(sim::SimTime::us(30));
    late[6].add(sim::SimTime::us(50));
    for (run::PortRecord& port : result.ports)
        if (port.is_switch)
            port.delays = port.name == "sw0/3" ? late : std::vector<sim::TimeHistogram>(run::kPriorities);
    for (run::PortSamples& samples : result.port_samples)
        if (result.ports[samples.port].name == "sw0/3") samples.delays.assign(samples.counts.size(), early);
    expect_measured(result, " > 1 us",
                    {{"queueing_delay", 30e6},
                     {"queueing_delay of queue sw0/3 priority 3", 20e6},
                     {"queueing_delay of queue sw0/3 priority 6", 50e6},
                     {"queueing_delay of sw0/3 until 5 ms", 10e6},
                     {"queueing_delay of sw0/3 from 5 ms", 40e6},
                     {"queueing_delay.total of queue sw0/3 priority 3 from 5 ms", 30e6}});
    expect_measured(result, " > 1", {{"queueing_delay.count of sw0", 3}, {"queueing_delay.count of sw0/1", 0}});
}

TEST(Metrics, SlowdownIsCompletionTimeOverThatOfTheEmptyNetwork) {
    expect_measured(testing::sample_result(), " < 10",
                    {{"fct.slowdown of web", 32.0 / 3},
                     {"fct.slowdown.p99 of web", 20},
                     {"fct.slowdown.p50 of web", 10},
                     {"fct.slowdown.p99.9", 20},
                     {"fct.slowdown of flow web[1]", 2}});
}

TEST(Metrics, RatesOfFlowsArePayloadOverTheTimeAsked) {
    expect_measured(testing::sample_result(), " > 1 Gb/s",
                    {{"goodput of flow web[0]", 8e9},
                     {"goodput of flow web[3]", 8e9},
                     {"goodput.max of web", 8e9},
                     {"goodput of flow web[3] from 7 ms until 9 ms", 8e9},
                     {"goodput of flow web[3] from 9 ms", 8e9},
                     {"throughput of web", 4.888e9},
                     {"throughput of web from 6 ms until 8 ms", 8e9},
                     {"throughput of flow web[1] from 1 ms until 3 ms", 40e6},
                     {"rate of web", 8e9},
                     {"rate.max of web until 5 ms", 10e9},
                     {"rate.min of web from 7 ms", 7e9},
                     {"bus_bandwidth of ring", 60e9},
                     {"bus_bandwidth.min of ring", 40e9},
                     {"bus_bandwidth", 60e9}});
}

TEST(Metrics, ThroughputOfTheWholeRunBeginsWithTheTimeThatIsMeasured) {
    run::RunResult result = testing::sample_result();
    result.measure_from = sim::SimTime::ms(2);
    expect_measured(result, " > 1 Gb/s", {{"throughput of web", 6.11e9}});
}

TEST(Metrics, RoundTripTimesAndFairness) {
    expect_measured(testing::sample_result(), " > 1 us", {{"rtt of web", 18.4e6}, {"rtt.max of flow web[3]", 20e6}});
    expect_measured(testing::sample_result(), " > 1 %",
                    {{"fairness of web", 20.8 * 20.8 / (4 * (64 + 16 + 0.64 + 64))}});
}

TEST(Metrics, CountsOfFlows) {
    expect_measured(testing::sample_result(), " > 1",
                    {{"flows", 9},
                     {"flows of web", 4},
                     {"flows of h3", 4},
                     {"flows from 3 ms", 3},
                     {"flows within 100 us", 3},
                     {"completed", 7},
                     {"completed of web from 1500 us", 2},
                     {"completed of web until 1 ms", 0},
                     {"completed of web until 10 ms", 3},
                     {"completed of ring within 100 us", 2},
                     {"unfinished", 1},
                     {"unfinished until 4500 us", 1},
                     {"errors", 1},
                     {"errors of inc", 1},
                     {"errors until 5 ms", 0},
                     {"retransmissions", 12},
                     {"timeouts of inc", 7},
                     {"naks of flow inc[0]", 3},
                     {"cnps of h1", 40}});
    expect_measured(testing::sample_result(), " > 1 B",
                    {{"bytes of web", 6.11e6}, {"bytes of inc", 500'000}, {"bytes of web from 6 ms until 8 ms", 2e6}});
}

TEST(Metrics, UtilisationOfALinkIsThatOfItsBusierWay) {
    expect_measured(testing::sample_result(), " > 1 %",
                    {{"utilisation of link h3", 0.8},
                     {"utilisation of link sw0/3 - h3", 0.8},
                     {"utilisation of link h3 from 2 ms until 4 ms", 0.8},
                     {"utilisation of h3", 0.8},
                     {"utilisation of sw0/3", 0.8},
                     {"utilisation of sw0", 0.2},
                     {"utilisation.max", 0.8},
                     {"utilisation", 0.125}});
}

TEST(Metrics, CountersAreSumsOverThePortsAndWhatTheyGrewByInTheTimeAsked) {
    expect_measured(testing::sample_result(), " > 1",
                    {{"packets", 15'000},
                     {"packets of sw0", 10'000},
                     {"packets of h0", 5'000},
                     {"packets of sw0/3 from 2 ms until 4 ms", 2'000},
                     {"pfc_pauses of sw0", 20},
                     {"pfc_pauses of sw0 from 5 ms", 10},
                     {"pfc_pauses of sw0 within 1 ms", 2},
                     {"pfc_pauses of sw0/3 within 3500 us", 6},
                     {"pfc_pauses of sw0 within 20 ms", 20},
                     {"pfc_pauses of queue sw0/3", 20},
                     {"corrupted", 6},
                     {"drops", 10},
                     {"drops of sw0/3", 9},
                     {"drops of link h3", 9},
                     {"drops of sw0/3 until 5 ms", 5},
                     {"drops of sw0/3 within 1 ms", 5},
                     {"lossless_drops", 2},
                     {"watchdog_drops", 1},
                     {"trims", 4},
                     {"ecn_marks of sw0", 10},
                     {"pause_storms", 1},
                     {"deadlocks", 0},
                     {"packet_hops", 123'456}});
    expect_measured(testing::sample_result(), " > 1 us",
                    {{"paused_time of h3", 100e6},
                     {"paused_time of h3 from 5 ms until 7 ms", 20e6},
                     {"paused_time of h3 within 2 ms", 20e6}});
}

TEST(Metrics, WaitingForCreditsIsOfInfiniBandOnly) {
    run::RunResult result = testing::sample_result();
    EXPECT_EQ(testing::verdict_on(result, "credit_wait of h3 > 1 us").sentence,
              "credit_wait of h3 cannot be evaluated: the links have no credits: 'credit_wait' is of InfiniBand, "
              "'paused_time' of Ethernet");
    result.is_infiniband = true;
    expect_measured(result, " > 1 us", {{"credit_wait of h3", 100e6}});
}

TEST(Metrics, TheHighestQueueIsExactAndOtherStatisticsComeFromSamples) {
    expect_measured(testing::sample_result(), " < 1 MB",
                    {{"queue", 120'000},
                     {"queue of sw0/3", 120'000},
                     {"queue.max of link h3", 120'000},
                     {"queue.mean of sw0/3", 50'500},
                     {"queue.p50 of queue sw0/3 priority 3", 50'000},
                     {"queue of queue sw0/3 priority 6", 500},
                     {"queue of sw0/3 from 3 ms until 5 ms", 40'500},
                     {"queue sw0/3 p99", 90'500},
                     {"buffer", 300'000},
                     {"buffer.mean of sw0", 100'000},
                     {"buffer until 4 ms", 60'000},
                     {"headroom of sw0", 5'000},
                     {"headroom", 5'000}});
}

TEST(Metrics, WhatTheRunCannotTellIsSaid) {
    const run::RunResult result = testing::sample_result();
    const std::vector<std::pair<std::string, std::string>> cases{
        {"queueing_delay < 1 us", "'queueing_delay' is not measured in this run"},
        {"queueing_delay of h3 < 1 us", "'queueing_delay' is of switches: ask for the switch's port"},
        {"headroom of h3 < 1 KB", "'headroom' is of switches: ask for the switch's port"},
        {"drops of queue sw0/3 priority 3 == 0", "'drops' is not measured by priority: ask for the whole port"},
        {"queue.mean of h0 < 1 KB", "the queue of h0 was not sampled in this run"},
        {"packets of h0 from 1 ms < 5", "h0 was not sampled at 1 ms"},
        {"packets of sw0/3 from 1500 us < 5", "sw0/3 was not sampled at 1500 us"},
        {"drops of sw0/3 within 100 us < 5", "'drops' was not sampled every 100 us or more often"},
        {"throughput of inc from 6 ms > 1 Gb/s",
         "the payload delivered at 6 ms is not measured (flow inc[0], h1 → h3, 2 MB)"},
        {"rate of inc > 1 Gb/s", "'rate' was not sampled in this run"},
        {"timeouts from 1 ms == 0", "'timeouts' is not measured for a part of the run"},
        {"duration of web < 1 ms", "1 of 4 flows did not complete"},
        {"fct of inc < 1 ms", "1 of 1 flows did not complete"},
        {"bus_bandwidth of web > 1 Gb/s", "'web' is no collective"},
        {"fct of web from 20 ms < 1 ms", "the run ended at 10 ms, before 20 ms"},
        {"fct of flow web[4] < 1 ms", "flow web[4] does not start in the time that is measured"},
        {"fct of flow 99 < 1 ms", "there is no flow 99: the run has 10"},
        {"fct of flow web[99] < 1 ms", "there is no flow 99 in 'web', which has 5"},
        {"queue of sw0/9 < 1 KB", "there is no port 'sw0/9'; did you mean 'sw0/0'?"},
        {"drops of swo == 0", "there is no switch 'swo'; did you mean 'sw0'?"},
        {"utilisation of link sw0/1 - h3 < 1 %", "there is no link 'sw0/1 - h3'"},
        {"packet_hops from 1 ms > 5", "'packet_hops' is known only of the whole run"},
    };
    for (const auto& [statement, why] : cases) {
        const expect::ExpectationVerdict verdict = testing::verdict_on(result, statement);
        EXPECT_EQ(verdict.outcome, expect::Outcome::NotEvaluable) << statement;
        EXPECT_FALSE(verdict.measured.has_value()) << statement;
        EXPECT_TRUE(verdict.sentence.ends_with(" cannot be evaluated: " + why)) << verdict.sentence;
    }
}

/// h0 with an adapter below a switch; the adapter's link was busy in the first of two halves, 60 % towards the root.
run::RunResult result_with_an_inside() {
    run::RunResult result = testing::sample_result();
    run::HostInsideRecord inside{"h0", "one_switch", {}, {}};
    inside.devices = {{run::InsideKind::NumaNode, "node0", {}, {}},
                      {run::InsideKind::Switch, "pex0", {}, "gen4 x16", 0, 2, 3},
                      {run::InsideKind::Adapter, "nic0", "mlx5_0", "gen4 x16", 1, 0, 1}};
    for (const int percent : {60, 20, 15, 5}) {
        run::InsidePart part;
        part.bytes = static_cast<uint64_t>(percent) * 1000;
        part.tlps = static_cast<uint64_t>(percent);
        part.bin = sim::SimTime::ms(5);
        part.bins = {sim::SimTime::us(50 * percent), sim::SimTime::zero()};
        part.busy = part.bins[0];
        inside.parts.push_back(part);
    }
    result.insides.push_back(std::move(inside));
    result.pcie_links = {{"h0/pex0", 0, 1}, {"h0/nic0", 0, 2}};
    return result;
}

TEST(PcieMetrics, ALinksUtilisationIsThatOfItsBusierWay_OfTheTimeAsked) {
    const run::RunResult result = result_with_an_inside();
    const std::vector<std::pair<std::string, double>> cases{
        {"pcie.utilisation of slot h0/nic0 > 1 %", 0.3},
        {"pcie.utilisation of h0/nic0 > 1 %", 0.3},
        {"slot h0/nic0 pcie.utilisation until 5 ms > 1 %", 0.6},
        {"pcie.utilisation of slot h0/nic0 from 2500 us until 5 ms > 1 %", 0.6},
        {"pcie.utilisation of slot h0/nic0 from 5 ms == 0 %", 0},
        {"pcie.utilisation of host h0 > 1 %", (0.3 + 0.075) / 2},
        {"pcie.utilisation.max > 1 %", 0.3},
        {"pcie.bytes of slot h0/pex0 > 1 B", 20'000},
        {"pcie.tlps of slot h0/nic0 > 1", 80},
    };
    for (const auto& [statement, value] : cases) {
        const expect::ExpectationVerdict verdict = testing::verdict_on(result, statement);
        EXPECT_EQ(verdict.outcome, expect::Outcome::Passed) << statement << ": " << verdict.sentence;
        EXPECT_NEAR(verdict.measured.value_or(-1), value, 1e-9 + value * 1e-9) << statement;
    }
}

TEST(PcieMetrics, WhatIsNotThereIsNamed) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"pcie.utilisation of slot h0/nic1 > 1 %", "there is no slot 'h0/nic1'; did you mean 'h0/nic0'?"},
        {"pcie.utilisation of host h1 > 1 %", "no host 'h1' has programs and a platform"},
        {"pcie.bytes of slot h0/nic0 from 1 ms > 1 B", "it is known only of the whole run"},
    };
    for (const auto& [statement, why] : cases) {
        const expect::ExpectationVerdict verdict = testing::verdict_on(result_with_an_inside(), statement);
        EXPECT_EQ(verdict.outcome, expect::Outcome::NotEvaluable) << statement;
        EXPECT_TRUE(verdict.sentence.ends_with(" cannot be evaluated: " + why)) << verdict.sentence;
    }
    const auto verdict = testing::verdict_on(testing::sample_result(), "pcie.utilisation > 1 %");
    EXPECT_TRUE(verdict.sentence.ends_with("no host with programs has a platform")) << verdict.sentence;
}

}  // namespace
}  // namespace simverbs::scenarios
