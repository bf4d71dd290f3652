// DCQCN's pure functions against values computed by hand.
#include <gtest/gtest.h>

#include "models/cc/dcqcn/dcqcn_alpha.hpp"
#include "models/cc/dcqcn/dcqcn_rate_decrease.hpp"
#include "models/cc/dcqcn/dcqcn_rate_increase.hpp"

namespace simverbs::cc::dcqcn {

namespace {

constexpr int64_t kGbps = 1'000'000'000;
constexpr int64_t kMbps = 1'000'000;

TEST(DcqcnAlpha, PapersGainOf1Over256Is1020Of1024) {
    static_assert(kept_share(1020) == 255.0 / 256.0);
}

TEST(DcqcnAlpha, ACnpAddsGAndItsAbsenceTakesG) {
    constexpr double kept = 255.0 / 256.0;
    static_assert(alpha_after_cnp(1.0, kept) == 1.0);
    static_assert(alpha_after_cnp(0.0, kept) == 1.0 / 256.0);
    static_assert(alpha_after_cnp(0.5, kept) == 0.5 * 255.0 / 256.0 + 1.0 / 256.0);
    static_assert(alpha_without_cnp(0.5, kept, 1) == 0.5 * 255.0 / 256.0);
    static_assert(alpha_without_cnp(0.5, kept, 0) == 0.5);
}

TEST(DcqcnAlpha, FourUpdatesWithoutCnpTakeTheFourthPower) {
    constexpr double kept = 255.0 / 256.0;
    // (255/256)^4 = 4228250625 / 4294967296, exact in a double.
    static_assert(alpha_without_cnp(1.0, kept, 4) == 4228250625.0 / 4294967296.0);
}

TEST(DcqcnAlpha, AfterASecondOfIdlenessNothingIsLeft) {
    constexpr double kept = 255.0 / 256.0;
    EXPECT_LT(alpha_without_cnp(1.0, kept, 1'000'000), 1e-300);
    EXPECT_GE(alpha_without_cnp(1.0, kept, 1'000'000'000'000), 0.0);
}

TEST(DcqcnRateDecrease, Gd11TakesHalfOfAlpha) {
    static_assert(share_of_alpha(11) == 0.5);
    static_assert(share_of_alpha(10) == 1.0);
    static_assert(share_of_alpha(12) == 0.25);
    static_assert(share_of_alpha(8) == 4.0);
    constexpr DcqcnParams p;
    static_assert(decreased_rate(sim::BitRate::gbps(40), 1.0, p) == sim::BitRate::gbps(20));
    static_assert(decreased_rate(sim::BitRate::gbps(40), 0.25, p) == sim::BitRate::gbps(35));
    static_assert(decreased_rate(sim::BitRate::gbps(40), 0.0, p) == sim::BitRate::gbps(40));
}

TEST(DcqcnRateDecrease, MinDecFacAndMinRateBoundIt) {
    constexpr DcqcnParams most_of_it = {.rpg_min_dec_fac = 0.75};
    static_assert(decreased_rate(sim::BitRate::gbps(40), 1.0, most_of_it) == sim::BitRate::gbps(30));
    constexpr DcqcnParams all_of_alpha = {.rpg_min_dec_fac = 0.5, .rpg_gd = 10};
    static_assert(decreased_rate(sim::BitRate::gbps(40), 1.0, all_of_alpha) == sim::BitRate::gbps(20));
    constexpr DcqcnParams floor = {.rpg_min_rate = sim::BitRate::gbps(1)};
    static_assert(decreased_rate(sim::BitRate::mbps(1500), 1.0, floor) == sim::BitRate::gbps(1));
    // A rate already below the least one stays.
    static_assert(decreased_rate(sim::BitRate::mbps(500), 1.0, floor) == sim::BitRate::mbps(500));
}

TEST(DcqcnRateDecrease, TargetFollowsEveryDecreaseOrOnlyThoseAfterAnIncrease) {
    constexpr DcqcnParams always = {.clamp_tgt_rate = true};
    static_assert(clamps_target(0, 0, always));
    constexpr DcqcnParams firmware = {.clamp_tgt_rate = false, .clamp_tgt_rate_after_time_inc = true};
    static_assert(!clamps_target(0, 0, firmware));
    static_assert(clamps_target(1, 0, firmware));
    static_assert(clamps_target(0, 1, firmware));
    constexpr DcqcnParams bytes_only = {.clamp_tgt_rate = false, .clamp_tgt_rate_after_time_inc = false};
    static_assert(!clamps_target(3, 0, bytes_only));
    static_assert(clamps_target(0, 1, bytes_only));
}

TEST(DcqcnRateDecrease, MonitorPeriodsFollowEachOther) {
    using sim::SimTime;
    static_assert(next_period_end(SimTime::us(10), SimTime::us(10), SimTime::us(4)) == SimTime::us(14));
    static_assert(next_period_end(SimTime::us(10), SimTime::us(13), SimTime::us(4)) == SimTime::us(14));
    static_assert(next_period_end(SimTime::us(10), SimTime::us(14), SimTime::us(4)) == SimTime::us(18));
}

constexpr IncreaseSteps kPaper = {.ai = 40 * kMbps,
                                  .hai = 200 * kMbps,
                                  .line_rate = 40 * kGbps,
                                  .threshold = 5,
                                  .byte_counter = true,
                                  .hai_grows = true};
constexpr IncreaseSteps kTimerOnly = {.ai = 20 * kMbps, .hai = 200 * kMbps, .line_rate = 100 * kGbps, .threshold = 1};

TEST(DcqcnRateIncrease, PhaseFollowsFromBothStages) {
    using enum IncreasePhase;
    static_assert(decide_phase(0, 0, kPaper) == FastRecovery);
    static_assert(decide_phase(4, 4, kPaper) == FastRecovery);
    static_assert(decide_phase(5, 0, kPaper) == AdditiveIncrease);
    static_assert(decide_phase(0, 5, kPaper) == AdditiveIncrease);
    static_assert(decide_phase(5, 5, kPaper) == AdditiveIncrease);
    static_assert(decide_phase(100, 5, kPaper) == AdditiveIncrease);
    static_assert(decide_phase(6, 6, kPaper) == HyperIncrease);
    // Without a byte counter: one round of fast recovery, one of additive increase, then hyper increase.
    static_assert(decide_phase(0, 0, kTimerOnly) == FastRecovery);
    static_assert(decide_phase(1, 0, kTimerOnly) == AdditiveIncrease);
    static_assert(decide_phase(2, 0, kTimerOnly) == HyperIncrease);
}

TEST(DcqcnRateIncrease, HyperIncreaseGrowsWithTheSmallerStageOrNot) {
    static_assert(target_step({.time_stage = 6, .byte_stage = 9}, kPaper) == 200 * kMbps);
    static_assert(target_step({.time_stage = 8, .byte_stage = 7}, kPaper) == 400 * kMbps);
    static_assert(target_step({.time_stage = 9}, kTimerOnly) == 200 * kMbps);
}

TEST(DcqcnRateIncrease, FiveRoundsOfFastRecoveryHalveTheGapThenTheTargetClimbs) {
    Recovery r = {.current = 20 * kGbps, .target = 36 * kGbps};
    const int64_t gbps[] = {28, 32, 34, 35};
    for (int i = 0; i < 4; ++i) {
        r = after_timer(r, 1, kPaper);
        EXPECT_EQ(r.current, gbps[i] * kGbps);
        EXPECT_EQ(r.target, 36 * kGbps);
    }
    r = after_timer(r, 1, kPaper);
    EXPECT_EQ(r, (Recovery{35'500 * kMbps, 36 * kGbps, 5, 0}));
    r = after_timer(r, 1, kPaper);
    EXPECT_EQ(r, (Recovery{35'770 * kMbps, 36'040 * kMbps, 6, 0}));
    r = after_timer(r, 1, kPaper);
    EXPECT_EQ(r, (Recovery{35'925 * kMbps, 36'080 * kMbps, 7, 0}));
    r = after_byte_counter(r, kPaper);
    EXPECT_EQ(r.target, 36'120 * kMbps);
    EXPECT_EQ(r.byte_stage, 1);
}

TEST(DcqcnRateIncrease, TheLineRateIsReachedExactlyAndKept) {
    Recovery r = {.current = 40 * kGbps - 3, .target = 40 * kGbps - 1, .time_stage = 7};
    r = after_timer(r, 1, kPaper);
    EXPECT_EQ(r.target, 40 * kGbps);
    r = after_timer(r, 2, kPaper);
    EXPECT_EQ(r.current, 40 * kGbps);
    EXPECT_TRUE(is_settled(r, kPaper));
    r = after_timer(r, 1'000'000'000'000, kPaper);
    EXPECT_EQ(r.current, 40 * kGbps);
    EXPECT_EQ(r.time_stage, 1'000'000'000'010);
}

TEST(DcqcnRateIncrease, ManyExpiriesAtOnceEqualOneByOne) {
    IncreaseSteps constant_hai = kPaper;
    constant_hai.hai_grows = false;
    IncreaseSteps growing_timer = kTimerOnly;
    growing_timer.hai_grows = true;
    IncreaseSteps no_hai = constant_hai;
    no_hai.hai = 0;
    IncreaseSteps no_steps = kPaper;
    no_steps.ai = no_steps.hai = 0;
    for (const IncreaseSteps& steps : {kPaper, kTimerOnly, constant_hai, growing_timer, no_hai, no_steps}) {
        for (const int64_t byte_stage : {0, 3, 5, 6, 20}) {
            for (const int64_t current : {int64_t{100'000'007}, 3 * kGbps + 1, 39 * kGbps}) {
                const Recovery start = {.current = current, .target = current + 777, .byte_stage = byte_stage};
                Recovery slow = start;
                for (int64_t n = 1; n <= 3000; ++n) {
                    slow = after_timer(slow, 1, steps);
                    if (n % 61 != 0 && n >= 80) continue;
                    ASSERT_EQ(after_timer(start, n, steps), slow) << n << ' ' << byte_stage;
                }
            }
        }
    }
}

TEST(DcqcnRateIncrease, AnHourOfIdlenessIsCaughtUpWithoutWalkingIt) {
    IncreaseSteps tiny = kPaper;
    tiny.ai = 1;
    const Recovery r = after_timer({.current = kGbps, .target = kGbps}, 20'000'000'000, tiny);
    // 5 rounds of fast recovery, then 1 bit/s a round, the current rate one behind.
    EXPECT_EQ(r.target, kGbps + 20'000'000'000 - 5);
    EXPECT_EQ(r.time_stage, 20'000'000'000);
}

TEST(DcqcnRateIncrease, WithoutStepsAnHourOfIdlenessReachesTheTargetAndEnds) {
    for (const bool grows : {false, true}) {
        for (const bool byte_counter : {false, true}) {
            const IncreaseSteps none = {
                .ai = 0, .hai = 0, .line_rate = 40 * kGbps, .byte_counter = byte_counter, .hai_grows = grows};
            const Recovery r = after_timer({.current = kGbps, .target = 2 * kGbps}, 20'000'000'000, none);
            EXPECT_EQ(r.current, 2 * kGbps);
            EXPECT_EQ(r.target, 2 * kGbps);
            EXPECT_EQ(r.time_stage, 20'000'000'000);
        }
    }
}

}  // namespace

}  // namespace simverbs::cc::dcqcn
