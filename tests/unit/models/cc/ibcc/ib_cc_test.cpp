// InfiniBand congestion control against values computed by hand.
#include <gtest/gtest.h>

#include "models/cc/ibcc/cct.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

using ibcc::CctEntry;
using sim::SimTime;

TEST(Cct, AnEntryIsTwoBitsOfShiftAndFourteenOfMultiplier) {
    static_assert(CctEntry{2, 5}.encoded() == 0x8005);
    static_assert(CctEntry::decoded(0xFFFF) == CctEntry{3, 0x3FFF});
    static_assert(CctEntry::decoded(CctEntry{1, 77}.encoded()) == CctEntry{1, 77});
}

TEST(Cct, TheDelayStretchesAPacketsTime) {
    constexpr auto line = sim::BitRate::gbps(100);
    static_assert(rate_with(CctEntry{0, 0}, line) == line);
    static_assert(rate_with(CctEntry{0, 1}, line) == sim::BitRate::gbps(50));
    static_assert(rate_with(CctEntry{2, 4}, line) == sim::BitRate::gbps(50));
    static_assert(rate_with(CctEntry{2, 1}, line) == sim::BitRate::gbps(80));
    static_assert(rate_with(CctEntry{0, 99}, line) == sim::BitRate::gbps(1));
}

TEST(Cct, TheIndexStaysBetweenItsLimits) {
    static_assert(ibcc::increased_ccti(0, 4, 127) == 4);
    static_assert(ibcc::increased_ccti(125, 4, 127) == 127);
    static_assert(ibcc::decreased_ccti(10, 3, 0) == 7);
    static_assert(ibcc::decreased_ccti(10, 1'000'000'000'000, 2) == 2);
    static_assert(ibcc::linear_entry(3, 5, 1) == CctEntry{1, 15});
    static_assert(ibcc::linear_entry(127, 16383, 0) == CctEntry{0, 16383});
}

TEST(Cct, TheTimerRunsFromTimeZero) {
    static_assert(ibcc::expiries_between(SimTime::us(0), SimTime::us(99), SimTime::us(100)) == 0);
    static_assert(ibcc::expiries_between(SimTime::us(99), SimTime::us(100), SimTime::us(100)) == 1);
    static_assert(ibcc::expiries_between(SimTime::us(100), SimTime::us(350), SimTime::us(100)) == 2);
}

TEST(IbCc, BecnsSlowAQpDownAndTheTimerBringsItBack) {
    QpUnderTest qp("ib-cc", plain_path(100, 4), {{"ccti_timer", 100e6}, {"cct_shift", 2}});
    EXPECT_TRUE(qp.algorithm().needs().cnp);
    EXPECT_EQ(qp.algorithm().needs().min_time_between_cnps, SimTime::zero());
    EXPECT_EQ(qp.control().next_update, SimTime::max());
    // Quarters of a packet time: 100 / 1.25, 100 / 1.5, 100 / 1.75, 100 / 2.
    const int64_t mbps[] = {80'000, 66'666, 57'142, 50'000};
    for (int i = 0; i < 4; ++i) {
        qp.cnp(SimTime::us(110 + i));
        EXPECT_EQ(qp.mbps(), mbps[i]);
    }
    EXPECT_EQ(qp.control().next_update, SimTime::us(200));
    qp.time(SimTime::us(200));
    EXPECT_EQ(qp.mbps(), 57'142);
    qp.time(SimTime::us(401));
    EXPECT_EQ(qp.mbps(), 80'000);
    EXPECT_EQ(qp.control().next_update, SimTime::us(500));
    // At the same instant the timer comes before the BECN.
    qp.cnp(SimTime::us(500));
    EXPECT_EQ(qp.mbps(), 80'000);
    qp.time(SimTime::s(100));
    EXPECT_EQ(qp.mbps(), 100'000);
    EXPECT_EQ(qp.control().next_update, SimTime::max());
}

TEST(IbCc, TheLimitIsTheSlowestRate) {
    QpUnderTest qp("ib-cc", plain_path(100, 4), {{"ccti_increase", 64}});
    for (int i = 0; i < 10; ++i) qp.cnp(SimTime::us(1));
    // Entry 127: 1 + 127/8 packet times.
    EXPECT_EQ(qp.control().rate.in_bps(), 100'000'000'000 * 8 / 135);
}

}  // namespace

}  // namespace simverbs::cc::test
