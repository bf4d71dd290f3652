// DCQCN's reaction point: sequences of CNPs, timers and bytes.
#include "models/cc/dcqcn/dcqcn.hpp"

#include <gtest/gtest.h>

#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

using dcqcn::DcqcnState;
using sim::SimTime;

constexpr int64_t kNone = Control::kNever;

constexpr int64_t nearest(double bps) {
    return static_cast<int64_t>(bps + 0.5);
}

TEST(DcqcnPaper, AQpStartsAtTheLineRateWithNothingToUpdate) {
    const QpUnderTest qp("dcqcn", plain_path(40, 4));
    EXPECT_EQ(qp.control().rate, sim::BitRate::gbps(40));
    EXPECT_EQ(qp.control().window_bytes, Control::kNoWindow);
    EXPECT_EQ(qp.control().next_update, SimTime::max());
    EXPECT_EQ(qp.control().bytes_to_update, kNone);
    EXPECT_TRUE(qp.algorithm().needs().cnp);
    EXPECT_EQ(qp.algorithm().needs().min_time_between_cnps, SimTime::us(50));
    EXPECT_TRUE(qp.algorithm().needs().late_cnps);
}

TEST(DcqcnPaper, TheFirstCnpHalvesTheRateAtOnceAndFastRecoveryBringsItBack) {
    QpUnderTest qp("dcqcn", plain_path(40, 4));
    qp.cnp(SimTime::us(100));
    EXPECT_EQ(qp.mbps(), 20'000);
    EXPECT_EQ(qp.control().next_update, SimTime::us(155));
    EXPECT_EQ(qp.control().bytes_to_update, 10'000'000);
    const int64_t mbps[] = {30'000, 35'000, 37'500, 38'750, 39'375};
    for (int i = 0; i < 5; ++i) {
        qp.time(SimTime::us(155 + 55 * i));
        EXPECT_EQ(qp.mbps(), mbps[i]);
    }
    // The target is the line rate already: additive increase only closes the gap.
    qp.time(SimTime::us(155 + 55 * 5));
    EXPECT_EQ(qp.mbps(), 39'687);
}

TEST(DcqcnPaper, AlphaIsUpdatedByTheCnpAfterTheCutAndDecaysFromThereOn) {
    QpUnderTest qp("dcqcn", plain_path(40, 4));
    qp.cnp(SimTime::us(100));
    EXPECT_EQ(qp.state<DcqcnState>().alpha, 1.0);
    // 4 updates in 220 us: alpha is (255/256)^4 at the cut, and 255/256 of that + 1/256 afterwards.
    qp.cnp(SimTime::us(320));
    const double before = 4228250625.0 / 4294967296.0;
    EXPECT_EQ(qp.state<DcqcnState>().alpha, before * 255 / 256 + 1.0 / 256);
    // 4 timer expiries first: 20, 30, 35, 37.5, 38.75 Gb/s; the expiry at 320 us counts.
    EXPECT_EQ(qp.control().rate.in_bps(), nearest(38.75e9 * (1 - before / 2)));
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, 38'750'000'000);
}

TEST(DcqcnPaper, ASecondCnpWithin50UsActsAtTheirEnd) {
    QpUnderTest qp("dcqcn", plain_path(40, 4));
    qp.cnp(SimTime::us(100));
    qp.cnp(SimTime::us(120));
    qp.cnp(SimTime::us(130));
    EXPECT_EQ(qp.mbps(), 20'000);
    EXPECT_EQ(qp.control().next_update, SimTime::us(150));
    qp.time(SimTime::us(150));
    EXPECT_EQ(qp.mbps(), 10'000);
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, 20'000'000'000);
    EXPECT_EQ(qp.control().next_update, SimTime::us(205));
}

TEST(DcqcnPaper, TheByteCounterIsAnIncreaseOfItsOwn) {
    QpUnderTest qp("dcqcn", plain_path(40, 4), {{"rpg_byte_reset", 10'000}});
    qp.cnp(SimTime::us(100));
    for (int i = 0; i < 9; ++i) qp.send(1000, SimTime::us(101));
    EXPECT_EQ(qp.mbps(), 20'000);
    qp.send(1000, SimTime::us(102));
    EXPECT_EQ(qp.mbps(), 30'000);
    EXPECT_EQ(qp.control().bytes_to_update, 10'000);
    EXPECT_EQ(qp.state<DcqcnState>().rates.byte_stage, 1);
    // Timer before bytes at the same instant; 1.5 periods of bytes leave half a period.
    qp.send(15'000, SimTime::us(155));
    EXPECT_EQ(qp.mbps(), 37'500);
    EXPECT_EQ(qp.control().bytes_to_update, 5'000);
}

TEST(DcqcnPaper, BothStagesAboveFGiveGrowingHyperIncrease) {
    QpUnderTest qp("dcqcn", plain_path(400, 4), {{"rpg_byte_reset", 1'000}, {"rpg_threshold", 1}});
    for (int i = 0; i < 8; ++i) qp.cnp(SimTime::us(100 + 50 * i));
    const SimTime last = SimTime::us(450);
    const int64_t target = qp.state<DcqcnState>().rates.target;
    // Bytes: stages 0 (recovery), 1 (additive), 2 with timer stage 0 (still additive).
    for (int i = 0; i < 3; ++i) qp.send(1000, last);
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, target + 2 * 40'000'000);
    // Timer: at stages 0 and 1 additive (byte stage 3), at 2 hyper with i = 1, at 3 with i = min(3,3) - 1 = 2.
    qp.time(last + SimTime::us(55) * 4);
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, target + 4 * 40'000'000 + 200'000'000 + 400'000'000);
}

TEST(DcqcnPaper, ASettledQpNeedsNoUpdatesAndForgetsNothingWhenACnpComesMuchLater) {
    QpUnderTest qp("dcqcn", plain_path(40, 4));
    qp.cnp(SimTime::us(100));
    qp.time(SimTime::s(1));
    EXPECT_EQ(qp.control().rate, sim::BitRate::gbps(40));
    EXPECT_EQ(qp.control().next_update, SimTime::max());
    EXPECT_EQ(qp.control().bytes_to_update, kNone);
    qp.cnp(SimTime::s(3600));
    // Alpha has decayed to nothing.
    EXPECT_EQ(qp.control().rate, sim::BitRate::gbps(40));
    qp.cnp(SimTime::s(3600) + SimTime::us(50));
    // The last CNP has left alpha = g.
    EXPECT_EQ(qp.control().rate.in_bps(), nearest(40e9 * (1 - 1.0 / 512)));
}

TEST(DcqcnPaper, LateUpdatesHaveTheResultOfTimelyOnes) {
    const Parameters given = {{"rpg_byte_reset", 50'000}};
    for (const std::string_view preset : {"paper", "hpcc-ns3", "firmware"}) {
        QpUnderTest lazy("dcqcn", plain_path(40, 4), given, preset);
        QpUnderTest eager("dcqcn", plain_path(40, 4), given, preset);
        uint64_t draw = 1;
        SimTime now = SimTime::us(10);
        for (int i = 0; i < 20'000; ++i) {
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            now += SimTime::ns(static_cast<int64_t>((draw >> 40) % (i % 1000 == 0 ? 4'000'000 : 1'000)));
            while (eager.control().next_update <= now) eager.time(eager.control().next_update);
            if ((draw >> 33) % 50 == 0) {
                lazy.cnp(now);
                eager.cnp(now);
            } else {
                lazy.send(1000, now);
                eager.send(1000, now);
            }
            ASSERT_EQ(lazy.control().rate, eager.control().rate) << preset << ' ' << i;
            ASSERT_EQ(lazy.control().next_update, eager.control().next_update) << preset << ' ' << i;
            ASSERT_EQ(lazy.control().bytes_to_update, eager.control().bytes_to_update) << preset << ' ' << i;
        }
        EXPECT_LT(lazy.mbps(), 40'000) << preset;
    }
}

TEST(DcqcnNic, TheFirstCnpActsAtTheEndOfItsMonitorPeriodAfterFourAlphaUpdates) {
    QpUnderTest qp("dcqcn", plain_path(100, 8), {}, "hpcc-ns3");
    EXPECT_TRUE(qp.algorithm().needs().ecn_echo);
    EXPECT_FALSE(qp.algorithm().needs().cnp);
    qp.ack({.now = SimTime::us(10), .ecn_echo = true});
    EXPECT_EQ(qp.mbps(), 100'000);
    EXPECT_EQ(qp.control().next_update, SimTime::us(14));
    qp.time(SimTime::us(14));
    const double alpha = 4228250625.0 / 4294967296.0;
    EXPECT_EQ(qp.control().rate.in_bps(), nearest(100e9 * (1 - alpha / 2)));
    EXPECT_EQ(qp.control().next_update, SimTime::us(314));
    EXPECT_EQ(qp.control().bytes_to_update, kNone);
}

TEST(DcqcnNic, ManyCnpsInOnePeriodAreOneDecreaseAndAlphaCountsPeriodsWithCnps) {
    QpUnderTest qp("dcqcn", plain_path(100, 8), {}, "firmware");
    qp.cnp(SimTime::us(10));
    // Alpha updates at 11 (no CNP since the first), 12 (with CNPs), 13 (without), 14 us (without).
    qp.cnp(SimTime::us(11));
    qp.cnp(SimTime::ns(11'300));
    qp.cnp(SimTime::ns(11'600));
    qp.time(SimTime::us(14));
    const double kept = 1019.0 / 1024;
    double alpha = 1023.0 / 1024 * kept;
    alpha = kept * alpha + (1 - kept);
    alpha *= kept * kept;
    EXPECT_EQ(qp.state<DcqcnState>().alpha, alpha);
    EXPECT_EQ(qp.control().rate.in_bps(), nearest(100e9 * (1 - alpha / 2)));
}

TEST(DcqcnNic, DecreasesInARowKeepTheTargetOfTheFirst) {
    QpUnderTest qp("dcqcn", plain_path(100, 8), {{"dce_tcp_g", 1023}}, "hpcc-ns3");
    for (int i = 0; i < 3; ++i) qp.cnp(SimTime::us(10 + 4 * i));
    qp.time(SimTime::us(22));
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, 100'000'000'000);
    EXPECT_LT(qp.mbps(), 13'000);
    // After an increase by the timer the next one moves it.
    qp.time(SimTime::us(322));
    const int64_t recovered = qp.state<DcqcnState>().rates.current;
    EXPECT_GT(recovered, 50'000'000'000);
    qp.cnp(SimTime::us(323));
    qp.time(SimTime::us(326));
    EXPECT_EQ(qp.state<DcqcnState>().rates.target, recovered);
}

TEST(DcqcnNic, OneRoundOfRecoveryOneAdditiveThenHyperIncreaseOfConstantSteps) {
    // 100 Gb/s: steps of 20 and 200 Mb/s.
    QpUnderTest qp("dcqcn", plain_path(100, 8), {{"clamp_tgt_rate", 1}}, "hpcc-ns3");
    for (int i = 0; i < 4; ++i) qp.cnp(SimTime::us(10 + 4 * i));
    qp.time(SimTime::us(26));
    const int64_t target = qp.state<DcqcnState>().rates.target;
    EXPECT_LT(target, 15'000'000'000);
    const int64_t steps_mbps[] = {0, 20, 200, 200, 200};
    int64_t expected = target;
    for (int i = 0; i < 5; ++i) {
        qp.time(SimTime::us(326 + 300 * i));
        expected += steps_mbps[i] * 1'000'000;
        EXPECT_EQ(qp.state<DcqcnState>().rates.target, expected) << i;
    }
}

TEST(DcqcnNic, TheRateNeverFallsBelowTheLeastAndTheFirstCnpMaySetIt) {
    QpUnderTest qp("dcqcn", plain_path(100, 8), {{"rate_to_set_on_first_cnp", 10e9}}, "hpcc-ns3");
    qp.cnp(SimTime::us(10));
    EXPECT_EQ(qp.mbps(), 10'000);
    for (int i = 0; i < 100; ++i) qp.cnp(SimTime::us(10 + 4 * i));
    EXPECT_EQ(qp.mbps(), 1'000);
}

TEST(DcqcnNic, FirmwareReleasesTheLimiterAtTheLineRateSoThatTheNextCnpIsAFirstOne) {
    QpUnderTest qp("dcqcn", plain_path(100, 8), {}, "firmware");
    const double kept = 1019.0 / 1024;
    const double alpha = 1023.0 / 1024 * (kept * kept * kept * kept);
    for (const SimTime start : {SimTime::us(10), SimTime::s(100)}) {
        qp.cnp(start);
        EXPECT_EQ(qp.mbps(), 100'000);
        qp.time(start + SimTime::us(4));
        EXPECT_NEAR(static_cast<double>(qp.control().rate.in_bps()), 100e9 * (1 - alpha / 2), 1);
    }
}

TEST(DcqcnWindow, TheWindowIsFixedOrFollowsTheRate) {
    QpUnderTest fixed("dcqcn+window", plain_path(100, 8));
    EXPECT_EQ(fixed.control().window_bytes, 100'000);
    fixed.cnp(SimTime::us(1));
    EXPECT_EQ(fixed.mbps(), 50'000);
    EXPECT_EQ(fixed.control().window_bytes, 100'000);
    QpUnderTest variable("dcqcn+window", plain_path(100, 8), {{"variable_window", 1}});
    EXPECT_EQ(variable.control().window_bytes, 100'000);
    variable.cnp(SimTime::us(1));
    EXPECT_EQ(variable.control().window_bytes, 50'000);
}

}  // namespace

}  // namespace simverbs::cc::test
