#include "scenarios/workloads/flow_list.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace simverbs::scenarios::workloads {
namespace {

TEST(FlowList, FlowsKeepTheirOrderTimesAndPriorities) {
    FlowListParameters p;
    p.common.name = "list";
    p.common.host_count = 3;
    p.common.start = sim::SimTime::us(1);
    p.common.priority = 2;
    p.flows = {{0, 1, 10, sim::SimTime::us(5), {}}, {2, 0, 20, {}, uint8_t{4}}};
    flow::FlowPlan plan;
    ASSERT_TRUE(append_flow_list(plan, p).empty());
    ASSERT_EQ(plan.flows.size(), 2U);
    EXPECT_EQ(plan.flows[0].start, sim::SimTime::us(6));
    EXPECT_EQ(plan.flows[0].priority, 2);
    EXPECT_EQ(plan.flows[1].priority, 4);
    EXPECT_EQ(plan.flows[1].src, 2U);
    EXPECT_EQ(plan.groups, (std::vector<std::string>{"list"}));
}

TEST(FlowList, EveryWrongFlowIsReportedAtOnce) {
    FlowListParameters p;
    p.common.name = "list";
    p.common.host_count = 3;
    p.flows = {{0, 0, 10, {}, {}}, {0, 3, -1, {}, uint8_t{16}}, {1, 2, 5, -sim::SimTime::ps(1), {}}};
    flow::FlowPlan plan;
    std::set<std::string> paths;
    for (const Diagnostic& problem : append_flow_list(plan, p)) paths.insert(problem.path);
    EXPECT_EQ(paths, (std::set<std::string>{"flows[0]", "flows[1].dst", "flows[1].bytes", "flows[1].priority",
                                            "flows[2].start"}));
}

TEST(Pairs, LinesAreSourceDestinationAndBytes) {
    DiagnosticSink sink;
    const auto flows = read_pairs("0 16 67108864\n# a comment\n\n 1\t17 5 # another\r\n2 3 4", "x.pairs", sink);
    EXPECT_TRUE(sink.empty()) << sink.to_string();
    ASSERT_EQ(flows.size(), 3U);
    EXPECT_EQ(flows[0].dst, 16U);
    EXPECT_EQ(flows[0].bytes, 67108864);
    EXPECT_EQ(flows[1].src, 1U);
    EXPECT_EQ(flows[2].bytes, 4);
}

TEST(Pairs, EveryWrongLineIsReportedWithItsNumber) {
    DiagnosticSink sink;
    EXPECT_TRUE(read_pairs("0 1 5\n0 1\n-1 x 5\n0 1 99999999999999999999\n", "x.pairs", sink).empty());
    const std::string text = sink.to_string();
    EXPECT_EQ(sink.count(), 4U) << text;
    EXPECT_NE(text.find("x.pairs:2: 2 word(s) in the line"), std::string::npos) << text;
    EXPECT_NE(text.find("x.pairs:3: '-1' is no source host"), std::string::npos) << text;
    EXPECT_NE(text.find("x.pairs:4: '99999999999999999999' is no number of bytes"), std::string::npos) << text;
    DiagnosticSink empty;
    EXPECT_TRUE(read_pairs("", "e.pairs", empty).empty());
    EXPECT_EQ(empty.count(), 1U);
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
