#include "scenarios/import/hpcc_topology.hpp"

#include <gtest/gtest.h>

#include "scenarios/import/hpcc_flows.hpp"
#include "tests/unit/scenarios/import/expect_problems.hpp"
#include "tests/unit/scenarios/import/import_samples.hpp"

namespace simverbs::scenarios::imports {
namespace {

using topologies::NodeRef;
using topologies::SwitchTier;

HpccTopology sample() {
    DiagnosticSink sink;
    auto topology = read_hpcc_topology(kHpccTopology, "topology.txt", sink);
    EXPECT_TRUE(topology) << sink.to_string();
    return topology.value_or(HpccTopology{});
}

TEST(HpccTopology, NodesKeepTheirNumbersAndGetLevelsAndPods) {
    const HpccTopology t = sample();
    ASSERT_EQ(t.nodes.size(), 8U);
    EXPECT_EQ(t.nodes[0], (NodeRef{true, 0}));
    EXPECT_EQ(t.nodes[1], (NodeRef{false, 0}));
    EXPECT_EQ(t.nodes[7], (NodeRef{true, 3}));
    EXPECT_EQ(t.topology.hosts[3].name, "h4");
    EXPECT_EQ(t.topology.switches[1].name, "sw5");
    EXPECT_EQ(t.topology.switches[1].tier, SwitchTier::Leaf);
    EXPECT_EQ(t.topology.switches[2].tier, SwitchTier::Core);
    EXPECT_EQ(t.topology.switches[2].level, 1U);
    EXPECT_EQ(t.topology.switches[2].pod, topologies::kNoPod);
    EXPECT_EQ(t.topology.hosts[0].pod, t.topology.switches[0].pod);
    EXPECT_NE(t.topology.hosts[0].pod, t.topology.hosts[3].pod);
}

TEST(HpccTopology, LinksHaveTheirRatesDelaysAndLoss) {
    const HpccTopology t = sample();
    ASSERT_EQ(t.topology.links.size(), 8U);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(t.topology.links[i].delay, sim::SimTime::us(1));
    EXPECT_EQ(t.topology.links[2].rate, sim::BitRate::gbps(25));
    EXPECT_EQ(t.topology.links[3].rate, sim::BitRate::gbps(100));
    EXPECT_EQ(t.topology.links[3].packet_loss, 1e-6);
    EXPECT_EQ(t.topology.links[5].a.port, 3U);
}

TEST(HpccTopology, EveryProblemIsReportedWithItsPlace) {
    DiagnosticSink sink;
    EXPECT_FALSE(read_hpcc_topology("5 2 4\n0 9\n1 0 100Gpbs 1000ns 0\n2 0 1Gbps soon 2\n3 3 1Gbps 1ns 0\n4 0 1Gbps\n",
                                    "t.txt", sink));
    expect_problems(sink, {"t.txt:2:3: '9' is no node", "t.txt:3:5: '100Gpbs' is no rate",
                           "t.txt:4:11: 'soon' is no delay", "t.txt:4:16: '2' is no loss",
                           "t.txt:5:3: a link from a node to itself", "t.txt:6: 3 word(s) in the line"});
}

TEST(HpccTopology, CountsMustAgree) {
    DiagnosticSink many;
    EXPECT_FALSE(read_hpcc_topology("3 1 3\n0\n1 0 1Gbps 1ns 0\n2 0 1Gbps 1ns 0\n", "t", many));
    expect_problems(many, {"1 of 3 links are missing"});
    DiagnosticSink switches;
    EXPECT_FALSE(read_hpcc_topology("3 1 2\n0 1\n", "t", switches));
    expect_problems(switches, {"more switches than the 1 announced"});
    DiagnosticSink empty;
    EXPECT_FALSE(read_hpcc_topology("", "t", empty));
    expect_problems(empty, {"no counts in the first line"});
    DiagnosticSink huge;
    EXPECT_FALSE(read_hpcc_topology("4294967295 0 0\n", "t", huge));
    expect_problems(huge, {"'4294967295' is no number of nodes"});
}

TEST(HpccTopology, LinesThatAreNotCountedAreNotRead) {
    DiagnosticSink sink;
    const auto t = read_hpcc_topology("3 1 2\n0\n1 0 1Gbps 1ns 0\n2 0 1Gbps 1ns 0\n3 0 1Gbps\n4 x\nnote\n", "t", sink);
    ASSERT_TRUE(t) << sink.to_string();
    EXPECT_EQ(t->topology.links.size(), 2U);
    EXPECT_EQ(t->unread_lines, 2U);
    EXPECT_EQ(sample().unread_lines, 0U);
}

TEST(HpccTopology, AFabricInPiecesAndBinaryDataAreRefused) {
    DiagnosticSink sink;
    EXPECT_FALSE(read_hpcc_topology("3 1 1\n0\n1 0 1Gbps 1ns 0\n", "t", sink));
    expect_problems(sink, {"t: hosts.h2: no way from 'h1'"});
    DiagnosticSink binary;
    EXPECT_FALSE(read_hpcc_topology(std::string_view("1\0 2", 4), "t", binary));
    expect_problems(binary, {"t:1:2: byte 0x00 is not text"});
}

TEST(HpccFlows, FlowsAreThoseOfTheFileByHost) {
    DiagnosticSink sink;
    auto flows = read_hpcc_flows(kHpccFlows, "flow.txt", sample(), sink);
    ASSERT_TRUE(flows) << sink.to_string();
    auto& list = flows->flows;
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].src, 0U);
    EXPECT_EQ(list[0].dst, 2U);
    EXPECT_EQ(list[0].bytes, 200'000'000);
    EXPECT_EQ(list[0].priority, 3);
    EXPECT_EQ(list[1].start, sim::SimTime::s(2) + sim::SimTime::ns(1500));
    start_at_zero(list);
    EXPECT_EQ(list[0].start, sim::SimTime::zero());
    EXPECT_EQ(list[1].start, sim::SimTime::ns(1500));
    EXPECT_EQ(flows->unread_lines, 0U);
    flows = read_hpcc_flows(with(kHpccFlows, "3\n", "1\n"), "flow.txt", sample(), sink);
    ASSERT_TRUE(flows) << sink.to_string();
    EXPECT_EQ(flows->flows.size(), 1U);
    EXPECT_EQ(flows->unread_lines, 2U);
}

