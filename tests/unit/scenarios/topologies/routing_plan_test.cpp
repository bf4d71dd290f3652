#include "scenarios/topologies/routing_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/dragonfly.hpp"
#include "scenarios/topologies/small_topologies.hpp"
#include "tests/unit/scenarios/topologies/graph_measures.hpp"

namespace simverbs::scenarios::topologies {
namespace {

using PortMap = std::map<std::pair<uint32_t, uint32_t>, NodeRef>;

/// What is at the other end of a switch's port.
PortMap neighbours(const Topology& topology) {
    PortMap at;
    for (const Link& link : topology.links) {
        if (link.a.node.is_switch) at[{link.a.node.index, link.a.port}] = link.b.node;
        if (link.b.node.is_switch) at[{link.b.node.index, link.b.port}] = link.a.node;
    }
    return at;
}

/// At every switch the group to every leaf is exactly the ports on a shortest path, and hosts are where the plan says.
void expect_all_shortest_paths(const Topology& topology) {
    const RoutingPlan plan = plan_routes(topology);
    const PortMap at = neighbours(topology);
    for (uint32_t leaf = 0; leaf < plan.leaf_switches.size(); ++leaf) {
        const std::vector<int> distance = distances_from(topology, {true, plan.leaf_switches[leaf]});
        std::vector<std::set<uint16_t>> expected(topology.switches.size());
        for (const auto& [port, neighbour] : at) {
            if (!neighbour.is_switch) continue;
            const int here = distance[node_number(topology, {true, port.first})];
            if (distance[node_number(topology, neighbour)] < here) {
                expected[port.first].insert(static_cast<uint16_t>(port.second));
            }
        }
        for (uint32_t s = 0; s < topology.switches.size(); ++s) {
            const auto ports = plan.switches[s].ports_to(leaf);
            ASSERT_EQ(std::set<uint16_t>(ports.begin(), ports.end()), expected[s]);
            ASSERT_EQ(plan.switches[s].group_of_leaf[leaf] == kHere, s == plan.leaf_switches[leaf]);
        }
    }
    for (uint32_t h = 0; h < topology.hosts.size(); ++h) {
        const NodeRef host = at.at({plan.leaf_switches[plan.leaf_of_host[h]], plan.port_of_host[h]});
        ASSERT_EQ(host, (NodeRef{false, h}));
    }
}

TEST(RoutingPlan, GroupsAreAllThePortsOnShortestPaths) {
    Topology t;
    ASSERT_TRUE(make_k_ary_fat_tree(t, {6, {}}).empty());
    expect_all_shortest_paths(t);
    ASSERT_TRUE(make_fat_tree(t, hpcc_fabric()).empty());
    expect_all_shortest_paths(t);
    ASSERT_TRUE(make_leaf_spine(t, {4, 3, 2, 2, {}, {}}).empty());
    expect_all_shortest_paths(t);
    ASSERT_TRUE(make_dragonfly(t, {4, 2, 2, 5, {}, {}, {}}).empty());
    expect_all_shortest_paths(t);
    ASSERT_TRUE(make_parking_lot(t, {6, 1, {}, {}}).empty());
    expect_all_shortest_paths(t);
    ASSERT_TRUE(make_rail_optimised(t, {8, 4, 3, 2, 1, {}, {}}).empty());
    expect_all_shortest_paths(t);
}

TEST(RoutingPlan, AFabricOf8192HostsHasFewGroups) {
    Topology t;
    ASSERT_TRUE(make_k_ary_fat_tree(t, {32, {}}).empty());
    const RoutingPlan plan = plan_routes(t);
    EXPECT_EQ(t.hosts.size(), 8192U);
    ASSERT_EQ(plan.switches.size(), 1280U);
    ASSERT_EQ(plan.leaf_switches.size(), 512U);
    for (uint32_t s = 0; s < 1280; ++s) {
        // A ToR: up. An aggregation switch: up, or down to one of 16. A core: one of 32 pods.
        const std::map<SwitchTier, std::size_t> groups{
            {SwitchTier::Leaf, 1}, {SwitchTier::Aggregation, 17}, {SwitchTier::Core, 32}};
        ASSERT_EQ(plan.switches[s].groups(), groups.at(t.switches[s].tier));
    }
    EXPECT_EQ(plan.switches[0].ports_to(511).size(), 16U);
}

TEST(RoutingPlan, DeadLinksAreNotUsed) {
    Topology t;
    ASSERT_TRUE(make_leaf_spine(t, {2, 2, 1, 1, {}, {}}).empty());
    std::vector<bool> dead(t.links.size());
    ASSERT_TRUE(t.links[2].b.node.is_switch);  // leaf0 to spine0
    dead[2] = true;
    RoutingPlan plan = plan_routes(t, dead);
    EXPECT_EQ(plan.switches[0].ports_to(1).size(), 1U);
    EXPECT_EQ(plan.switches[1].ports_to(0).size(), 1U);
    dead[3] = true;  // leaf0 to spine1
    plan = plan_routes(t, dead);
    EXPECT_EQ(plan.switches[0].group_of_leaf[1], kNoRoute);
    EXPECT_TRUE(plan.switches[0].ports_to(1).empty());
    dead.assign(t.links.size(), false);
    dead[0] = true;  // h0
    plan = plan_routes(t, dead);
    EXPECT_EQ(plan.leaf_of_host[0], kNoLeaf);
    EXPECT_EQ(plan.leaf_switches.size(), 1U);
}

TEST(RoutingPlan, TwoHostsWithoutASwitchHaveNoLeaf) {
    Topology t;
    ASSERT_TRUE(make_back_to_back(t, {}).empty());
    const RoutingPlan plan = plan_routes(t);
    EXPECT_TRUE(plan.switches.empty());
    EXPECT_EQ(plan.leaf_of_host, (std::vector<uint32_t>{kNoLeaf, kNoLeaf}));
}

}  // namespace
}  // namespace simverbs::scenarios::topologies
