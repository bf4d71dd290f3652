#include "scenarios/topologies/levels.hpp"

#include <gtest/gtest.h>

#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/small_topologies.hpp"

namespace simverbs::scenarios::topologies {
namespace {

/// Levels, tiers and pods found from the wiring are those that the generator knew.
void expect_found(const Topology& made) {
    Topology t = made;
    for (Host& host : t.hosts) host.pod = 77;
    for (Switch& each : t.switches) each = {each.name, SwitchTier::Aggregation, 9, 77, 0};
    assign_levels(t);
    for (std::size_t i = 0; i < t.switches.size(); ++i) {
        EXPECT_EQ(t.switches[i].tier, made.switches[i].tier) << made.switches[i].name;
        EXPECT_EQ(t.switches[i].level, made.switches[i].level) << made.switches[i].name;
        EXPECT_EQ(t.switches[i].pod, made.switches[i].pod) << made.switches[i].name;
    }
    for (std::size_t i = 0; i < t.hosts.size(); ++i) EXPECT_EQ(t.hosts[i].pod, made.hosts[i].pod);
}

TEST(Levels, AreFoundFromTheWiring) {
    Topology t;
    ASSERT_TRUE(make_fat_tree(t, hpcc_fabric()).empty());
    expect_found(t);
    ASSERT_TRUE(make_leaf_spine(t, {4, 3, 2, 1, {}, {}}).empty());
    expect_found(t);
    ASSERT_TRUE(make_single_switch(t, {4, {}}).empty());
    expect_found(t);
}

TEST(Levels, SwitchesWithHostsAreLeavesAndOnePod) {
    Topology t;
    ASSERT_TRUE(make_parking_lot(t, {4, 1, {}, {}}).empty());
    assign_levels(t);
    for (const Switch& each : t.switches) {
        EXPECT_EQ(each.tier, SwitchTier::Leaf);
        EXPECT_EQ(each.pod, 0U);
    }
}

}  // namespace
}  // namespace simverbs::scenarios::topologies
