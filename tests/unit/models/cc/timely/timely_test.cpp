// TIMELY against values computed by hand.
#include <gtest/gtest.h>

#include "models/cc/timely/timely_arithmetic.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

using sim::SimTime;

constexpr timely::TimelyParams kDefaults;

TEST(TimelyArithmetic, TheGradientFollowsTheNewestDifferenceBySevenEighths) {
    static_assert(timely::averaged_difference(8e6, SimTime::us(0), 0.875) == 1e6);
    static_assert(timely::averaged_difference(0, SimTime::us(8), 0.875) == 7e6);
    static_assert(timely::averaged_difference(0, SimTime::us(-8), 0.875) == -7e6);
}

TEST(TimelyArithmetic, BelowTLowItIncreasesAboveTHighItDecreasesBetweenTheGradientDecides) {
    using timely::decide_rate;
    EXPECT_TRUE(decide_rate(SimTime::us(49), 1e9, kDefaults).increase);
    // 1 - 0.8 (1 - 500/1000)
    EXPECT_EQ(decide_rate(SimTime::us(1000), -1e9, kDefaults), (timely::RateDecision{false, 1 - 0.8 * 0.5}));
    EXPECT_TRUE(decide_rate(SimTime::us(100), 0, kDefaults).increase);
    EXPECT_TRUE(decide_rate(SimTime::us(100), -1, kDefaults).increase);
    // 5 us of 20: gradient 0.25.
    EXPECT_EQ(decide_rate(SimTime::us(100), 5e6, kDefaults), (timely::RateDecision{false, 1 - 0.8 * 0.25}));
    EXPECT_EQ(decide_rate(SimTime::us(100), 1e9, kDefaults), (timely::RateDecision{false, 0.0}));
}

TEST(Timely, FiveStepsOfDeltaThenHyperactiveIncreaseOnceARoundTrip) {
    QpUnderTest qp("timely", plain_path(10, 20));
    EXPECT_TRUE(qp.algorithm().needs().rtt);
    uint32_t psn = 0;
    const auto ack = [&](int64_t rtt_us) {
        qp.ack({.rtt = SimTime::us(rtt_us),
                .acked_bytes = 1000,
                .ack_psn = wire::Psn(psn),
                .next_psn = wire::Psn(psn + 1)});
        ++psn;
    };
    ack(100);
    EXPECT_EQ(qp.mbps(), 10'000);
    // Difference 10 us: average 8.75, gradient 0.4375, factor 0.65.
    ack(110);
    EXPECT_EQ(qp.mbps(), 6'500);
    // Five steps of 10 Mb/s, then 50 Mb/s.
    for (int i = 1; i <= 5; ++i) {
        ack(30);
        EXPECT_EQ(qp.mbps(), 6'500 + 10 * i);
    }
    ack(30);
    EXPECT_EQ(qp.mbps(), 6'600);
}

TEST(Timely, AcksOfTheSameRoundTripAndWithoutRttChangeNothing) {
    QpUnderTest qp("timely", plain_path(10, 20));
    const auto ack = [&](int64_t rtt_us, uint32_t psn, uint32_t next) {
        qp.ack({.rtt = SimTime::us(rtt_us), .ack_psn = wire::Psn(psn), .next_psn = wire::Psn(next)});
    };
    ack(100, 0, 100);
    ack(1000, 50, 120);
    ack(0, 100, 130);
    EXPECT_EQ(qp.mbps(), 10'000);
    ack(1000, 100, 140);
    // Above t_high: 1 - 0.8 × 0.5.
    EXPECT_EQ(qp.mbps(), 6'000);
}

TEST(TimelyWindow, BoundsTheBytesInFlight) {
    EXPECT_EQ(QpUnderTest("timely", plain_path(10, 20)).control().window_bytes, Control::kNoWindow);
    EXPECT_EQ(QpUnderTest("timely+window", plain_path(10, 20)).control().window_bytes, 25'000);
}

}  // namespace

}  // namespace simverbs::cc::test
