// When flows start, when their packets leave: windows, pacing, dependencies, sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using testing::ElementsAre;

// Byte times at 100 Gb/s: 80 ps. A WRITE's first packet of 1000 bytes has a RETH (16 bytes) beside the usual 82.
constexpr int64_t kBytePs = 80;
constexpr int64_t kFirstBytes = 1098;
constexpr int64_t kMiddleBytes = 1082;
constexpr int64_t kAckBytes = 86;
constexpr int64_t kCablePs = 1'000'000;

/// Two hosts and one flow of `packets` packets under a script.
struct Scripted : FlowRig {
    Scripted(cc::Control control, uint32_t packets, std::function<void(SimTime, cc::Control&)> at_update = {})
        : FlowRig(back_to_back()) {
        auto script = std::make_unique<ScriptedCc>(control);
        script->at_update = std::move(at_update);
        algorithm = std::move(script);
        add(0, 1, int64_t{packets} * 1000);
        build();
        log = &tap(0);
        EXPECT_EQ(fabric->run_until_done().end, FlowRunEnd::Idle);
        EXPECT_EQ(result(0).status, FlowStatus::Success);
    }
    PortLog* log = nullptr;
};

TEST(FlowTiming, AWindowOfThreePacketsSendsThreeAndThenOneAnAck) {
    Scripted rig({.rate = BitRate::gbps(100), .window_bytes = 3000}, 12);
    int64_t in_flight = 0;
    std::vector<int64_t> ack_times;
    std::vector<int64_t> sent_times;
    for (const PortLog::Entry& e : rig.log->entries) {
        in_flight += e.out ? 1 : -1;
        EXPECT_LE(in_flight, 3);
        if (e.out)
            sent_times.push_back(e.time.in_ps());
        else
            ack_times.push_back(e.time.in_ps() + kAckBytes * kBytePs);  // the tail counts
    }
    ASSERT_EQ(sent_times.size(), 12U);
    ASSERT_EQ(ack_times.size(), 12U);
    for (size_t i = 3; i < sent_times.size(); ++i) EXPECT_EQ(sent_times[i], ack_times[i - 3]) << i;
    EXPECT_EQ(ack_times[0], kFirstBytes * kBytePs + 2 * kCablePs + kAckBytes * kBytePs);
}

TEST(FlowTiming, AWindowBelowOnePacketStillLetsOneOut) {
    Scripted rig({.rate = BitRate::gbps(100), .window_bytes = 1}, 3);
    EXPECT_EQ(rig.log->data_times().size(), 3U);
    EXPECT_GT(rig.log->data_times()[1], 2 * kCablePs);
}

TEST(FlowTiming, PacketsLeaveExactlyAtTheRateOfCongestionControl) {
    Scripted rig({.rate = BitRate::gbps(10)}, 5);
    const int64_t first = kFirstBytes * kBytePs * 10, middle = kMiddleBytes * kBytePs * 10;
    EXPECT_THAT(rig.log->data_times(), ElementsAre(0, first, first + middle, first + 2 * middle, first + 3 * middle));
}

TEST(FlowTiming, AWaitThatReachesBeyondTheNextUpdateEndsEarlierWhenTheRateRises) {
    // At 1 Gb/s the second packet would wait 8.784 us. At 2 us the rate becomes 10 Gb/s, for which its time (0.878 us)
    // is past; the third follows at the new rate.
    const auto faster = [](SimTime, cc::Control& c) {
        c.rate = BitRate::gbps(10);
        c.next_update = SimTime::max();
    };
    Scripted rig({.rate = BitRate::gbps(1), .next_update = SimTime::us(2)}, 3, faster);
    const auto times = rig.log->data_times();
    ASSERT_EQ(times.size(), 3U);
    EXPECT_EQ(times[1], 2'000'000);
    EXPECT_EQ(times[2], 2'000'000 + kMiddleBytes * kBytePs * 10);
}

TEST(FlowTiming, TheNewWaitCountsFromTheLastPacket) {
    // 1 Gb/s until 0.5 us, then 10 Gb/s: the second packet goes 0.8784 us after the first.
    const auto faster = [](SimTime, cc::Control& c) {
        c.rate = BitRate::gbps(10);
        c.next_update = SimTime::max();
    };
    Scripted rig({.rate = BitRate::gbps(1), .next_update = SimTime::ns(500)}, 2, faster);
    EXPECT_THAT(rig.log->data_times(), ElementsAre(0, kFirstBytes * kBytePs * 10));
}

TEST(FlowTiming, EveryUpdateDuringAWaitIsSeen) {
    // The rate doubles every microsecond from 1 Gb/s: 8.784 us of waiting become 4.392 and 2.196.
    std::vector<int64_t> seen;
    const auto doubling = [&](SimTime now, cc::Control& c) {
        seen.push_back(now.in_ps());
        c.rate = BitRate::bps(c.rate.in_bps() * 2);
        c.next_update = now + SimTime::us(1);
    };
    Scripted rig({.rate = BitRate::gbps(1), .next_update = SimTime::us(1)}, 2, doubling);
    EXPECT_THAT(rig.log->data_times(), ElementsAre(0, 2'196'000));
    ASSERT_GE(seen.size(), 2U);
    EXPECT_EQ(seen[0], 1'000'000);
    EXPECT_EQ(seen[1], 2'000'000);
}

TEST(FlowTiming, AnUpdateThatDoesNotMoveOnDoesNotHangTheRun) {
    Scripted rig({.rate = BitRate::gbps(1), .next_update = SimTime::us(1)}, 4, [](SimTime, cc::Control&) {});
    EXPECT_EQ(rig.log->data_times().size(), 4U);
}

