#include "scenarios/topologies/topology.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scenarios/topologies/clos_topologies.hpp"

namespace simverbs::scenarios::topologies {
namespace {

Topology leaf_spine() {
    Topology topology;
    EXPECT_TRUE(make_leaf_spine(topology, {2, 2, 2, 1, {}, {}}).empty());
    return topology;
}

std::string problems_of(const Topology& topology) {
    DiagnosticSink sink;
    EXPECT_FALSE(validate(topology, sink));
    return sink.to_string();
}

TEST(Topology, AnIslandIsNamed) {
    Topology t = leaf_spine();
    t.hosts.push_back({"h9", 0, 9, 0, 0});
    t.switches.push_back({"sw9", SwitchTier::Leaf, 0, 0, 0});
    const std::string text = problems_of(t);
    EXPECT_NE(text.find("hosts.h9: no way from 'h0'; expected a fabric in one piece"), std::string::npos) << text;
    EXPECT_NE(text.find("switches.sw9: no way from 'h0'"), std::string::npos) << text;
}

TEST(Topology, EveryProblemIsReportedAtOnce) {
    Topology t = leaf_spine();
    t.hosts[1].name = "h0";
    t.links[0].rate = {};
    t.links[1].delay = -sim::SimTime::ps(1);
    t.links[2].packet_loss = 2;
    t.links[3].b.port = t.links[2].b.port;
    t.links[3].b.node = t.links[2].b.node;
    t.links.push_back({{{false, 0}, 1}, {{true, 99}, 0}, sim::BitRate::gbps(1), {}, 0});
    t.links.push_back({{{false, 0}, 2}, {{false, 0}, 3}, sim::BitRate::gbps(1), {}, 0});
    const std::string text = problems_of(t);
    for (const char* part :
         {"hosts.h0: the name occurs twice", "links[0]: a rate of 0 b/s", "links[1]: a delay of -1 ps",
          "links[2]: a loss of 2", "has two links", "links[8]: switch 99 does not exist", "links[9]: 'h0' is linked"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

TEST(Topology, NoHostsAreNoFabric) {
    EXPECT_NE(problems_of({}).find("the fabric has no hosts"), std::string::npos);
}

}  // namespace
}  // namespace simverbs::scenarios::topologies
