#include "scenarios/expect/evaluate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scenarios/expect/expect_test_support.hpp"

namespace simverbs::scenarios::expect {
namespace {

using testing::expectations_of;
using testing::sample_result;
using testing::verdict_on;

TEST(Evaluate, AFailureNamesTheWorstFlow) {
    const ExpectationVerdict verdict = verdict_on(sample_result(), "fct.slowdown.p99 of web < 10");
    EXPECT_EQ(verdict.outcome, Outcome::Failed);
    EXPECT_EQ(verdict.measured, 20);
    EXPECT_EQ(verdict.wanted_value, 10);
    EXPECT_EQ(verdict.wanted, "< 10");
    EXPECT_EQ(verdict.unit, MetricUnit::Number);
    EXPECT_EQ(verdict.sentence,
              "fct.slowdown.p99 of web is 20, expected < 10 (flow web[2], h2 → h3, 100 KB, slowdown 20 is the worst); "
              "1 of 4 flows did not complete");
}

TEST(Evaluate, EverySentenceOfAFailureSaysWhoAndHowMuch) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"goodput.min of web >= 1 Gb/s",
         "goodput.min of web is 800 Mb/s, expected >= 1 Gb/s (flow web[2], h2 → h3, 100 KB, goodput 800 Mb/s is the "
         "worst)"},
        {"never drops", "drops is 10, expected == 0 (sw0/3, drops 9 is the worst)"},
        {"utilisation of link h3 > 97 %", "utilisation of link h3 is 80 %, expected > 97 % (h3 - sw0/3)"},
        {"throughput of web == 10 Gb/s ± 30 %",
         "throughput of web is 4.888 Gb/s, expected == 10 Gb/s ± 30 % (flow web[1], h1 → h3, 10 KB, throughput 8 Mb/s "
         "is the worst)"},
        {"bus_bandwidth.min of ring > 50 Gb/s",
         "bus_bandwidth.min of ring is 40 Gb/s, expected > 50 Gb/s (iteration 1, bus_bandwidth 40 Gb/s is the worst)"},
        {"buffer < 299999 B", "buffer is 300 KB, expected < 299.999 KB (sw0)"},
        {"fct.max of ring < fct.min of web",
         "fct.max of ring is 200 us, expected < fct.min of web (20 us) (flow "
         "ring[3], h1 → h0, 500 KB, fct 200 us is the worst)"},
        {"all flows of web complete",
         "3 of 4 flows of web completed, expected all (flow web[3], h0 → h1, 10 MB is unfinished at 10 ms)"},
        {"all flows of web complete within 3 ms",
         "2 of 4 flows of web completed within 3 ms, expected all (flow web[2], h2 → h3, 100 KB completed at 5 ms)"},
        {"all flows of inc complete",
         "0 of 1 flows of inc completed, expected all (flow inc[0], h1 → h3, 2 MB gave up "
         "at 8 ms (retry count exceeded))"},
        {"fault flap fired 3 times", "fault 'flap' fired 2 times, expected: 3 times"},
        {"fault flap never fired", "fault 'flap' fired 2 times, expected: never"},
        {"fault ghost fired", "fault 'ghost' never fired, expected: at least once"},
    };
    for (const auto& [statement, sentence] : cases) {
        const ExpectationVerdict verdict = verdict_on(sample_result(), statement);
        EXPECT_EQ(verdict.outcome, Outcome::Failed) << statement;
        EXPECT_EQ(verdict.sentence, sentence);
        EXPECT_EQ(verdict.text, statement);
    }
}

TEST(Evaluate, WhatHoldsPasses) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"fct.max of ring <= 200 us", "fct.max of ring is 200 us, as expected (<= 200 us)"},
        {"drops == 10", "drops is 10, as expected (== 10)"},
        {"drops != 9", "drops is 10, as expected (!= 9)"},
        {"throughput of web == 5 Gb/s ± 5 %", "throughput of web is 4.888 Gb/s, as expected (== 5 Gb/s ± 5 %)"},
        {"all flows of ring complete within 2 ms", "all 4 flows of ring completed within 2 ms, as expected"},
        {"fault flap fired", "fault 'flap' fired 2 times, as expected"},
        {"fault flap fired 2 times", "fault 'flap' fired 2 times, as expected"},
        {"fault ghost never fired", "fault 'ghost' never fired, as expected"},
        {"fct.min of web < fct.max of ring",
         "fct.min of web is 20 us, as expected (< fct.max of ring (200 us)); 1 of "
         "4 flows did not complete"},
    };
    for (const auto& [statement, sentence] : cases) {
        const ExpectationVerdict verdict = verdict_on(sample_result(), statement);
        EXPECT_EQ(verdict.outcome, Outcome::Passed) << statement;
        EXPECT_EQ(verdict.sentence, sentence);
    }
}

