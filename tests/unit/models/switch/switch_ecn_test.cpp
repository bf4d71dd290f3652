// Which packets a switch marks.
#include <gtest/gtest.h>

#include "tests/conformance/qbb/qbb_rig.hpp"

namespace simverbs::test {
namespace {

using fabric::SwitchConfig;
using sim::SimTime;

constexpr sim::ByteCount kFrame = 1062;  // of 1000 bytes of payload

SwitchConfig marking(const ecn::RedParams& red, bool at_enqueue, uint64_t seed = 1) {
    SwitchConfig c;
    c.ports = 5;
    c.priorities = 1 << 3 | 1 << 1;
    c.buffer.lossless = 1 << 3;  // so that the receiver can pause it
    c.ecn = {1 << 3, red, at_enqueue};
    c.seed = seed;
    return c;
}

/// h0 sends `packets` to h1, which lets them go only when all have gathered in the switch. Which of them came marked?
std::vector<bool> marked(PfcStar& star, uint64_t packets, uint32_t to = 1, SimTime later = {}) {
    while (star.hosts.size() < 5) star.add();
    PfcHost& receiver = *star.hosts[to];
    receiver.send_pause_at(later, 1 << 3, 0xFFFF);
    receiver.send_pause_at(later + SimTime::us(300), 1 << 3, 0);
    star.hosts[0]->send({to, packets, 1000, 3, later + SimTime::us(3)});
    star.engine.run();
    std::vector<bool> marks;
    for (const auto& r : receiver.received)
        if (r.packet.priority == 3) marks.push_back((r.packet.flags & wire::kFecn) != 0);
    return marks;
}

constexpr ecn::RedParams kStep{.kmin = 10 * kFrame, .kmax = 10 * kFrame, .pmax = 1};

TEST(SwitchEcn, AtDequeueAPacketIsMarkedByWhatItLeavesBehind) {
    PfcStar star(marking(kStep, false));
    const auto marks = marked(star, 30);
    ASSERT_EQ(marks.size(), 30U);
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(marks[i], 29 - i > 10) << i;
    EXPECT_EQ(star.sw->counters(1).marked, 19U);
}

TEST(SwitchEcn, AtEnqueueAPacketIsMarkedByWhatItFinds) {
    PfcStar star(marking(kStep, true));
    const auto marks = marked(star, 30);
    ASSERT_EQ(marks.size(), 30U);
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(marks[i], i > 10) << i;
    EXPECT_EQ(star.sw->counters(1).marked, 19U);
}

TEST(SwitchEcn, PacketsThatAreNotEcnCapableAreNeverMarked) {
    PfcStar star(marking({.kmin = 0, .kmax = 0, .pmax = 1}, true));
    for (int i = 0; i < 5; ++i) star.add();
    star.hosts[1]->send_pause_at({}, 1 << 3, 100);
    PfcHost::Burst burst{1, 20, 1000, 3};
    burst.start = SimTime::us(3);
    burst.flags = 0;
    star.hosts[0]->send(burst);
    star.engine.run();
    ASSERT_EQ(star.hosts[1]->received.size(), 20U);
    for (const auto& r : star.hosts[1]->received) EXPECT_EQ(r.packet.flags & wire::kFecn, 0);
}

TEST(SwitchEcn, OtherPrioritiesThanTheChosenAreNeverMarked) {
    PfcStar star(marking({.kmin = 0, .kmax = 0, .pmax = 1}, false));
    for (int i = 0; i < 5; ++i) star.add();
    for (const uint32_t h : {0U, 2U}) star.hosts[h]->send({1, 20, 1000, 1});
    star.engine.run();
    ASSERT_EQ(star.hosts[1]->received.size(), 40U);
    for (const auto& r : star.hosts[1]->received) EXPECT_EQ(r.packet.flags & wire::kFecn, 0);
    EXPECT_GT(star.sw->counters(1).max_queue_bytes, 10U * kFrame);
}

TEST(SwitchEcn, AMarkedPacketIsNotMarkedAgain) {
    PfcStar star(marking(kStep, false));
    for (int i = 0; i < 5; ++i) star.add();
    star.hosts[1]->send_pause_at({}, 1 << 3, 100);
    PfcHost::Burst burst{1, 30, 1000, 3};
    burst.start = SimTime::us(3);
    burst.flags = wire::kEcnCapable | wire::kFecn;
    star.hosts[0]->send(burst);
    star.engine.run();
    EXPECT_EQ(star.sw->counters(1).marked, 0U) << "counted where it happened";
}

constexpr ecn::RedParams kSlope{.kmin = 0, .kmax = 3000 * kFrame, .pmax = 0.5};

TEST(SwitchEcn, TheShareOfMarksIsRedsProbability) {
    PfcStar star(marking(kSlope, false));
    const auto marks = marked(star, 3000);
    // The i-th from the end leaves i packets behind: probability i / 6000; in sum 750 with a variance of 500.
    EXPECT_NEAR(static_cast<double>(std::count(marks.begin(), marks.end(), true)), 750, 4 * 22.4);
    EXPECT_GT(std::count(marks.begin(), marks.begin() + 1000, true),
              std::count(marks.end() - 1000, marks.end(), true) * 2);
}

TEST(SwitchEcn, ADrawDependsOnThePortAndItsOrdinalAlone) {
    PfcStar one(marking(kSlope, false));
    const auto expected = marked(one, 1000);
    PfcStar later(marking(kSlope, false));
    EXPECT_EQ(marked(later, 1000, 1, SimTime::ps(123'457)), expected) << "not on the time";
    PfcStar busy(marking(kSlope, false));
    for (int i = 0; i < 5; ++i) busy.add();
    for (const uint32_t h : {2U, 4U}) busy.hosts[h]->send({3, 3000});
    EXPECT_EQ(marked(busy, 1000), expected) << "not on what other ports mark";
    EXPECT_GT(busy.sw->counters(3).marked, 0U);
    PfcStar other_port(marking(kSlope, false));
    EXPECT_NE(marked(other_port, 1000, 2), expected);
    PfcStar other_seed(marking(kSlope, false, 2));
    EXPECT_NE(marked(other_seed, 1000), expected);
}

}  // namespace
}  // namespace simverbs::test
