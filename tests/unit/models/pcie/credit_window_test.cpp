#include "models/pcie/credit_window.hpp"

#include <gtest/gtest.h>

namespace simverbs::pcie {
namespace {

using sim::SimTime;

constexpr uint64_t kAll = CreditWindow::kShares;

TEST(CreditWindow, AnEmptyReceiverTakesWhatComes) {
    CreditWindow w;
    EXPECT_EQ(w.room_at(1), SimTime::zero());
    EXPECT_EQ(w.room_at(100 * kAll), SimTime::zero());
}

TEST(CreditWindow, AFullOneTakesMoreOnlyWhenSomethingHasLeft) {
    CreditWindow w;
    w.note(kAll / 2, SimTime::us(1), SimTime::us(2));
    w.note(kAll / 2, SimTime::us(2), SimTime::us(3));
    EXPECT_EQ(w.room_at(kAll / 4), SimTime::ns(1500)) << "half of the first half has left";
}

TEST(CreditWindow, SmallTransfersWaitForAsMuchAsTheyNeed) {
    CreditWindow w;
    for (int i = 0; i < 128; ++i) w.note(16, SimTime::ns(i), SimTime::ns(i + 1));
    EXPECT_GT(w.room_at(16), SimTime::zero());
    EXPECT_LE(w.room_at(16), SimTime::ns(1));
    w.note(16, SimTime::ns(200), SimTime::ns(201));
    EXPECT_GT(w.room_at(16), SimTime::ns(1));
}

TEST(CreditWindow, ATransferLargerThanTheReceiverGoesOnWhileItLeaves) {
    CreditWindow w;
    w.note(4 * kAll, SimTime::zero(), SimTime::us(4));
    // A quarter of the buffer is free when all but three quarters of it have left.
    EXPECT_EQ(w.room_at(kAll), SimTime::ns(3250));
}

TEST(CreditWindow, WhatIsDelayedByMemoryKeepsItsPlaceLonger) {
    CreditWindow w;
    w.note(kAll, SimTime::zero(), SimTime::us(1));
    w.delay(SimTime::us(10));
    EXPECT_EQ(w.room_at(kAll / 4), SimTime::ns(2500));
}

TEST(CreditWindow, HeadersAreScarceForSmallTlpsDataForLargeOnes) {
    EXPECT_EQ(CreditWindow::shares_of(credits_of(TlpKind::MWr, 64, 256)), 16U);
    EXPECT_EQ(CreditWindow::shares_of(credits_of(TlpKind::MWr, 256, 256)), 16U);
    EXPECT_EQ(CreditWindow::shares_of(credits_of(TlpKind::MWr, 512, 512)), 32U);
}

}  // namespace
}  // namespace simverbs::pcie