TEST(Evaluate, ValuesThatOnlyLookEqualAreShownWithMoreDigits) {
    run::RunResult result = sample_result();
    result.flows[6].acknowledged = result.flows[6].started + sim::SimTime::ps(200'000'001);
    EXPECT_EQ(verdict_on(result, "fct of flow ring[0] <= 200 us").sentence,
              "fct of flow ring[0] is 200.000001 us, expected <= 200 us (flow ring[0], h0 → h1, 500 KB)");
}

TEST(Evaluate, AMetricToCompareWithThatIsNotMeasuredIsNamed) {
    const ExpectationVerdict verdict = verdict_on(sample_result(), "fct.max of web < queueing_delay");
    EXPECT_EQ(verdict.outcome, Outcome::NotEvaluable);
    EXPECT_EQ(verdict.measured, 1e9);
    EXPECT_EQ(verdict.sentence, "queueing_delay cannot be evaluated: 'queueing_delay' is not measured in this run");
    EXPECT_FALSE(all_passed({verdict}));
}

TEST(Evaluate, AStuckRunFailsUnlessAnExpectationWantsIt) {
    run::RunResult result = sample_result();
    result.ending = run::RunEnding::Stuck;
    result.stuck_dump = "sw0/3 waits for sw0/3\n";
    const auto verdicts = evaluate(expectations_of({"flows > 1"}), result);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_TRUE(verdicts[1].is_implicit);
    EXPECT_EQ(verdicts[1].name, "the run does not get stuck");
    EXPECT_EQ(verdicts[1].sentence, "the run got stuck at 10 ms with 1 flow outstanding:\nsw0/3 waits for sw0/3\n");
    EXPECT_EQ(evaluate(expectations_of({"unfinished > 0"}), result).size(), 1U);
    EXPECT_EQ(evaluate(expectations_of({"never deadlocks"}), result).size(), 2U) << "it hangs for another reason";
    EXPECT_EQ(evaluate(expectations_of({"deadlocks >= 1"}), result).size(), 2U);
    result.deadlocks = 1;
    EXPECT_EQ(evaluate(expectations_of({"deadlocks >= 1"}), result).size(), 1U);
}

TEST(Evaluate, AFaultThatMustFireAndDidNotFailsTheRunOnce) {
    run::RunResult result = sample_result();
    result.faults[0].fired = 0;
    const auto verdicts = evaluate(expectations_of({"flows > 1"}), result);
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_TRUE(verdicts[1].is_implicit);
    EXPECT_EQ(verdicts[1].outcome, Outcome::Failed);
    EXPECT_EQ(verdicts[1].name, "fault 'flap' fired");
    EXPECT_EQ(evaluate(expectations_of({"fault flap fired"}), result).size(), 1U);
}

TEST(Evaluate, NamesThatDoNotExistAreFoundBeforeTheRun) {
    DiagnosticSink sink;
    check_names(expectations_of({"fct of web < 1 ms", "drops of swo == 0", "queue sw0/9 < 1 KB",
                                 "all flows of flow web[77] complete", "fct of web < fct of h7"}),
                sample_result(), sink);
    EXPECT_EQ(sink.count(), 4U);
    EXPECT_EQ(
        sink.to_string(),
        "s.yaml:15:15: expectations[1]: there is no switch 'swo'; expected a name of the network or of a "
        "workload; did you mean 'sw0'?\n"
        "s.yaml:16:12: expectations[2]: there is no port 'sw0/9'; expected a name of the network or of a "
        "workload; did you mean 'sw0/0'?\n"
        "s.yaml:17:24: expectations[3]: there is no flow 77 in 'web', which has 5; expected a name of the network "
        "or of a workload\n"
        "s.yaml:18:26: expectations[4]: there is no host 'h7'; expected a name of the network or of a workload; "
        "did you mean 'h0'?\n");
}

TEST(Evaluate, MetricsThatWhatIsNamedDoesNotHaveAreFoundBeforeTheRun) {
    DiagnosticSink sink;
    check_names(expectations_of({"headroom of h1 < 1 KB", "headroom of sw0/3 < 1 KB", "queueing_delay of h3 < 1 us",
                                 "drops of queue sw0/3 priority 3 == 0", "headroom of sw0 > headroom of h1"}),
                sample_result(), sink);
    EXPECT_EQ(sink.to_string(),
              "s.yaml:14:18: expectations[0]: 'headroom' is of switches; ask for the switch's port\n"
              "s.yaml:16:24: expectations[2]: 'queueing_delay' is of switches; ask for the switch's port\n"
              "s.yaml:17:21: expectations[3]: 'drops' is not measured by priority; ask for the whole port\n"
              "s.yaml:18:36: expectations[4]: 'headroom' is of switches; ask for the switch's port\n");
}

}  // namespace
}  // namespace simverbs::scenarios::expect
