// Which of several equally good ports a packet takes.
#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/qbb/qbb_rig.hpp"

namespace simverbs::test {
namespace {

using fabric::LoadBalancing;
using fabric::SwitchConfig;
using sim::SimTime;

constexpr uint32_t kFar = 9;  // a leaf behind ports 4 … 7
constexpr uint32_t kUplinks = 4;
/// Of chi-square with three degrees of freedom: exceeded once in a thousand times.
constexpr double kChiSquare = 16.27;

struct Uplinks {
    explicit Uplinks(LoadBalancing balancing, SimTime flowlet_gap = SimTime::us(50), uint64_t seed = 1)
        : star(config(balancing, flowlet_gap, seed)) {
        for (int i = 0; i < 8; ++i) star.add();
        const fabric::PortIndex ports[] = {4, 5, 6, 7};
        star.sw->table().set_route(kFar, star.sw->table().add_group(ports));
    }
    static SwitchConfig config(LoadBalancing balancing, SimTime flowlet_gap, uint64_t seed) {
        SwitchConfig c;
        c.balancing = balancing;
        c.flowlet_gap = flowlet_gap;
        c.seed = seed;
        return c;
    }
    void send(uint32_t host, uint64_t packets, uint16_t flow_hash, SimTime start = {}) {
        PfcHost::Burst b{kFar, packets, 1000, 3, start};
        b.flow_hash = flow_hash;
        star.hosts[host]->send(b);
    }
    [[nodiscard]] std::array<double, kUplinks> packets() const {
        std::array<double, kUplinks> n{};
        for (uint32_t i = 0; i < kUplinks; ++i) n[i] = static_cast<double>(star.hosts[4 + i]->received.size());
        return n;
    }
    [[nodiscard]] static double chi_square(const std::array<double, kUplinks>& n) {
        double sum = 0, chi = 0;
        for (const double x : n) sum += x;
        for (const double x : n) chi += (x - sum / kUplinks) * (x - sum / kUplinks) / (sum / kUplinks);
        return chi;
    }
    PfcStar star;
};

uint16_t hash_of(uint64_t flow) {
    return static_cast<uint16_t>(sim::mix64(flow) >> 48);
}

TEST(LoadBalancing, EcmpKeepsAFlowOnItsPath) {
    for (uint64_t flow = 0; flow < 16; ++flow) {
        Uplinks u(LoadBalancing::Ecmp);
        u.send(0, 50, hash_of(flow));
        u.send(1, 50, hash_of(flow), SimTime::us(500));  // by another ingress, much later
        u.star.engine.run();
        std::multiset<double> n;
        for (const double x : u.packets()) n.insert(x);
        EXPECT_EQ(n, (std::multiset<double>{0, 0, 0, 100}));
    }
}

TEST(LoadBalancing, EcmpSpreadsFlowsEvenly) {
    for (const uint64_t seed : {1U, 2U, 3U}) {
        Uplinks u(LoadBalancing::Ecmp, SimTime::us(50), seed);
        for (uint64_t flow = 0; flow < 4000; ++flow) u.send(0, 1, hash_of(flow));
        u.star.engine.run();
        EXPECT_LT(Uplinks::chi_square(u.packets()), kChiSquare) << seed;
    }
}

TEST(LoadBalancing, AnotherSeedChoosesOtherPaths) {
    int same = 0;
    for (uint64_t flow = 0; flow < 64; ++flow) {
        Uplinks one(LoadBalancing::Ecmp, SimTime::us(50), 1), two(LoadBalancing::Ecmp, SimTime::us(50), 2);
        for (Uplinks* u : {&one, &two}) {
            u->send(0, 1, hash_of(flow));
            u->star.engine.run();
        }
        same += one.packets() == two.packets() ? 1 : 0;
    }
    EXPECT_NEAR(same, 16, 14);
}

TEST(LoadBalancing, SpraySpreadsThePacketsOfOneFlow) {
    Uplinks u(LoadBalancing::PacketSpray);
    u.send(0, 4000, 77);
    u.star.engine.run();
    EXPECT_LT(Uplinks::chi_square(u.packets()), kChiSquare);
}

TEST(LoadBalancing, AFlowletChangesItsPathOnlyAfterAGap) {
    Uplinks u(LoadBalancing::Flowlet, SimTime::us(5));
    constexpr int kFlowlets = 64;
    for (int i = 0; i < kFlowlets; ++i) {
        // Ten packets, a pause shorter than the gap, ten more; then one longer than it.
        u.send(0, 10, 77, SimTime::us(20) * i);
        u.send(0, 10, 77, SimTime::us(20) * i + SimTime::us(5));
    }
    u.star.engine.run();
    std::vector<std::pair<SimTime, uint32_t>> by_time;
    for (uint32_t p = 0; p < kUplinks; ++p)
        for (const auto& r : u.star.hosts[4 + p]->received) by_time.emplace_back(r.time, p);
    std::sort(by_time.begin(), by_time.end());
    ASSERT_EQ(by_time.size(), 20U * kFlowlets);
    std::set<uint32_t> used;
    for (size_t i = 0; i < by_time.size(); ++i) {
        used.insert(by_time[i].second);
        if (i % 20 == 0) continue;
        ASSERT_EQ(by_time[i].second, by_time[i - 1].second) << "packet " << i << " is in a flowlet";
    }
    EXPECT_EQ(used.size(), kUplinks);
}

TEST(LoadBalancing, AdaptiveAvoidsABusyPort) {
    Uplinks u(LoadBalancing::Adaptive);
    // Two hosts fill port 4 beyond its rate; the flow of a third then finds three better ones.
    for (const uint32_t h : {1U, 2U}) u.star.hosts[h]->send({4, 500});
    u.send(0, 300, 77, SimTime::us(10));
    u.star.engine.run_until(SimTime::us(40));
    uint64_t far_on_busy = 0;
    for (const auto& r : u.star.hosts[4]->received) far_on_busy += r.packet.dest == kFar ? 1 : 0;
    EXPECT_EQ(far_on_busy, 0U);
    EXPECT_GT(u.packets()[1] + u.packets()[2] + u.packets()[3], 290);
    u.star.engine.run();
}

TEST(LoadBalancing, AdaptiveUsesAllPortsUnderLoad) {
    Uplinks u(LoadBalancing::Adaptive);
    for (uint32_t h = 0; h < 4; ++h) u.send(h, 1000, 77);  // one hash: ECMP would send all by one port
    u.star.engine.run();
    for (const double n : u.packets()) EXPECT_NEAR(n, 1000, 50);
    for (fabric::PortIndex p = 4; p < 8; ++p) EXPECT_LE(u.star.sw->counters(p).max_queue_bytes, 4U * 1062);
}

}  // namespace
}  // namespace simverbs::test