TEST(HpccFlows, EveryProblemIsReportedWithItsPlace) {
    DiagnosticSink sink;
    EXPECT_FALSE(read_hpcc_flows("4\n0 9 8 100 0 -1\n1 1 3 100 5 2\n1 2 3 70000 5 2\n1 2 3\n1 2 3 100 5 2\n", "f",
                                 sample(), sink));
    expect_problems(
        sink, {"f:2:1: node 0 is a switch", "f:2:3: '9' is no node of the topology", "f:2:5: '8' is no priority",
               "f:2:11: '0' is no number of bytes", "f:2:13: '-1' is no time", "f:3:3: a flow from a host to itself",
               "f:4:7: '70000' is no port", "f:5: 3 word(s) in the line"});
    DiagnosticSink missing;
    EXPECT_FALSE(read_hpcc_flows("2\n1 2 3 100 5 2\n", "f", sample(), missing));
    expect_problems(missing, {"1 of 2 flows are missing"});
}

TEST(HpccTrace, NodesAreReadAcrossLines) {
    DiagnosticSink sink;
    const auto traced = read_hpcc_trace(kHpccTrace, "trace.txt", sample(), sink);
    ASSERT_TRUE(traced) << sink.to_string();
    EXPECT_EQ(traced->nodes, (std::vector<NodeRef>{{false, 0}, {false, 1}, {true, 0}}));
    DiagnosticSink few;
    EXPECT_FALSE(read_hpcc_trace("3\n1 2\n", "trace.txt", sample(), few));
    expect_problems(few, {"1 of 3 nodes to trace are missing"});
    const auto other = read_hpcc_trace("2\n1 99\n", "trace.txt", sample(), sink);
    ASSERT_TRUE(other) << sink.to_string();
    EXPECT_EQ(other->nodes.size(), 1U);
    EXPECT_EQ(other->left_out, 1U);
    DiagnosticSink wrong;
    EXPECT_FALSE(read_hpcc_trace("2\n1 x\n", "trace.txt", sample(), wrong));
    expect_problems(wrong, {"trace.txt:2:3: 'x' is no number of a node"});
}

TEST(CdfFile, PointsAreBytesAndPercent) {
    DiagnosticSink sink;
    const auto points = read_cdf(kCdf, "cdf.txt", sink);
    ASSERT_TRUE(points) << sink.to_string();
    ASSERT_EQ(points->size(), 4U);
    EXPECT_EQ((*points)[2].percent, 20.5);
    DiagnosticSink wrong;
    EXPECT_FALSE(read_cdf("0 0\n100 x\n1 2 3\n", "cdf.txt", wrong));
    expect_problems(wrong, {"cdf.txt:2:5: 'x' is no number", "cdf.txt:3: 3 word(s)"});
    DiagnosticSink falling;
    EXPECT_FALSE(read_cdf("0 0\n100 50\n90 60\n", "cdf.txt", falling));
    expect_problems(falling, {"cdf.txt:3: 90 bytes after 100 bytes", "cdf.txt:3: the CDF ends at 60 %"});
    DiagnosticSink empty;
    EXPECT_FALSE(read_cdf("\n", "cdf.txt", empty));
    expect_problems(empty, {"the CDF has no points"});
}

}  // namespace
}  // namespace simverbs::scenarios::imports
