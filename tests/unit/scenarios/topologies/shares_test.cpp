#include "scenarios/topologies/shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/small_topologies.hpp"

namespace simverbs::scenarios::topologies {
namespace {

/// Links of each thread's nodes.
std::vector<uint64_t> work_of(const Topology& t, const Shares& shares, unsigned threads) {
    std::vector<uint64_t> work(threads);
    for (const Link& link : t.links)
        for (const NodeRef node : {link.a.node, link.b.node}) ++work.at(shares.of(node));
    return work;
}

TEST(Shares, OfAFatTreeAreEvenCoresToo) {
    for (const unsigned threads : {1U, 2U, 4U, 8U}) {
        Topology t;
        ASSERT_TRUE(make_k_ary_fat_tree(t, {8, {}}).empty());
        const Shares shares = share_out(t, threads);
        ASSERT_EQ(shares.hosts.size(), t.hosts.size());
        ASSERT_EQ(shares.switches.size(), t.switches.size());
        const auto work = work_of(t, shares, threads);
        for (const uint64_t each : work) EXPECT_EQ(each, 2 * t.links.size() / threads) << threads;
    }
}

TEST(Shares, KeepPodsTogether) {
    Topology t;
    ASSERT_TRUE(make_fat_tree(t, hpcc_fabric()).empty());
    const Shares shares = share_out(t, 3);
    std::map<uint32_t, unsigned> thread_of_pod;
    for (size_t h = 0; h < t.hosts.size(); ++h) thread_of_pod.emplace(t.hosts[h].pod, shares.hosts[h]);
    for (size_t h = 0; h < t.hosts.size(); ++h) EXPECT_EQ(shares.hosts[h], thread_of_pod[t.hosts[h].pod]);
    for (size_t s = 0; s < t.switches.size(); ++s) {
        if (t.switches[s].pod == kNoPod) continue;
        EXPECT_EQ(shares.switches[s], thread_of_pod[t.switches[s].pod]);
    }
}

TEST(Shares, FillWhatPodsLeaveUneven) {
    // Five pods on two threads: whoever has but two of them gets more of the cores.
    Topology t;
    ASSERT_TRUE(make_fat_tree(t, hpcc_fabric()).empty());
    const auto work = work_of(t, share_out(t, 2), 2);
    const uint64_t sum = work[0] + work[1];
    EXPECT_GT(work[0], sum * 4 / 10);
    EXPECT_GT(work[1], sum * 4 / 10);
}

TEST(Shares, OfNodesWithoutPodsGoByNumber) {
    Topology t;
    ASSERT_TRUE(make_parking_lot(t, {8, 1, {}, {}}).empty());
    for (Host& host : t.hosts) host.pod = kNoPod;
    for (Switch& each : t.switches) each.pod = kNoPod;
    const Shares shares = share_out(t, 2);
    EXPECT_TRUE(std::ranges::is_sorted(shares.hosts));
    EXPECT_TRUE(std::ranges::is_sorted(shares.switches));
    EXPECT_EQ(shares.hosts.front(), 0U);
    EXPECT_EQ(shares.hosts.back(), 1U);
    EXPECT_EQ(shares.switches.front(), 0U);
    EXPECT_EQ(shares.switches.back(), 1U);
}

TEST(Shares, OfOnePodAreOneThreads) {
    Topology t;
    ASSERT_TRUE(make_single_switch(t, {4, {}}).empty());
    const Shares shares = share_out(t, 2);
    EXPECT_EQ(shares.hosts, std::vector<unsigned>(4, 0));
    EXPECT_EQ(shares.switches, std::vector<unsigned>(1, 0));
}

}  // namespace
}  // namespace simverbs::scenarios::topologies
