#include "scenarios/workloads/plan_check.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scenarios/workloads/collective.hpp"

namespace simverbs::scenarios::workloads {
namespace {

TEST(PlanCheck, PlansOfTheGeneratorsAreRight) {
    for (int kind = 0; kind < 6; ++kind) {
        CollectiveParameters p;
        p.common.name = "c";
        p.common.host_count = 7;
        p.kind = static_cast<CollectiveKind>(kind);
        p.bytes = 100'000;
        p.chunk_bytes = 1000;
        p.iterations = 2;
        flow::FlowPlan plan;
        ASSERT_TRUE(append_collective(plan, p).empty());
        DiagnosticSink sink;
        EXPECT_TRUE(check_plan(plan, 7, sink)) << sink.to_string();
    }
}

TEST(PlanCheck, EveryProblemIsReportedAtOnce) {
    flow::FlowPlan plan;
    plan.groups = {"g"};
    plan.flows = {{0, 1, 1, {}, 0, 3}, {2, 3, 1, {}, 0, 3}, {5, 5, 0, {}, 1, 3}};
    plan.dependencies = {{0, 1}, {0, 9}};
    DiagnosticSink sink;
    EXPECT_FALSE(check_plan(plan, 4, sink));
    const std::string text = sink.to_string();
    for (const char* part : {"flows[2]: host 5 does not exist", "flows[2]: host 5 sends to itself", "flows[2]: 0 bytes",
                             "flows[2]: group 1", "dependencies[0]: host 2 cannot know that flow 0 is done",
                             "dependencies[1]: a flow that does not exist"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
    EXPECT_EQ(sink.count(), 6U);
}

TEST(PlanCheck, FlowsInACycleNeverStart) {
    flow::FlowPlan plan;
    plan.groups = {"g"};
    plan.flows = {{0, 1, 1, {}, 0, 3}, {1, 0, 1, {}, 0, 3}, {0, 2, 1, {}, 0, 3}, {2, 0, 1, {}, 0, 3}};
    plan.dependencies = {{0, 1}, {1, 0}, {2, 3}, {1, 2}};
    EXPECT_EQ(flows_that_never_start(plan), (std::vector<flow::FlowIndex>{0, 1, 2, 3}));
    plan.dependencies.pop_back();
    EXPECT_EQ(flows_that_never_start(plan), (std::vector<flow::FlowIndex>{0, 1}));
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
