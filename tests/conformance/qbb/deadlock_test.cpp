// Circles of switches that wait for each other, pauses and credits alike: found, named, and never an endless run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/topologies/topology_builder.hpp"
#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using testing::HasSubstr;

/// Three switches in a ring, two hosts at each: flows go two switches clockwise. Shortest paths would take the one link
/// between the two, so each of the direct links is cut in the routing: traffic from s(i) to s(i+2) goes by s(i+1).
struct Ring : FlowRig {
    static constexpr uint32_t kSwitches = 3;
    explicit Ring(bool cyclic) {
        topologies::TopologyBuilder b;
        std::vector<topologies::NodeRef> switches, hosts;
        for (uint32_t i = 0; i < kSwitches; ++i)
            switches.push_back(b.add_switch("s", topologies::SwitchTier::Leaf, 0, topologies::kNoPod));
        for (uint32_t i = 0; i < 2 * kSwitches; ++i) hosts.push_back(b.add_host(topologies::kNoPod, i));
        const topologies::LinkParameters link{BitRate::gbps(100), SimTime::ns(500)};
        for (uint32_t i = 0; i < 2 * kSwitches; ++i) b.connect(hosts[i], switches[i / 2], link);
        for (uint32_t i = 0; i < kSwitches; ++i) b.connect(switches[i], switches[(i + 1) % kSwitches], link);
        topology = std::move(b).finish();
        for (uint32_t i = 0; i < kSwitches; ++i) {
            // Hosts of s(i) send to both hosts of s(i+2); those of the last switch only if the circle is to be closed.
            if (!cyclic && i + 1 == kSwitches) continue;
            for (uint32_t h = 0; h < 2; ++h) add(2 * i + h, (2 * (i + 2) + h) % (2 * kSwitches), 2'000'000);
        }
    }
    FlowFabric& build_clockwise() {
        FlowFabric& f = build();
        for (uint32_t i = 0; i < kSwitches; ++i) {
            // Ports 0 and 1: hosts. s0: 2 to s1, 3 to s2; s1: 2 to s0, 3 to s2; s2: 2 to s1, 3 to s0.
            const fabric::PortIndex clockwise = i == 0 ? 2 : 3;
            fabric::ForwardingTable& table = f.fabric_switch(i).table();
            for (uint32_t h = 0; h < 2 * kSwitches; ++h)
                if (h / 2 != i) table.set_route(h, table.add_group({&clockwise, 1}));
        }
        return f;
    }
};

void expect_circle(const scenarios::run::FlowRunResult& end, const char* what) {
    EXPECT_EQ(end.end, FlowRunEnd::Stuck);
    EXPECT_THAT(end.dump, HasSubstr("a circle of waiting: s"));
    for (const char* name : {"s0/2", "s1/3", "s2/3"}) EXPECT_THAT(end.dump, HasSubstr(name));
    EXPECT_THAT(end.dump, HasSubstr(what));
    EXPECT_THAT(end.dump, HasSubstr("not acknowledged")) << "which flows wait";
}

TEST(PfcDeadlock, ARingWithACyclicDependencyStopsAndIsNamed) {
    Ring ring(true);
    ring.use_pfc(1 << 20);
    ring.config.headroom_auto = true;
    FlowFabric& f = ring.build_clockwise();
    const auto end = f.run_until_done();
    expect_circle(end, "are paused by");
    EXPECT_NE(f.pause_cycle(), "");
    EXPECT_LT(f.engine().frontier(), SimTime::ms(400)) << "the engine itself would never stop: pauses are renewed";
}

TEST(PfcDeadlock, PatienceIsConfigurable) {
    Ring ring(true);
    ring.use_pfc(1 << 20);
    FlowFabric& f = ring.build_clockwise();
    EXPECT_EQ(f.run_until_done({.patience = SimTime::ms(5)}).end, FlowRunEnd::Stuck);
    EXPECT_LT(f.engine().frontier(), SimTime::ms(12));
}

TEST(PfcDeadlock, TheSameRingWithoutTheClosingFlowsEnds) {
    Ring ring(false);
    ring.use_pfc(1 << 20);
    FlowFabric& f = ring.build_clockwise();
    const auto end = f.run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
    EXPECT_EQ(f.pause_cycle(), "");
    uint64_t pauses = 0;
    for (uint32_t s = 0; s < 3; ++s)
        for (fabric::PortIndex p = 0; p < 4; ++p) pauses += f.fabric_switch(s).counters(p).pauses_sent;
    EXPECT_GT(pauses, 0U) << "it paused all the same";
    EXPECT_EQ(leftovers(f), "");
}

TEST(PfcDeadlock, TheWatchdogBreaksTheCircle) {
    Ring ring(true);
    ring.use_pfc(1 << 20);
    ring.config.switches.pfc.watchdog = SimTime::ms(1);
    ring.config.nics.retransmission_timeout = SimTime::ms(2);
    FlowFabric& f = ring.build_clockwise();
    const auto end = f.run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
    uint64_t events = 0, drops = 0;
    for (uint32_t s = 0; s < 3; ++s) {
        for (fabric::PortIndex p = 0; p < 4; ++p) {
            events += f.fabric_switch(s).counters(p).watchdog_events;
            drops += f.fabric_switch(s).counters(p).drops_watchdog;
        }
    }
    EXPECT_GT(events, 0U);
    EXPECT_GT(drops, 0U);
    EXPECT_EQ(leftovers(f), "");
}

TEST(PfcDeadlock, WithoutPfcTheRingLosesPacketsInstead) {
    Ring ring(true);
    ring.use_pfc(1 << 20);
    ring.config.pfc = false;
    FlowFabric& f = ring.build_clockwise();
    EXPECT_EQ(f.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(leftovers(f), "");
}

TEST(CreditLoop, ARingOfVlBuffersStopsAndIsNamed) {
    Ring ring(true);
    ring.config.layer = link::LinkLayer::InfiniBand;
    ring.config.switches.vl_buffer = 32 << 10;
    FlowFabric& f = ring.build_clockwise();
    expect_circle(f.run_until_done(), "have no credits from");
}

TEST(CreditLoop, TheSameRingWithoutTheClosingFlowsEnds) {
    Ring ring(false);
    ring.config.layer = link::LinkLayer::InfiniBand;
    ring.config.switches.vl_buffer = 32 << 10;
    FlowFabric& f = ring.build_clockwise();
    const auto end = f.run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
    EXPECT_EQ(leftovers(f), "");
}

}  // namespace
}  // namespace simverbs::test
