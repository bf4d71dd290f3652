#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/dragonfly.hpp"
#include "scenarios/topologies/small_topologies.hpp"
#include "tests/unit/scenarios/topologies/graph_measures.hpp"

namespace simverbs::scenarios::topologies {
namespace {

/// The topology, valid and with every name of its tier.
template <class Make, class Parameters>
Topology made(Make make, const Parameters& parameters) {
    Topology topology;
    const Problems problems = make(topology, parameters);
    EXPECT_TRUE(problems.empty()) << to_string(problems.front());
    DiagnosticSink sink;
    EXPECT_TRUE(validate(topology, sink)) << sink.to_string();
    for (std::size_t h = 0; h < topology.hosts.size(); ++h) EXPECT_EQ(topology.hosts[h].name, "h" + std::to_string(h));
    return topology;
}

std::map<std::string, int> switches_by_prefix(const Topology& topology) {
    std::map<std::string, int> count;
    for (const Switch& each : topology.switches) ++count[each.name.substr(0, each.name.find_first_of("0123456789"))];
    return count;
}

/// Name of the switch at which host h is.
std::string leaf_of(const Topology& topology, uint32_t h) {
    for (const Link& link : topology.links) {
        if (link.a.node == NodeRef{false, h}) return topology.name_of(link.b.node);
        if (link.b.node == NodeRef{false, h}) return topology.name_of(link.a.node);
    }
    return "";
}

std::set<std::string> paths(const Problems& problems) {
    std::set<std::string> out;
    for (const Diagnostic& problem : problems) out.insert(problem.path);
    return out;
}

TEST(SmallTopologies, BackToBackIsTwoHostsAndACable) {
    const Topology t = made(make_back_to_back, BackToBackParameters{});
    EXPECT_EQ(t.hosts.size(), 2U);
    EXPECT_TRUE(t.switches.empty());
    EXPECT_EQ(t.links.size(), 1U);
    EXPECT_EQ(t.links[0].rate, sim::BitRate::gbps(100));
    EXPECT_EQ(t.links[0].delay, cable_delay(Length::m(2)));
}

TEST(SmallTopologies, ASingleSwitchHasEveryHost) {
    const Topology t = made(make_single_switch, SingleSwitchParameters{10, {}});
    EXPECT_EQ(t.switches.size(), 1U);
    EXPECT_EQ(degrees(t)[10], 10);
    EXPECT_EQ(diameter(t), 2);
    EXPECT_EQ(cut_gbps(t, [](uint32_t h) { return h < 5; }), 500);
}

TEST(SmallTopologies, ADumbbellIsAsFastAsItsBottleneck) {
    const Topology t = made(make_dumbbell, DumbbellParameters{3, 4, {}, {sim::BitRate::gbps(40), {}}});
    EXPECT_EQ(t.hosts.size(), 7U);
    EXPECT_EQ(diameter(t), 3);
    EXPECT_EQ(cut_gbps(t, [](uint32_t h) { return h < 3; }), 40);
    EXPECT_EQ(leaf_of(t, 2), "sw0");
    EXPECT_EQ(leaf_of(t, 3), "sw1");
}

TEST(SmallTopologies, AParkingLotIsARow) {
    const Topology t = made(make_parking_lot, ParkingLotParameters{5, 2, {}, {}});
    EXPECT_EQ(t.hosts.size(), 10U);
    EXPECT_EQ(t.links.size(), 14U);
    EXPECT_EQ(diameter(t), 6);
    EXPECT_EQ(leaf_of(t, 7), "sw3");
}

TEST(SmallTopologies, EveryWrongParameterIsReportedAtOnce) {
    Topology t;
    const LinkParameters bad{sim::BitRate(), -sim::SimTime::ps(1)};
    EXPECT_EQ(paths(make_back_to_back(t, {bad})), (std::set<std::string>{"link.rate", "link.delay"}));
    EXPECT_EQ(paths(make_single_switch(t, {0, bad})),
              (std::set<std::string>{"hosts", "host_link.rate", "host_link.delay"}));
    EXPECT_EQ(paths(make_dumbbell(t, {0, 0, {}, bad})),
              (std::set<std::string>{"left_hosts", "right_hosts", "bottleneck.rate", "bottleneck.delay"}));
    EXPECT_EQ(paths(make_parking_lot(t, {1, 0, {}, {}})), (std::set<std::string>{"switches", "hosts_per_switch"}));
    EXPECT_EQ(paths(make_parking_lot(t, {1 << 20, 1 << 20, {}, {}})), (std::set<std::string>{""}));
    EXPECT_TRUE(t.hosts.empty());
}

TEST(LeafSpine, EveryLeafHasALinkToEverySpine) {
    const LinkParameters fast{sim::BitRate::gbps(200), sim::SimTime::us(1)};
    const Topology t = made(make_leaf_spine, LeafSpineParameters{4, 3, 8, 2, {}, fast});
    EXPECT_EQ(t.hosts.size(), 32U);
    EXPECT_EQ(switches_by_prefix(t), (std::map<std::string, int>{{"leaf", 4}, {"spine", 3}}));
    EXPECT_EQ(t.links.size(), 32U + 4 * 3 * 2);
    EXPECT_EQ(diameter(t), 4);
    for (uint32_t h = 0; h < 32; ++h) EXPECT_EQ(leaf_of(t, h), "leaf" + std::to_string(h / 8));
    EXPECT_DOUBLE_EQ(oversubscription(t, 0), 800.0 / 1200);
    EXPECT_EQ(cut_gbps(t, [](uint32_t h) { return h < 16; }), 1600);
}

TEST(LeafSpine, OversubscriptionBoundsTheBisection) {
    const Topology t = made(make_leaf_spine, LeafSpineParameters{4, 2, 8, 1, {}, {}});
    EXPECT_DOUBLE_EQ(oversubscription(t, 0), 4);
    EXPECT_EQ(cut_gbps(t, [](uint32_t h) { return h < 16; }), 400);
}

TEST(FatTree, KAryHasKCubedByFourHostsAndFullBisection) {
    for (const uint32_t k : {2U, 4U, 6U, 8U}) {
        const Topology t = made(make_k_ary_fat_tree, KAryFatTreeParameters{k, {}});
        ASSERT_EQ(t.hosts.size(), k * k * k / 4);
        EXPECT_EQ(t.switches.size(), 5 * k * k / 4);
        EXPECT_EQ(t.links.size(), 3 * k * k * k / 4);
        const std::vector<int> degree = degrees(t);
        for (std::size_t i = 0; i < degree.size(); ++i) {
            ASSERT_EQ(degree[i], i < t.hosts.size() ? 1 : static_cast<int>(k));
        }
        EXPECT_EQ(diameter(t), 6);
        const std::size_t half = t.hosts.size() / 2;
        EXPECT_EQ(cut_gbps(t, [&](uint32_t h) { return h < half; }), static_cast<int64_t>(half) * 100);
        for (uint32_t h = 0; h < t.hosts.size(); ++h) {
            ASSERT_EQ(leaf_of(t, h), "tor" + std::to_string(h / (k / 2)));
            ASSERT_EQ(t.hosts[h].pod, h / (k * k / 4));
        }
    }
}

TEST(FatTree, TheHpccFabricIsThatOfTheArtifact) {
    const Topology t = made(make_fat_tree, hpcc_fabric());
    EXPECT_EQ(t.hosts.size(), 320U);
    EXPECT_EQ(switches_by_prefix(t), (std::map<std::string, int>{{"tor", 20}, {"agg", 20}, {"core", 16}}));
    EXPECT_EQ(t.links.size(), 480U);
    EXPECT_EQ(diameter(t), 6);
    EXPECT_DOUBLE_EQ(oversubscription(t, 0), 1);
    EXPECT_EQ(cut_gbps(t, [](uint32_t h) { return h < 160; }), 16'000);
    std::map<int64_t, int> rates;
    for (const Link& link : t.links) {
        ++rates[link.rate.in_bps()];
        EXPECT_EQ(link.delay, sim::SimTime::us(1));
    }
    EXPECT_EQ(rates, (std::map<int64_t, int>{{100'000'000'000, 320}, {400'000'000'000, 160}}));
}

TEST(FatTree, SwitchesAreNumberedPodByPod) {
    const Topology t = made(make_k_ary_fat_tree, KAryFatTreeParameters{4, {}});
    EXPECT_EQ(t.switches[0].name, "tor0");
    EXPECT_EQ(t.switches[2].name, "agg0");
    EXPECT_EQ(t.switches[4].name, "tor2");
    EXPECT_EQ(t.switches[16].name, "core0");
    EXPECT_EQ(t.switches[16].pod, kNoPod);
    const std::vector<NodeRef> order = nodes_pod_by_pod(t);
    ASSERT_EQ(order.size(), 36U);
    EXPECT_EQ(t.name_of(order[0]), "h0");
    EXPECT_EQ(t.name_of(order[4]), "tor0");
    EXPECT_EQ(t.name_of(order[8]), "h4");
    EXPECT_EQ(t.name_of(order[35]), "core3");
}

TEST(FatTree, EveryWrongParameterIsReportedAtOnce) {
    Topology t;
    FatTreeParameters p;
    p.pods = 0;
    p.hosts_per_tor = 0;
    p.cores = 3;
    p.core_link.rate = {};
    EXPECT_EQ(paths(make_fat_tree(t, p)), (std::set<std::string>{"pods", "hosts_per_tor", "cores", "core_link.rate"}));
    for (const uint32_t k : {0U, 3U, 1000U}) {
        EXPECT_EQ(paths(make_k_ary_fat_tree(t, {k, {}})), (std::set<std::string>{"k"}));
    }
    EXPECT_EQ(paths(make_leaf_spine(t, {2, 0, 1, 0, {}, {}})), (std::set<std::string>{"spines", "links_per_pair"}));
    EXPECT_TRUE(t.hosts.empty());
}

TEST(RailOptimised, NicRIsAtLeafRAndRailsMeetAtTheSpines) {
    const Topology t = made(make_rail_optimised, RailParameters{8, 4, 4, 2, 2, {}, {}});
    EXPECT_EQ(t.hosts.size(), 32U);
    EXPECT_EQ(switches_by_prefix(t), (std::map<std::string, int>{{"leaf", 8}, {"spine", 2}}));
    for (uint32_t h = 0; h < 32; ++h) {
        EXPECT_EQ(t.hosts[h].server, h / 4);
        EXPECT_EQ(t.hosts[h].rail, h % 4);
        EXPECT_EQ(leaf_of(t, h), "leaf" + std::to_string(h / 16 * 4 + h % 4));
    }
    // Same rail, same unit: one switch. Other rail: over a spine.
    EXPECT_EQ(distances_from(t, {false, 0})[4], 2);
    EXPECT_EQ(distances_from(t, {false, 0})[1], 4);
    EXPECT_EQ(diameter(t), 4);
}

TEST(RailOptimised, RailsWithoutSpinesAreRefused) {
    Topology t;
    EXPECT_EQ(paths(make_rail_optimised(t, {2, 8, 2, 0, 1, {}, {}})), (std::set<std::string>{"spines"}));
}

TEST(Dragonfly, GroupsAreFullyConnectedAndSoAreTheirRouters) {
    const Topology t = made(make_dragonfly, DragonflyParameters{4, 2, 2, 0, {}, {}, {}});
    EXPECT_EQ(t.switches.size(), 9U * 4);
    EXPECT_EQ(t.hosts.size(), 72U);
    EXPECT_EQ(t.links.size(), 72U + 9 * 6 + 36);
    EXPECT_EQ(diameter(t), 5);
    const std::vector<int> degree = degrees(t);
    for (std::size_t s = 72; s < degree.size(); ++s) EXPECT_EQ(degree[s], 2 + 3 + 2);
    std::map<std::pair<uint32_t, uint32_t>, int> between;
    for (const Link& link : t.links) {
        if (!link.a.node.is_switch || !link.b.node.is_switch) continue;
        const uint32_t a = t.switches[link.a.node.index].pod;
        const uint32_t b = t.switches[link.b.node.index].pod;
        if (a != b) ++between[{std::min(a, b), std::max(a, b)}];
    }
    EXPECT_EQ(between.size(), 36U);
}

TEST(Dragonfly, FewerGroupsShareTheGlobalLinksEvenly) {
    const Topology t = made(make_dragonfly, DragonflyParameters{4, 2, 2, 3, {}, {}, {}});
    EXPECT_EQ(t.links.size(), 24U + 3 * 6 + 3 * 4);
    made(make_dragonfly, DragonflyParameters{4, 1, 0, 1, {}, {}, {}});
    Topology none;
    EXPECT_EQ(paths(make_dragonfly(none, {4, 2, 2, 10, {}, {}, {}})), (std::set<std::string>{"groups"}));
    EXPECT_EQ(paths(make_dragonfly(none, {0, 0, 0, 0, {}, {}, {}})),
              (std::set<std::string>{"routers_per_group", "hosts_per_router", "global_links_per_router"}));
}

}  // namespace
}  // namespace simverbs::scenarios::topologies
