// Swift against values computed by hand.
#include <gtest/gtest.h>

#include "models/cc/swift/swift_arithmetic.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

using sim::SimTime;

// fs_min 1/16 and fs_max 16: 1/sqrt is 4 and 1/4.
constexpr swift::SwiftParams kEven = {.fs_range = SimTime::us(75), .fs_min_cwnd = 0.0625, .fs_max_cwnd = 16};

TEST(SwiftArithmetic, FlowScalingFallsFromItsRangeToNothing) {
    // a = 75 us / 3.75 = 20 us; at one packet 20 × (1 - 1/4) = 15 us.
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(0.0625, kEven), 75e6);
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(0.01, kEven), 75e6);
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(1, kEven), 15e6);
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(4, kEven), 5e6);
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(16, kEven), 0);
    EXPECT_DOUBLE_EQ(swift::flow_scaling_ps(1000, kEven), 0);
}

TEST(SwiftArithmetic, TheTargetGrowsWithHops) {
    swift::SwiftParams p = kEven;
    p.hop_target = SimTime::us(3);
    EXPECT_EQ(swift::target_delay(16, 4, p), SimTime::us(20 + 12));
    EXPECT_EQ(swift::target_delay(1, 0, p), SimTime::us(20 + 15));
}

TEST(SwiftArithmetic, OnePacketARoundTripUpAndTheExcessTimesBetaDown) {
    static_assert(swift::increased_window(10, 10, 1) == 11);
    static_assert(swift::increased_window(0.5, 1, 0.25) == 0.75);
    // Delay 40 above 30: a quarter, times 0.8.
    static_assert(swift::decreased_window(10, SimTime::us(40), SimTime::us(30), kEven) == 10 * (1 - 0.8 * 0.25));
    static_assert(swift::decreased_window(10, SimTime::us(400), SimTime::us(30), kEven) == 5);
}

TEST(SwiftArithmetic, AWindowBelowOnePacketIsPaced) {
    const PathFacts path = plain_path(100, 8);
    EXPECT_EQ(swift::pacing_rate(1, SimTime::us(8), path), sim::BitRate::gbps(100));
    // Half of 1000 bytes in 8 us.
    EXPECT_EQ(swift::pacing_rate(0.5, SimTime::us(8), path), sim::BitRate::mbps(500));
}

class SwiftQp : public testing::Test {
  protected:
    SwiftQp() : qp_("swift", plain_path(100, 8), {{"fs_range", 0}, {"hop_target", 0}, {"base_target", 20e6}}) {}
    void ack(int64_t now_us, int64_t rtt_us, int64_t packets) {
        qp_.ack({.now = SimTime::us(now_us), .rtt = SimTime::us(rtt_us), .acked_bytes = 1000 * packets});
    }
    QpUnderTest qp_;
};

TEST_F(SwiftQp, StartsWithTheBandwidthDelayProductAndGrowsBelowTheTarget) {
    EXPECT_EQ(qp_.control().window_bytes, 100'000);
    ack(10, 19, 100);
    EXPECT_EQ(qp_.control().window_bytes, 101'000);
    // No more than the line rate carries in base RTT and base target: 350 packets.
    for (int i = 0; i < 1000; ++i) ack(10, 10, 350);
    EXPECT_EQ(qp_.control().window_bytes, 350'000);
}

TEST_F(SwiftQp, DecreasesOnceARoundTrip) {
    // (25 - 20) / 25 × 0.8 = 0.16
    ack(100, 25, 1);
    EXPECT_EQ(qp_.control().window_bytes, 84'000);
    ack(124, 25, 1);
    EXPECT_EQ(qp_.control().window_bytes, 84'000);
    ack(125, 25, 1);
    EXPECT_EQ(qp_.control().window_bytes, 70'560);
}

TEST_F(SwiftQp, TimeoutsHalveTheWindowAndFiveInARowResetIt) {
    ack(100, 10, 0);
    qp_.timeout(SimTime::us(1000));
    EXPECT_EQ(qp_.control().window_bytes, 50'000);
    for (int i = 1; i < 5; ++i) qp_.timeout(SimTime::us(1000 + 100 * i));
    EXPECT_EQ(qp_.control().window_bytes, 1);
    EXPECT_EQ(qp_.mbps(), 0);
    EXPECT_GT(qp_.control().rate.in_bps(), 0);
}

}  // namespace

}  // namespace simverbs::cc::test
