// A host's side of link-level flow control: pauses obeyed to the quantum, credits spent and given back.
#include "models/link/flow_control_end.hpp"

#include <gtest/gtest.h>

#include "models/link/link.hpp"

namespace simverbs::link {
namespace {

using sim::SimTime;

class Idle final : public sim::Node {
  public:
    void run_window(SimTime) override {}
    [[nodiscard]] SimTime next_event_time() const override { return SimTime::max(); }
};

/// The host is end a; the tests speak for end b.
struct Cable {
    explicit Cable(LinkLayer layer, sim::ByteCount vl_buffer = 0) {
        engine.add_node(a);
        engine.add_node(b);
        LinkParams params;
        params.layer = layer;
        params.flow_control = true;
        link.emplace(engine, params, LinkEnd{a.id(), "a", {}}, LinkEnd{b.id(), "b", {}}, nullptr);
        const PortWiring wiring = link->wiring_a();
        egress = wiring.egress;
        end = FlowControlEnd(wiring, vl_buffer);
        peer = link->wiring_b();
        (void)engine.window();
        engine.run_until(SimTime::ns(1));
    }
    /// A frame that is obeyed at `at`.
    void hear(FlowControlFrame frame, SimTime at) {
        frame.arrival = at;
        peer.control.out->push(frame);
    }
    sim::Engine engine;
    Idle a, b;
    std::optional<Link> link;
    EgressPort egress;
    FlowControlEnd end;
    PortWiring peer;
};

TEST(FlowControlEnd, APauseEndsAfterItsQuanta) {
    Cable c(LinkLayer::Ethernet);
    c.hear({.priorities = 1 << 3, .quanta = 100}, SimTime::us(2));
    EXPECT_EQ(c.end.next_time(c.egress), SimTime::us(2));
    EXPECT_TRUE(c.end.may_send(c.egress, 3, 100, SimTime::us(2)));
    c.end.run(c.egress, SimTime::us(2));
    EXPECT_FALSE(c.end.may_send(c.egress, 3, 100, SimTime::us(2)));
    EXPECT_TRUE(c.end.may_send(c.egress, 2, 100, SimTime::us(2)));
    // 100 quanta of 512 bits at 100 Gb/s.
    EXPECT_EQ(c.end.next_time(c.egress), SimTime::us(2) + SimTime::ns(512));
    c.end.run(c.egress, SimTime::us(2) + SimTime::ns(512));
    EXPECT_TRUE(c.end.may_send(c.egress, 3, 100, SimTime::us(2)));
    EXPECT_EQ(c.end.paused_time(), SimTime::ns(512));
    EXPECT_EQ(c.end.pauses_received(), 1U);
    EXPECT_EQ(c.end.next_time(c.egress), SimTime::max());
}

TEST(FlowControlEnd, ZeroQuantaEndAPauseAtOnce) {
    Cable c(LinkLayer::Ethernet);
    c.hear({.priorities = 0b1010, .quanta = 0xFFFF}, SimTime::us(2));
    c.end.run(c.egress, SimTime::us(2));
    c.hear({.priorities = 0b0010, .quanta = 0}, SimTime::us(5));
    c.end.run(c.egress, SimTime::us(5));
    EXPECT_EQ(c.egress.blocked, 0b1000);
    EXPECT_EQ(c.end.paused_time(), SimTime::us(3));
}

TEST(FlowControlEnd, WithoutCreditsAVlWaitsForTheNextLimit) {
    Cable c(LinkLayer::InfiniBand, 1024);
    EXPECT_TRUE(c.end.may_send(c.egress, 0, 1000, SimTime::us(2)));
    c.end.sent(0, 1000);
    EXPECT_FALSE(c.end.may_send(c.egress, 0, 64, SimTime::us(2)));
    EXPECT_TRUE(c.end.may_send(c.egress, 1, 64, SimTime::us(2)));
    c.hear({.priorities = 1, .fccl = 32}, SimTime::us(2));
    c.end.run(c.egress, SimTime::us(2));
    EXPECT_TRUE(c.end.may_send(c.egress, 0, 1024, SimTime::us(2)));
    EXPECT_FALSE(c.end.may_send(c.egress, 0, 1025, SimTime::us(2)));
}

TEST(FlowControlEnd, WhatArrivesGivesItsCreditsBack) {
    Cable c(LinkLayer::InfiniBand, 1024);
    c.end.received(c.egress, 5, 1000, SimTime::us(1));
    const FlowControlFrame& frame = c.peer.control.in->front();
    EXPECT_EQ(frame.priorities, 1 << 5);
    EXPECT_EQ(frame.fccl, 32U);  // 16 blocks have come, 16 more may
}

}  // namespace
}  // namespace simverbs::link
