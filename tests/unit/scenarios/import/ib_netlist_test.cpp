#include "scenarios/import/ib_netlist.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/scenarios/import/expect_problems.hpp"
#include "tests/unit/scenarios/import/import_samples.hpp"

namespace simverbs::scenarios::imports {
namespace {

topologies::Topology sample() {
    DiagnosticSink sink;
    const auto topology = read_ib_netlist(kIbNetlist, "net", {}, sink);
    EXPECT_TRUE(topology) << sink.to_string();
    return topology.value_or(topologies::Topology{});
}

TEST(IbNetlist, HostsAreLinkedPortsInTheOrderOfTheSwitches) {
    const auto t = sample();
    ASSERT_EQ(t.hosts.size(), 3U);
    EXPECT_EQ(t.hosts[0].name, "two_HCA-1_1");
    EXPECT_EQ(t.hosts[1].name, "one_mlx5_0");
    EXPECT_EQ(t.hosts[2].name, "two_HCA-1_2");
    EXPECT_EQ(t.hosts[0].lid, 12);
    EXPECT_EQ(t.hosts[1].lid, 11);
    EXPECT_EQ(t.hosts[2].lid, 13);
    EXPECT_EQ(t.hosts[0].server, t.hosts[2].server);
    EXPECT_NE(t.hosts[0].server, t.hosts[1].server);
    EXPECT_EQ(t.hosts[2].rail, 1U);
}

TEST(IbNetlist, SwitchesAreNamedByDescriptionIfThatIsUnique) {
    const auto t = sample();
    ASSERT_EQ(t.switches.size(), 3U);
    EXPECT_EQ(t.switches[0].name, "MF0_leaf-1_MQM8700_U1");
    EXPECT_EQ(t.switches[1].name, "S-000000000000aa02");
    EXPECT_EQ(t.switches[0].lid, 2);
    EXPECT_EQ(t.switches[2].tier, topologies::SwitchTier::Core);
    EXPECT_NE(t.hosts[0].pod, t.hosts[2].pod);
}

TEST(IbNetlist, EachLinkIsThereOnceWithItsRateAndPorts) {
    const auto t = sample();
    ASSERT_EQ(t.links.size(), 6U);
    std::map<std::string, int64_t> mbps;
    for (const topologies::Link& link : t.links) {
        mbps[t.name_of(link.a.node) + " " + std::to_string(link.a.port)] = link.rate.in_bps() / 1'000'000;
        EXPECT_EQ(link.delay, sim::SimTime::ns(10));
    }
    EXPECT_EQ(mbps["MF0_leaf-1_MQM8700_U1 1"], 100'000);
    EXPECT_EQ(mbps["MF0_leaf-1_MQM8700_U1 22"], 200'000);
    EXPECT_EQ(mbps["S-000000000000aa02 5"], 100'000);
    EXPECT_EQ(mbps["S-000000000000aa02 21"], 54'545);
}

TEST(IbNetlist, RatesAreDataRates) {
    EXPECT_EQ(ib_link_rate("4xSDR"), sim::BitRate::gbps(8));
    EXPECT_EQ(ib_link_rate("4xQDR"), sim::BitRate::gbps(32));
    EXPECT_EQ(ib_link_rate("4xFDR10"), sim::BitRate::gbps(40));
    EXPECT_EQ(ib_link_rate("12xEDR"), sim::BitRate::gbps(300));
    EXPECT_EQ(ib_link_rate("4xNDR"), sim::BitRate::gbps(400));
    EXPECT_FALSE(ib_link_rate("3xHDR"));
    EXPECT_FALSE(ib_link_rate("4x"));
}

TEST(IbNetlist, WhatOneSideDoesNotKnowIsReported) {
    DiagnosticSink sink;
    EXPECT_FALSE(read_ib_netlist(with(kIbNetlist, "\"S-000000000000aa03\"[1]\t\t", "\"S-000000000000aa03\"[9]\t\t"),
                                 "net", {}, sink));
    expect_problems(sink, {"net:11:1: port 9 of 'S-000000000000aa03' is not linked to here",
                           "port 21 of 'S-000000000000aa01' is not linked to here"});
    DiagnosticSink missing;
    const std::string_view text = kIbNetlist;
    EXPECT_FALSE(read_ib_netlist(text.substr(0, text.find("caguid=0xff")), "net", {}, missing));
    expect_problems(missing, {"net:13:1: 'H-00000000000000ff' has no record"});
}

TEST(IbNetlist, WrongLinesAreReportedAllAtOnce) {
    DiagnosticSink sink;
    EXPECT_FALSE(
        read_ib_netlist("[1] \"H-1\"[1] # \"x\" lid 1 4xHDR\nvendit=0x1\nSwitch two\n[1] is skipped\nRt 1 x\n"
                        "Ca 1 \"H-1\" # \"x\"\n[1](1) \"S-2\"[1] # lid 1 lmc 0 \"s\" lid 2 4xHXR\n"
                        "[2](1) \"S-2\"[1] # lid 1 lmc 0 \"s\" lid 2 4xHDR\nCa 1 \"H-1\" # \"x\"\n",
                        "n", {}, sink));
    expect_problems(sink, {"n:1: a port without a node", "n:2:1: 'vendit' begins no line", "n:3: the line of a node",
                           "n:5: routers are not modelled", "n:7: the line of a port cannot be read",
                           "n:8: 'H-1' has no port 2", "n:9: 'H-1' has a record in line 6 already"});
    EXPECT_NE(sink.to_string().find("did you mean 'vendid'?"), std::string::npos);
}

}  // namespace
}  // namespace simverbs::scenarios::imports
