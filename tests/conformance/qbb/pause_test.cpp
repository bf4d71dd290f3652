// Pause frames: when they are sent, when they are obeyed, how long they hold, and what happens when they never end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/qbb/qbb_rig.hpp"

namespace simverbs::test {
namespace {

using fabric::SwitchConfig;
using sim::BitRate;
using sim::SimTime;

constexpr int64_t kBytePs = 80;  // at 100 Gb/s
constexpr int64_t kPacketPs = 1082 * kBytePs;
constexpr int64_t kPausePs = 84 * kBytePs;  // 64 bytes, preamble, gap
constexpr int64_t kCablePs = 50'000;
constexpr int64_t kResponsePs = 394 * 5'120;
constexpr int64_t kControlPs = kCablePs + kPausePs + kResponsePs;

SwitchConfig lossless(uint16_t priorities = 1 << 3) {
    SwitchConfig c;
    c.ports = 4;
    c.priorities = priorities;
    c.buffer = {
        .total = 400'000, .lossless = static_cast<uint16_t>(priorities & 1 << 3), .headroom = 60'000, .alpha = 1.0 / 8};
    return c;
}

std::vector<int64_t> arrivals(const PfcHost& host) {
    std::vector<int64_t> times;
    for (const auto& r : host.received) times.push_back(r.time.in_ps());
    return times;
}

TEST(PfcPause, XoffWhenTheThresholdIsReached_XonWhenItIsXonOffsetBelow) {
    PfcStar star(lossless());
    for (int i = 0; i < 3; ++i) star.add();
    star.hosts[0]->send({2, 200});
    star.hosts[1]->send({2, 200});
    star.engine.run();
    for (const int sender : {0, 1}) {
        const auto& pauses = star.hosts[static_cast<size_t>(sender)]->pauses;
        ASSERT_GE(pauses.size(), 2U);
        for (size_t i = 0; i < pauses.size(); ++i) {
            EXPECT_EQ(pauses[i].priorities, 1 << 3);
            EXPECT_EQ(pauses[i].quanta, i % 2 == 0 ? 0xFFFF : 0) << "XOFF and XON in turn";
        }
        EXPECT_EQ(star.sw->counters(static_cast<fabric::PortIndex>(sender)).pauses_sent, pauses.size() / 2);
    }
    EXPECT_EQ(star.hosts[2]->received.size(), 400U);
    EXPECT_EQ(star.headroom_drops(), 0U);
    EXPECT_EQ(star.sw->buffer().used(), 0);
    EXPECT_EQ(star.sw->pausing(0) | star.sw->pausing(1), 0U) << "nobody stays paused";
}

TEST(PfcPause, TheFirstXoffIsSentByThePacketThatGoesBeyondTheThreshold) {
    PfcStar star(lossless());
    for (int i = 0; i < 3; ++i) star.add();
    star.hosts[2]->send_pause_at({}, 1 << 3, 0xFFFF);  // nothing leaves: each packet stays in the buffer
    star.hosts[0]->send({2, 100, 1000, 3, SimTime::us(3)});
    star.engine.run_until(SimTime::us(20));
    // 400,000 - 4 * 60,000 are shared. n packets of 1062 bytes without gap: paused by the first that does not fit below
    // (160,000 - 1062 (n - 1)) / 8, the 17th; it arrives after 17 - 1 packets and the cable.
    const int64_t decided = 3'000'000 + 16 * kPacketPs + kCablePs;
    ASSERT_FALSE(star.hosts[0]->pauses.empty());
    EXPECT_EQ(star.hosts[0]->pauses[0].time.in_ps(), decided + kControlPs);
}

TEST(PfcPause, APauseIsRenewedAtHalfTimeAsLongAsItIsNeeded) {
    SwitchConfig c = lossless();
    c.pfc.quanta = 1000;
    PfcStar star(c);
    for (int i = 0; i < 3; ++i) star.add();
    for (int i = 0; i < 4; ++i) star.hosts[2]->send_pause_at(SimTime::us(100) * i, 1 << 3, 0xFFFF);
    star.hosts[0]->send({2, 100, 1000, 3, SimTime::us(3)});
    star.engine.run_until(SimTime::us(400));
    const auto& pauses = star.hosts[0]->pauses;
    ASSERT_GT(pauses.size(), 100U);
    for (size_t i = 1; i < 100; ++i) ASSERT_EQ((pauses[i].time - pauses[i - 1].time).in_ps(), 500 * 5'120) << i;
    EXPECT_EQ(star.sw->counters(0).pauses_sent, 1U) << "renewals are not new pauses";
    EXPECT_EQ(star.hosts[0]->sent.size(), star.sw->counters(0).rx_packets);
    EXPECT_LT(star.hosts[0]->sent.size(), 60U) << "it stayed paused";
}

TEST(PfcPause, WithoutRenewalAPauseEndsAfterItsQuanta) {
    PfcStar star(lossless());
    for (int i = 0; i < 2; ++i) star.add();
    star.hosts[1]->send_pause_at({}, 1 << 3, 1000);
    star.hosts[0]->send({1, 3, 1000, 3, SimTime::us(3)});  // after the pause has come into force
    star.engine.run();
    const int64_t paused = kControlPs + 1000 * 5'120;
    EXPECT_THAT(arrivals(*star.hosts[1]), testing::ElementsAre(paused + kCablePs, paused + kCablePs + kPacketPs,
                                                               paused + kCablePs + 2 * kPacketPs));
    EXPECT_EQ(star.sw->counters(1).paused_time.in_ps(), 1000 * 5'120);
    EXPECT_EQ(star.sw->counters(1).pauses_received, 1U);
}

TEST(PfcPause, ALaterPauseProlongsAndQuantaOfZeroEndIt) {
    PfcStar star(lossless());
    for (int i = 0; i < 2; ++i) star.add();
    star.hosts[1]->send_pause_at({}, 1 << 3, 1000);
    star.hosts[1]->send_pause_at(SimTime::us(4), 1 << 3, 1000);
    star.hosts[1]->send_pause_at(SimTime::us(7), 1 << 3, 0);
    star.hosts[0]->send({1, 1, 1000, 3, SimTime::us(3)});
    star.engine.run();
    EXPECT_THAT(arrivals(*star.hosts[1]), testing::ElementsAre(7'000'000 + kControlPs + kCablePs));
    EXPECT_EQ(star.sw->counters(1).paused_time.in_ps(), 7'000'000);
}

TEST(PfcPause, APausedPriorityDoesNotStopTheOthers) {
    PfcStar star(lossless(1 << 3 | 1 << 1 | 1 << 5));
    for (int i = 0; i < 3; ++i) star.add();
    star.hosts[1]->send_pause_at({}, 1 << 3, 0xFFFF);
    star.hosts[0]->send({1, 10, 1000, 3, SimTime::us(3)});
    star.hosts[2]->send({1, 10, 1000, 1, SimTime::us(3)});
    star.hosts[2]->send({1, 10, 1000, 5, SimTime::us(3)});
    star.engine.run_until(SimTime::us(200));
    EXPECT_EQ(star.hosts[1]->received.size(), 20U);
    for (const auto& r : star.hosts[1]->received) EXPECT_NE(r.packet.priority, 3U);
    star.engine.run();
    EXPECT_EQ(star.hosts[1]->received.size(), 30U);
}

TEST(PfcPause, APauseFrameWaitsForThePacketBeingSentAndTakesItsTimeOnTheWire) {
    // Packets of 9000 bytes of another class run from h3 to h0 back to back; h0 is to be paused meanwhile.
    PfcStar star(lossless(1 << 3 | 1 << 5));
    for (int i = 0; i < 4; ++i) star.add();
    star.hosts[2]->send_pause_at({}, 1 << 3, 0xFFFF);
    star.hosts[3]->send({0, 20, 9000, 5, SimTime::us(3)});
    star.hosts[0]->send({2, 100, 1000, 3, SimTime::us(3)});
    star.engine.run_until(SimTime::us(40));
    ASSERT_FALSE(star.hosts[0]->pauses.empty());
    constexpr int64_t kLargePs = 9082 * kBytePs;
    const int64_t decided = 3'000'000 + 16 * kPacketPs + kCablePs;
    const int64_t first_large = 3'000'000 + kCablePs;  // starts at the switch
    const int64_t packets_begun = (decided - first_large) / kLargePs + 1;
    const int64_t start = first_large + packets_begun * kLargePs;
    EXPECT_EQ(star.hosts[0]->pauses[0].time.in_ps(), start + kControlPs);
    // The large packet after it starts a pause frame's time later.
    const auto times = arrivals(*star.hosts[0]);
    const auto after = static_cast<size_t>(packets_begun);
    EXPECT_EQ(times[after - 1] + kLargePs, start + kCablePs);
    EXPECT_EQ(times[after], start + kCablePs + kPausePs);
}

TEST(PfcPause, AtOneInstantAPauseComesBeforeThePacketThatWouldStart) {
    // The packets of h0 leave the switch back to back from 50 ns on; a pause comes into force exactly when the sixth
    // would start, or a picosecond later.
    for (const int64_t late : {0, 1}) {
        PfcStar star(lossless());
        for (int i = 0; i < 2; ++i) star.add();
        const int64_t sixth = 4'000'000 + kCablePs + 5 * kPacketPs;
        star.hosts[0]->send({1, 10, 1000, 3, SimTime::us(4)});
        star.hosts[1]->send_pause_at(SimTime::ps(sixth - kControlPs + late), 1 << 3, 0xFFFF);
        star.engine.run_until(SimTime::us(20));
        EXPECT_EQ(star.hosts[1]->received.size(), late == 0 ? 5U : 6U);
    }
}

TEST(PfcPause, TwoPrioritiesArePausedEachByItself) {
    SwitchConfig c = lossless(1 << 3 | 1 << 4);
    c.buffer.lossless = 1 << 3 | 1 << 4;
    c.buffer.total = 800'000;
    PfcStar star(c);
    for (int i = 0; i < 3; ++i) star.add();
    star.hosts[2]->send_pause_at({}, 1 << 3, 0xFFFF);
    star.hosts[0]->send({2, 100, 1000, 3, SimTime::us(3)});
    star.hosts[0]->send({2, 50, 1000, 4, SimTime::us(3)});
    star.engine.run_until(SimTime::us(100));
    size_t of_four = 0;
    for (const auto& r : star.hosts[2]->received) of_four += r.packet.priority == 4 ? 1 : 0;
    EXPECT_EQ(of_four, 50U);
    for (const auto& p : star.hosts[0]->pauses) EXPECT_EQ(p.priorities, 1 << 3);
}

/// h2 keeps its port paused by frames every 100 us from the beginning until `until`, then goes on with an XON or not.
struct Storm {
    Storm(SimTime watchdog, SimTime until, bool xon) : star(with(watchdog)) {
        for (int i = 0; i < 3; ++i) star.add();
        for (SimTime t; t < until; t += SimTime::us(100)) star.hosts[2]->send_pause_at(t, 1 << 3, 0xFFFF);
        if (xon) star.hosts[2]->send_pause_at(until, 1 << 3, 0);
        star.hosts[0]->send({2, 300, 1000, 3, SimTime::us(3)});
    }
    static SwitchConfig with(SimTime watchdog) {
        SwitchConfig c = lossless();
        c.pfc.watchdog = watchdog;
        return c;
    }
    PfcStar star;
};

TEST(PfcWatchdog, APriorityThatIsPausedForTooLongIsCountedAndDrained) {
    Storm storm(SimTime::ms(1), SimTime::ms(3), true);
    storm.star.engine.run_until(SimTime::ps(1'000'000'000) + SimTime::ps(kControlPs - 1));
    EXPECT_EQ(storm.star.sw->counters(2).watchdog_events, 0U);
    const uint64_t waiting = storm.star.sw->packets_inside();
    EXPECT_GT(waiting, 10U);
    EXPECT_NE(storm.star.sw->pausing(0), 0U);
    storm.star.engine.run_until(SimTime::ps(1'000'000'000) + SimTime::ps(kControlPs + 1));
    EXPECT_EQ(storm.star.sw->counters(2).watchdog_events, 1U);
    EXPECT_EQ(storm.star.sw->counters(2).drops_watchdog, waiting);
    EXPECT_EQ(storm.star.sw->buffered_bytes(), 0);
    EXPECT_EQ(storm.star.sw->pausing(0), 0U) << "the sender may go on";
    storm.star.engine.run_until(SimTime::ms(2));
    EXPECT_EQ(storm.star.hosts[0]->sent.size(), 300U);
    EXPECT_EQ(storm.star.sw->counters(2).drops_watchdog, 300U) << "what comes meanwhile is dropped as well";
    EXPECT_EQ(storm.star.hosts[2]->received.size(), 0U);
    EXPECT_EQ(storm.star.sw->counters(2).watchdog_events, 1U);
}

TEST(PfcWatchdog, WhenThePeerLetsItGoOnPacketsPassAgain) {
    for (const bool xon : {true, false}) {
        Storm storm(SimTime::ms(1), SimTime::ms(2), xon);
        // Two hosts, so that packets have to wait in the switch: a drained class would drop them.
        storm.star.hosts[0]->send({2, 100, 1000, 3, SimTime::ms(4)});
        storm.star.hosts[1]->send({2, 100, 1000, 3, SimTime::ms(4)});
        storm.star.engine.run();
        EXPECT_EQ(storm.star.hosts[2]->received.size(), 200U) << (xon ? "after an XON" : "after the pause has ended");
        EXPECT_EQ(storm.star.sw->packets_inside(), 0U);
    }
}

TEST(PfcWatchdog, APauseThatEndsInTimeIsNoStorm) {
    Storm storm(SimTime::ms(1), SimTime::us(900), true);
    storm.star.engine.run();
    EXPECT_EQ(storm.star.sw->counters(2).watchdog_events, 0U);
    EXPECT_EQ(storm.star.hosts[2]->received.size(), 300U);
}

}  // namespace
}  // namespace simverbs::test