TEST(FlowTiming, AFlowAloneTakesItsIdealTime) {
    for (const bool tree : {false, true}) {
        for (const int64_t bytes : {0, 1, 999, 1000, 1001, 123'456, 3'000'000}) {
            FlowRig rig = tree ? FlowRig::fat_tree(4) : FlowRig::back_to_back();
            rig.add(0, tree ? 15 : 1, bytes);
            FlowFabric& fabric = rig.build();
            fabric.run_until_done();
            ASSERT_EQ(rig.result(0).status, FlowStatus::Success);
            const double ideal = fabric.ideal_time(0, tree ? 15 : 1, bytes).in_us();
            // The RETH's 16 bytes and the padding of shortest packets are not part of the ideal.
            EXPECT_NEAR(rig.result(0).acknowledged.in_us(), ideal, 0.0025) << bytes << (tree ? " in a tree" : "");
        }
    }
}

TEST(FlowTiming, AFlowOfNoBytesIsOnePacket) {
    FlowRig rig = FlowRig::back_to_back();
    rig.add(0, 1, 0);
    rig.add(0, 1, 1);
    FlowFabric& fabric = rig.build();
    PortLog& log = rig.tap(0);
    fabric.run_until_done();
    EXPECT_THAT(log.data_sent(), ElementsAre(0, 0));
    EXPECT_EQ(log.entries[0].packet.payload_bytes, 0U);
    EXPECT_EQ(log.entries[1].packet.payload_bytes, 1U);
    EXPECT_EQ(fabric.nic(1).counters().data_received, 1U);
    EXPECT_EQ(fabric.ended(), 2U);
}

TEST(FlowTiming, RequestersOfOnePriorityTakeTurnsPacketByPacket) {
    FlowRig rig = FlowRig::back_to_back();
    for (int i = 0; i < 3; ++i) rig.add(0, 1, 3000);
    FlowFabric& fabric = rig.build();
    PortLog& log = rig.tap(0);
    fabric.run_until_done();
    EXPECT_THAT(log.data_sent(), ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
}

TEST(FlowTiming, TheDestinationGoesOnWhenTheLastByteIsIn_TheSourceWhenItIsAcknowledged) {
    FlowRig rig = FlowRig::back_to_back();
    const auto a = rig.add(0, 1, 10'000);
    const auto back = rig.add(1, 0, 10'000);   // h1 answers
    const auto again = rig.add(0, 1, 10'000);  // h0 goes on
    rig.plan.dependencies = {{a, back}, {a, again}};
    FlowFabric& fabric = rig.build();
    fabric.run_until_done();
    const int64_t tail = (kFirstBytes + 9 * kMiddleBytes) * kBytePs + kCablePs;
    EXPECT_EQ(rig.result(a).received.in_ps(), tail);
    EXPECT_EQ(rig.result(back).started, rig.result(a).received);
    EXPECT_EQ(rig.result(again).started, rig.result(a).acknowledged);
    EXPECT_GT(rig.result(a).acknowledged, rig.result(a).received);
    EXPECT_EQ(fabric.ended(), 3U);
}

TEST(FlowTiming, AFlowThatWaitsForTwoOthersAndForItsTimeStartsOnce) {
    const auto run = [](SimTime start) {
        FlowRig rig = FlowRig::back_to_back();
        const auto a = rig.add(1, 0, 1000);
        const auto b = rig.add(1, 0, 20'000);
        const auto after = rig.add(0, 1, 5000, start);
        rig.plan.dependencies = {{a, after}, {b, after}};
        FlowFabric& fabric = rig.build();
        PortLog& log = rig.tap(0);
        EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
        EXPECT_EQ(fabric.ended(), 3U);
        EXPECT_THAT(log.data_sent(), ElementsAre(0, 1, 2, 3, 4));
        EXPECT_EQ(rig.result(after).started, std::max(start, rig.result(b).received));
        return rig.result(b).received;
    };
    const SimTime released = run({});
    run(released);  // both at the same picosecond
    run(released - SimTime::ps(1));
    run(released + SimTime::ps(1));
    run(SimTime::us(100));
}

TEST(FlowTiming, WhatWaitsForAFailedFlowNeverBeginsAndIsNamed) {
    FlowRig rig = FlowRig::back_to_back();
    rig.config.nics.retransmission_timeout = SimTime::us(10);
    rig.config.faults.push_back({0, true, {.kind = link::FaultKind::Down}});
    const auto a = rig.add(0, 1, 1000);
    const auto after = rig.add(0, 1, 1000);
    rig.plan.dependencies = {{a, after}};
    const auto end = rig.build().run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle);
    EXPECT_THAT(end.dump, testing::HasSubstr("1 flows never began"));
    EXPECT_EQ(rig.result(after).status, FlowStatus::Pending);
}

TEST(FlowTiming, ARunCanBeEndedByTime) {
    FlowRig rig = FlowRig::back_to_back();
    rig.add(0, 1, 10'000'000);
    FlowFabric& fabric = rig.build();
    EXPECT_EQ(fabric.run_until_done({.time = SimTime::us(100)}).end, FlowRunEnd::TimeLimit);
    EXPECT_EQ(fabric.engine().frontier(), SimTime::us(100));
    EXPECT_NEAR(static_cast<double>(fabric.nic(1).counters().data_received), 99e-6 * 12.5e9 / 1.082, 2000);
    EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(rig.result(0).status, FlowStatus::Success);
}

}  // namespace
}  // namespace simverbs::test
