// The switch: timing, queues, priorities, drops, routes.
#include "models/switch/switch.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/link/link.hpp"
#include "models/wire/opcode.hpp"
#include "sim/check.hpp"
#include "sim/engine.hpp"
#include "tests/support/traffic_node.hpp"

namespace simverbs::fabric {
namespace {

using sim::BitRate;
using sim::SimTime;

class Tap final : public link::PacketObserver {
  public:
    void on_packet(SimTime time, const wire::Packet& packet, link::Direction direction) override {
        if (direction == link::Direction::In) in.push_back({time, packet});
    }
    std::vector<std::pair<SimTime, wire::Packet>> in;
};

/// Hosts 0 … n-1 on ports 0 … n-1 of one switch. Cables of 50 ns; 1000 bytes of payload are 1082 on the wire.
class Star {
  public:
    static constexpr int64_t kCablePs = 50'000;

    explicit Star(SwitchConfig config = {}, sim::EngineConfig engine_config = {}) : engine(engine_config) {
        config.path = "sw0";
        config.ports = 8;
        config.pipeline_latency = SimTime::ns(200);
        sw = std::make_unique<Switch>(config, &pool);
        engine.add_node(*sw);
    }
    test::TrafficNode& add(test::TrafficConfig traffic, BitRate rate = BitRate::gbps(100)) {
        traffic.self = static_cast<wire::LeafId>(hosts.size());
        hosts.push_back(std::make_unique<test::TrafficNode>(traffic));
        engine.add_node(*hosts.back());
        link::LinkParams params;
        params.rate = rate;
        params.propagation = SimTime::ps(kCablePs);
        cables.push_back(std::make_unique<link::Link>(
            engine, params, link::LinkEnd{hosts.back()->id(), "h" + std::to_string(traffic.self), {}},
            link::LinkEnd{sw->id(), "sw0/" + std::to_string(traffic.self), sw->config().pipeline_latency}, &pool));
        hosts.back()->attach_port(cables.back()->wiring_a());
        hosts.back()->port().ingress.observer = &taps.emplace_back();
        sw->attach_port(traffic.self, cables.back()->wiring_b());
        const PortIndex port = traffic.self;
        sw->table().set_route(traffic.self, sw->table().add_group({&port, 1}));
        return *hosts.back();
    }
    std::vector<int64_t> arrivals(size_t host) const {
        std::vector<int64_t> out;
        for (const auto& [t, p] : taps[host].in) out.push_back(t.in_ps());
        return out;
    }
    std::vector<uint32_t> senders(size_t host) const {
        std::vector<uint32_t> out;
        for (const auto& [t, p] : taps[host].in) out.push_back(p.dest_qp);
        return out;
    }

