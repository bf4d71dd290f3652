#include "scenarios/topologies/routing_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// A ring of switches with a host each.
Topology ring(uint32_t size) {
    Topology t;
    for (uint32_t i = 0; i < size; ++i) {
        t.hosts.push_back({"h" + std::to_string(i)});
        t.switches.push_back({"s" + std::to_string(i)});
        t.links.push_back({{{false, i}, 0}, {{true, i}, 0}, sim::BitRate::gbps(100), sim::SimTime::ns(10)});
        t.links.push_back({{{true, i}, 1}, {{true, (i + 1) % size}, 2}, sim::BitRate::gbps(100), sim::SimTime::ns(10)});
    }
    return t;
}

/// From every switch every way that the tables allow leads to every leaf, and never up after it has gone down.
void expect_up_down(const Topology& topology) {
    const RoutingPlan plan = plan_routes(topology, {}, RoutingPolicy::UpDown);
    const std::vector<uint32_t> place = up_down_places(topology);
    const PortMap at = neighbours(topology);
    for (uint32_t leaf = 0; leaf < plan.leaf_switches.size(); ++leaf) {
        struct Visit {
            uint32_t node;
            bool has_gone_down;
            std::size_t links;
        };
        std::vector<Visit> open;
        for (const uint32_t from : plan.leaf_switches) open.push_back({from, false, 0});
        std::set<std::pair<uint32_t, bool>> seen;
        while (!open.empty()) {
            const Visit here = open.back();
            open.pop_back();
            if (here.node == plan.leaf_switches[leaf] || !seen.insert({here.node, here.has_gone_down}).second) continue;
            const auto ports = plan.switches[here.node].ports_to(leaf);
            ASSERT_FALSE(ports.empty()) << topology.switches[here.node].name;
            ASSERT_LT(here.links, 2 * topology.switches.size());
            for (const uint16_t port : ports) {
                const NodeRef next = at.at({here.node, port});
                const bool is_down = place[next.index] > place[here.node];
                ASSERT_TRUE(is_down || !here.has_gone_down) << topology.switches[here.node].name;
                open.push_back({next.index, is_down || here.has_gone_down, here.links + 1});
            }
        }
    }
}

TEST(UpDownRouting, NoPathGoesUpAgainOnceItHasGoneDown) {
    Topology t;
    ASSERT_TRUE(make_k_ary_fat_tree(t, {4, {}}).empty());
    expect_up_down(t);
    ASSERT_TRUE(make_leaf_spine(t, {4, 3, 2, 2, {}, {}}).empty());
    expect_up_down(t);
    ASSERT_TRUE(make_dragonfly(t, {4, 2, 2, 5, {}, {}, {}}).empty());
    expect_up_down(t);
    ASSERT_TRUE(make_parking_lot(t, {6, 1, {}, {}}).empty());
    expect_up_down(t);
    ASSERT_TRUE(make_rail_optimised(t, {8, 4, 3, 2, 1, {}, {}}).empty());
    expect_up_down(t);
    for (uint32_t size = 3; size < 9; ++size) expect_up_down(ring(size));
}

TEST(UpDownRouting, InAFatTreeAllShortestPathsAreUpDown) {
    Topology t;
    ASSERT_TRUE(make_k_ary_fat_tree(t, {4, {}}).empty());
    const RoutingPlan shortest = plan_routes(t);
    const RoutingPlan up_down = plan_routes(t, {}, RoutingPolicy::UpDown);
    for (uint32_t s = 0; s < t.switches.size(); ++s) {
        if (t.switches[s].tier != SwitchTier::Leaf) continue;  // others never see a packet for another core's pod
        for (uint32_t leaf = 0; leaf < shortest.leaf_switches.size(); ++leaf)
            EXPECT_TRUE(std::ranges::equal(shortest.switches[s].ports_to(leaf), up_down.switches[s].ports_to(leaf)));
    }
}

TEST(UpDownRouting, WhereTheRootsDoNotReachEverythingTheFirstIsTheOnlyOne) {
    // Two trees, joined at the bottom: a path from one to the other would go down, along, and up to the other's root.
    Topology t = ring(4);
    t.switches[0].level = t.switches[2].level = 1;
    expect_up_down(t);
}

TEST(UpDownRouting, ARingLosesTheLinkThatWouldCloseTheCircle) {
    const Topology t = ring(5);
    const RoutingPlan plan = plan_routes(t, {}, RoutingPolicy::UpDown);
    EXPECT_EQ(up_down_places(t), (std::vector<uint32_t>{0, 1, 3, 4, 2}));
    EXPECT_EQ(plan.switches[2].ports_to(4)[0], 2U) << "s2 reaches s4 over s1 and s0, not over s3";
    EXPECT_EQ(plan.switches[2].ports_to(3)[0], 1U) << "s3 lies right below s2";
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
