#include "scenarios/import/connection_matrix.hpp"

#include <gtest/gtest.h>

#include "scenarios/workloads/plan_check.hpp"
#include "tests/unit/scenarios/import/expect_problems.hpp"
#include "tests/unit/scenarios/import/import_samples.hpp"

namespace simverbs::scenarios::imports {
namespace {

TEST(ConnectionMatrix, FlowsAndTriggersBecomeAPlan) {
    DiagnosticSink sink;
    const auto matrix = read_connection_matrix(kConnectionMatrix, "a.cm", "cm", sink);
    ASSERT_TRUE(matrix) << sink.to_string();
    EXPECT_EQ(matrix->nodes, 4U);
    const auto& plan = matrix->plan;
    ASSERT_EQ(plan.flows.size(), 6U);
    EXPECT_EQ(plan.groups, (std::vector<std::string>{"cm"}));
    EXPECT_EQ(plan.flows[1].priority, 5);
    EXPECT_EQ(plan.flows[2].start, sim::SimTime::ns(5));
    EXPECT_EQ(plan.flows[5].bytes, 40);
    std::vector<std::pair<int, int>> dependencies;
    for (const auto& [before, after] : plan.dependencies) dependencies.emplace_back(before, after);
    EXPECT_EQ(dependencies, (std::vector<std::pair<int, int>>{{0, 1}, {2, 4}, {3, 4}, {4, 5}}));
    EXPECT_TRUE(workloads::check_plan(plan, 4, sink)) << sink.to_string();
}

TEST(ConnectionMatrix, AMultishotTriggerStartsOneFlowForEachThatIsDone) {
    DiagnosticSink sink;
    const auto matrix = read_connection_matrix(
        "Nodes 5\nConnections 5\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n0->2 start 0 size 1 "
        "send_done_trigger 1\n0->3 trigger 1 size 1 send_done_trigger 1\n0->4 trigger 1 size 1 send_done_trigger 1\n"
        "1->4 start 0 size 1\ntrigger id 1 multishot\n",
        "a.cm", "cm", sink);
    ASSERT_TRUE(matrix) << sink.to_string();
    std::vector<std::pair<int, int>> dependencies;
    for (const auto& [before, after] : matrix->plan.dependencies) dependencies.emplace_back(before, after);
    EXPECT_EQ(dependencies, (std::vector<std::pair<int, int>>{{0, 2}, {1, 3}}));
}

TEST(ConnectionMatrix, EveryProblemIsReportedWithItsPlace) {
    DiagnosticSink sink;
    EXPECT_FALSE(
        read_connection_matrix("Nodes 4\nConections 3\nConnections 9\n0->4 start 0 size 1\n0->0 start 0 size 1\n"
                               "0->1 size 5\n0->1 start 0\n0->1 start 0 size 0\n0->1 strat 0 start 0 size 1\n"
                               "0->1 start 0 size\ntrigger id 3 oneshoot\nFailures 2\n",
                               "c", "cm", sink));
    expect_problems(
        sink,
        {"c:2:1: 'Conections' begins no line", "c:4:4: '4' is no node", "c:5:1: a node sends to itself",
         "c:6: neither start nor trigger", "c:7: the size is missing", "c:8:19: '0' is no size (0 would never end)",
         "c:9:6: unknown key 'strat'", "c:10: 'size' has no value", "c:11:14: 'oneshoot' is no kind of trigger",
         "c:12:1: failures are not read", "c:12: 9 connections announced, 4 found"});
    EXPECT_NE(sink.to_string().find("did you mean 'start'?"), std::string::npos);
    EXPECT_NE(sink.to_string().find("did you mean 'oneshot'?"), std::string::npos);
}

TEST(ConnectionMatrix, TriggersThatNobodyCouldKnowOfAreRefused) {
    const auto problem = [](std::string_view text, const std::string& expected) {
        DiagnosticSink sink;
        EXPECT_FALSE(read_connection_matrix(text, "c", "cm", sink)) << text;
        expect_problems(sink, {expected});
    };
    const std::string_view head = "Nodes 4\nConnections 2\n";
    const std::string h(head);
    problem(h + "0->1 start 0 size 1 send_done_trigger 1\n2->3 trigger 1 size 1\ntrigger id 1 oneshot\n",
            "trigger 1 fires at node 0 and starts a flow of node 2");
    problem(h + "0->1 start 0 size 1 recv_done_trigger 1\n0->3 trigger 1 size 1\ntrigger id 1 oneshot\n",
            "trigger 1 fires at node 1 and starts a flow of node 0");
    problem(h + "0->1 start 0 size 1\n0->3 trigger 1 size 1\ntrigger id 1 oneshot\n", "is fired by 0 flow(s)");
    problem(h + "0->1 start 0 size 1\n0->3 trigger 1 size 1\n", "trigger 1 is not declared");
    problem(h + "0->1 start 0 size 1 send_done_trigger 1\n0->3 trigger 1 size 1\ntrigger id 1 barrier count 2\n",
            "trigger 1 is fired by 1 flow(s); expected 2");
    problem(h + "0->1 trigger 2 size 1 recv_done_trigger 1\n1->0 trigger 1 size 1 recv_done_trigger 2\n"
                "trigger id 1 oneshot\ntrigger id 2 oneshot\n",
            "2 flow(s) wait for themselves");
    problem("Connections 0\n", "the number of nodes is missing");
}

}  // namespace
}  // namespace simverbs::scenarios::imports