    wire::PacketPool pool{4};
    sim::Engine engine;
    std::unique_ptr<Switch> sw;
    std::deque<Tap> taps;
    std::vector<std::unique_ptr<test::TrafficNode>> hosts;
    std::vector<std::unique_ptr<link::Link>> cables;
};

TEST(Switch, CutThroughAddsCablesAndPipelineOnly) {
    Star star;
    star.add({.dest = 1, .packets = 2});
    star.add({});
    star.engine.run();
    const int64_t header = 50'000 + 200'000 + 50'000;
    EXPECT_EQ(star.arrivals(1), (std::vector<int64_t>{header, header + 1082 * 80}));
    EXPECT_EQ(star.taps[1].in[0].second.ttl, 63U);
}

TEST(Switch, StoreAndForwardAddsTheSerialisationTime) {
    Star star({.forwarding = Forwarding::StoreAndForward});
    star.add({.dest = 1, .packets = 2});
    star.add({});
    star.engine.run();
    const int64_t header = 50'000 + 200'000 + 1082 * 80 + 50'000;
    EXPECT_EQ(star.arrivals(1), (std::vector<int64_t>{header, header + 1082 * 80}));
}

TEST(Switch, APacketForAGroupLeavesByEachOfItsPortsButItsOwn_StoredOrNot) {
    constexpr wire::LeafId kGroup = wire::kFirstGroup + 1;
    for (const Forwarding forwarding : {Forwarding::CutThrough, Forwarding::StoreAndForward}) {
        Star star({.forwarding = forwarding});
        star.add({.dest = kGroup, .packets = 2});
        for (int i = 0; i < 3; ++i) star.add({});
        star.sw->set_group_ports(kGroup, {0, 1, 2});
        star.engine.run();
        const int64_t stored = forwarding == Forwarding::StoreAndForward ? 1082 * 80 : 0;
        const int64_t header = 50'000 + 200'000 + stored + 50'000;
        for (const size_t host : {1, 2})
            EXPECT_EQ(star.arrivals(host), (std::vector<int64_t>{header, header + 1082 * 80}));
        EXPECT_TRUE(star.arrivals(0).empty());
        EXPECT_TRUE(star.arrivals(3).empty()) << "no member";
        EXPECT_EQ(star.sw->counters(0).rx_packets, 2U);
        EXPECT_EQ(star.sw->counters(0).drops_no_route, 0U);
    }
}

TEST(Switch, APacketForAGroupWithoutPortsIsDropped) {
    Star star;
    star.add({.dest = wire::kFirstGroup + 1, .packets = 2});
    star.add({});
    star.sw->set_group_ports(wire::kFirstGroup + 1, {0});
    star.engine.run();
    EXPECT_EQ(star.sw->counters(0).drops_no_route, 2U);
}

TEST(Switch, CutThroughStoresTheWholePacketBeforeAFasterEgress) {
    Star star;
    star.add({.dest = 1, .packets = 2}, BitRate::gbps(100));
    star.add({}, BitRate::gbps(400));
    star.engine.run();
    const int64_t header = 50'000 + 200'000 + 1082 * 80 + 50'000;
    EXPECT_EQ(star.arrivals(1), (std::vector<int64_t>{header, header + 1082 * 80}));
}

TEST(Switch, ASlowerEgressSpacesPacketsByItsRate) {
    Star star;
    star.add({.dest = 1, .packets = 3}, BitRate::gbps(400));
    star.add({}, BitRate::gbps(100));
    star.engine.run();
    const int64_t header = 50'000 + 200'000 + 50'000;
    EXPECT_EQ(star.arrivals(1), (std::vector<int64_t>{header, header + 1082 * 80, header + 2 * 1082 * 80}));
    EXPECT_EQ(star.sw->counters(1).max_queue_bytes, 2U * 1062);
}

TEST(Switch, PacketsOfOneInstantLeaveInTheOrderOfTheirIngressPorts) {
    Star star;
    star.add({.dest = 3, .packets = 2});
    star.add({.dest = 3, .packets = 2});
    star.add({.dest = 3, .packets = 2});
    star.add({});
    star.engine.run();
    EXPECT_EQ(star.senders(3), (std::vector<uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(Switch, AmongPacketsOfOneInstantTheHighestPriorityWins) {
    // Egress selection is a phase of its own: the first to be looked at does not simply go.
    Star star;
    star.add({.dest = 3, .packets = 1, .priority = 0});
    star.add({.dest = 3, .packets = 1, .priority = 3});
    star.add({.dest = 3, .packets = 1, .priority = 15});
    star.add({});
    star.engine.run();
    EXPECT_EQ(star.senders(3), (std::vector<uint32_t>{2, 1, 0}));
}

TEST(Switch, AWaitingHighPriorityOvertakesWaitingLowOnes) {
    Star star;
    star.add({.dest = 2, .packets = 4, .priority = 1}, BitRate::gbps(400));
    star.add({.dest = 2, .packets = 1, .priority = 5, .first = SimTime::ns(70)}, BitRate::gbps(400));
    star.add({}, BitRate::gbps(100));
    star.engine.run();
    EXPECT_EQ(star.senders(2), (std::vector<uint32_t>{0, 1, 0, 0, 0}));
}

TEST(Switch, AFullQueueDropsTheTailAndCountsIt) {
    Star star({.queue_bytes = 2 * 1062});
    star.add({.dest = 2, .packets = 10});
    star.add({.dest = 2, .packets = 10, .first = SimTime::ns(1)});
    star.add({});
    star.engine.run();
    const PortCounters c = star.sw->counters(2);
    EXPECT_GT(c.drops_full, 4U);
    EXPECT_EQ(c.tx_packets + c.drops_full, 20U);
    EXPECT_EQ(star.hosts[2]->received(), c.tx_packets);
    EXPECT_EQ(c.max_queue_bytes, 2U * 1062);
    EXPECT_EQ(star.sw->packets_inside(), 0U);
    EXPECT_EQ(star.sw->buffered_bytes(), 0);
}

TEST(Switch, TheSharedBufferBoundsAllQueuesTogether) {
    Star star({.buffer = {.total = 3 * 1062}});
    for (const uint32_t dest : {4U, 4U, 5U, 5U}) star.add({.dest = dest, .packets = 20});
    star.add({});
    star.add({});
    star.engine.run();
    const auto c4 = star.sw->counters(4);
    const auto c5 = star.sw->counters(5);
    EXPECT_GT(c4.drops_full + c5.drops_full, 20U);
    EXPECT_EQ(c4.tx_packets + c5.tx_packets + c4.drops_full + c5.drops_full, 80U);
    EXPECT_LE(c4.max_queue_bytes + c5.max_queue_bytes, 4U * 1062);
}

TEST(Switch, DropsForWantOfARouteOrOfHopsReleaseTheirRecords) {
    Star star;
    auto& host = star.add({});
    star.add({});
    for (const auto& [dest, ttl] : {std::pair{7U, 9U}, std::pair{1U, 0U}, std::pair{1U, 1U}}) {
        wire::Packet p;
        p.dest = dest;
        p.ttl = ttl;
        p.extra = star.pool.allocate(0);
        host.port().egress.transmit(p, 100, host.port().egress.busy_until);
    }
    star.engine.run();
    EXPECT_EQ(star.sw->counters(0).drops_no_route, 1U);
    EXPECT_EQ(star.sw->counters(0).drops_ttl, 1U);
    EXPECT_EQ(star.hosts[1]->received(), 1U);
    EXPECT_EQ(star.pool.in_use(), 0U);
}

TEST(Switch, ItsNextEventIsExactAtAnyCut) {
    Star star({.forwarding = Forwarding::StoreAndForward});
    for (int i = 0; i < 3; ++i) star.add({.dest = 3, .packets = 5, .first = SimTime::ps(i * 7)});
    star.add({});
    while (star.engine.next_event_time() != SimTime::max()) {
        const SimTime next = star.engine.next_event_time();
        const uint64_t inside = star.sw->packets_inside();
        // Nothing may happen before the announced time …
        star.engine.run_until(next);
        ASSERT_EQ(star.sw->packets_inside(), inside);
        ASSERT_EQ(star.engine.next_event_time(), next);
        // … and something must at it.
        star.engine.run_until(next + SimTime::ps(1));
        ASSERT_GT(star.engine.next_event_time(), next);
    }
    EXPECT_EQ(star.hosts[3]->received(), 15U);
}

TEST(Switch, WindowsOfAnyLengthGiveTheSameArrivals) {
    std::set<uint64_t> hashes;
    for (const SimTime window : {SimTime::zero(), SimTime::ns(50), SimTime::ns(13), SimTime::ps(1'024)}) {
        Star star({.queue_bytes = 6 * 1062}, {.window = window});
        for (int i = 0; i < 5; ++i)
            star.add(
                {.dest = 5, .packets = 40, .priority = static_cast<uint32_t>(i % 3), .first = SimTime::ps(i * 3'000)});
        star.add({});
        star.engine.run();
        EXPECT_GT(star.sw->counters(5).drops_full, 10U);
        hashes.insert(star.hosts[5]->hash());
    }
    EXPECT_EQ(hashes.size(), 1U);
}

TEST(ForwardingTable, AGroupSpreadsFlowsEvenlyAndKeepsEachOnItsPath) {
    ForwardingTable table(42);
    const PortIndex ports[] = {3, 5, 7};
    table.set_route(9, table.add_group(ports));
    std::vector<int> hits(8, 0);
    for (uint32_t flow = 0; flow < 30'000; ++flow) {
        wire::Packet p;
        p.dest = 9;
        p.flow_hash = static_cast<uint16_t>(flow);
        const PortIndex port = table.route(p);
        ASSERT_EQ(port, table.route(p));
        ++hits[port];
    }
    for (const PortIndex p : ports) EXPECT_NEAR(hits[p], 10'000, 500);
}

TEST(ForwardingTable, SwitchesWithDifferentSaltsChooseIndependently) {
    ForwardingTable one(1);
    ForwardingTable two(2);
    const PortIndex ports[] = {0, 1};
    one.set_route(4, one.add_group(ports));
    two.set_route(4, two.add_group(ports));
    int both[2][2] = {};
    for (uint32_t flow = 0; flow < 4'000; ++flow) {
        wire::Packet p;
        p.dest = 4;
        p.flow_hash = static_cast<uint16_t>(flow * 7919);
        ++both[one.route(p)][two.route(p)];
    }
    for (const auto& row : both)
        for (const int n : row) EXPECT_NEAR(n, 1'000, 200);
}

TEST(ForwardingTable, AGroupCanLoseAPortAndAnEmptyOneIsNoRoute) {
    ForwardingTable table(1);
    const PortIndex ports[] = {0, 1};
    const GroupId group = table.add_group(ports);
    table.set_route(2, group);
    wire::Packet p;
    p.dest = 2;
    table.set_group(group, {ports + 1, 1});
    EXPECT_EQ(table.route(p), 1U);
    table.set_group(group, {});
    EXPECT_EQ(table.route(p), kNoPort);
    p.dest = 1;
    EXPECT_EQ(table.route(p), kNoPort);
    p.dest = 1000;
    EXPECT_EQ(table.route(p), kNoPort);
    EXPECT_TRUE(table.ports_of(1000).empty());
}

}  // namespace
}  // namespace simverbs::fabric
