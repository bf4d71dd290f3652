// The shared buffer by hand: cells, reserve, dynamic threshold, headroom, resume.
#include "models/switch/shared_buffer.hpp"

#include <gtest/gtest.h>

#include "sim/check.hpp"

namespace simverbs::fabric {
namespace {

constexpr BufferConfig kConfig{
    .total = 100'000, .cell = 96, .lossless = 1 << 3, .headroom = 10'000, .reserve = 1'000, .alpha = 1.0 / 8};

/// Two ports; dense priority 0 is 3 (lossless), 1 is 0.
SharedBuffer make(const BufferConfig& config = kConfig, uint16_t priorities = 1 << 3) {
    SharedBuffer b(config, 2, priorities);
    b.add_priority(3);
    b.add_priority(0);
    return b;
}

TEST(SharedBuffer, PacketsTakeWholeCells) {
    const SharedBuffer b = make();
    EXPECT_EQ(b.cells(1), 96);
    EXPECT_EQ(b.cells(96), 96);
    EXPECT_EQ(b.cells(97), 192);
    EXPECT_EQ(b.cells(4158), 44 * 96);
    EXPECT_EQ(SharedBuffer({}, 1).cells(97), 97) << "cells of a byte: none";
}

TEST(SharedBuffer, TheSharedPartIsWhatReservesAndHeadroomsLeave) {
    EXPECT_EQ(make().shared_total(), 100'000 - 2 * (10'000 + 1'000));
    EXPECT_EQ(make(kConfig, 1 << 3 | 1 << 0).shared_total(), 100'000 - 2 * (10'000 + 2 * 1'000))
        << "each priority that may come has its reserve";
    EXPECT_LT(make({.total = 10'000, .lossless = 1 << 3, .headroom = 10'000}).shared_total(), 0);
}

TEST(SharedBuffer, PausesWhereTheSharedBytesReachAlphaTimesTheFreeOnes) {
    SharedBuffer b = make();
    EXPECT_EQ(b.threshold(0), 78'000 / 8);
    // The reserve takes 1000 bytes. After ten packets of ten cells 8600 are shared, and (78,000 - 8600) / 8 = 8675.
    for (int i = 0; i < 10; ++i) ASSERT_EQ(b.admit(0, 0, 960), Admission::Accept) << i;
    EXPECT_EQ(b.threshold(0), 8'675);
    EXPECT_EQ(b.max_headroom_wanted(), 0);
    // The next would go beyond the threshold: it takes headroom.
    EXPECT_EQ(b.admit(0, 0, 960), Admission::AcceptAndPause);
    EXPECT_TRUE(b.paused(0, 0));
    EXPECT_FALSE(b.paused(1, 0));
    EXPECT_EQ(b.max_headroom_wanted(), 960);
    EXPECT_EQ(b.threshold(0), 8'675) << "headroom is not of the shared part";
    EXPECT_EQ(b.admit(0, 0, 960), Admission::Accept) << "paused already";
    EXPECT_EQ(b.used(0, 0), 12 * 960);
    b.check();
}

TEST(SharedBuffer, ResumesXonOffsetBelowTheThresholdAndOnlyWithoutHeadroom) {
    SharedBuffer b = make();
    for (int i = 0; i < 12; ++i) (void)b.admit(0, 0, 960);
    EXPECT_FALSE(b.release(0, 0, 960));  // headroom
    EXPECT_FALSE(b.release(0, 0, 960));  // headroom; 8600 + 3072 > 8675
    EXPECT_FALSE(b.release(0, 0, 960));  // 7640 + 3072 > 8795
    EXPECT_FALSE(b.release(0, 0, 960));  // 6680 + 3072 > 8915
    EXPECT_TRUE(b.release(0, 0, 960));   // 5720 + 3072 <= 9035
    EXPECT_FALSE(b.paused(0, 0));
    for (int i = 0; i < 7; ++i) EXPECT_FALSE(b.release(0, 0, 960)) << "not paused any more";
    EXPECT_EQ(b.used(), 0);
    EXPECT_EQ(b.threshold(0), 9'750);
    b.check();
}

TEST(SharedBuffer, APortThatOnlyHasItsReserveResumesHoweverFullTheSharedPartIs) {
    SharedBuffer b = make(kConfig, 1 << 3 | 1 << 0);
    while (b.admit(1, 1, 960) == Admission::Accept) {
    }
    EXPECT_LT(b.threshold(0), 3'072) << "no queue may have a packet of the shared part and resume";
    EXPECT_EQ(b.admit(0, 0, 960), Admission::Accept);
    EXPECT_EQ(b.admit(0, 0, 960), Admission::AcceptAndPause);
    EXPECT_TRUE(b.release(0, 0, 960));
    EXPECT_FALSE(b.paused(0, 0));
}

TEST(SharedBuffer, OnePacketBeyondTheHeadroomIsDroppedAndWhatWasWantedIsRemembered) {
    SharedBuffer b = make();
    for (int i = 0; i < 10 + 10; ++i) ASSERT_NE(b.admit(0, 0, 960), Admission::DropHeadroom) << i;
    EXPECT_EQ(b.max_headroom_wanted(), 9'600);
    EXPECT_EQ(b.admit(0, 0, 960), Admission::DropHeadroom);
    EXPECT_EQ(b.max_headroom_wanted(), 10'560);
    EXPECT_EQ(b.used(0, 0), 20 * 960) << "a dropped packet takes nothing";
    EXPECT_EQ(b.admit(0, 0, 384), Admission::Accept) << "a smaller one still fits";
    EXPECT_EQ(b.admit(1, 0, 960), Admission::Accept) << "each port has its own headroom";
    b.check();
}

TEST(SharedBuffer, WhatIsWantedHasAllThatWasDroppedInOnePauseAndNothingOfTheOneBefore) {
    SharedBuffer b = make();
    for (int i = 0; i < 20 + 3; ++i) (void)b.admit(0, 0, 960);
    EXPECT_EQ(b.max_headroom_wanted(), 9'600 + 3 * 960);
    EXPECT_FALSE(b.release(0, 0, 960));
    EXPECT_EQ(b.admit(0, 0, 960), Admission::Accept) << "there is room again; with enough headroom, less than now";
    EXPECT_EQ(b.max_headroom_wanted(), 9'600 + 3 * 960);
    EXPECT_EQ(b.admit(0, 0, 960), Admission::DropHeadroom);
    EXPECT_EQ(b.max_headroom_wanted(), 9'600 + 4 * 960);
    while (!b.release(0, 0, 960)) {
    }
    while (b.admit(0, 0, 960) != Admission::DropHeadroom) {
    }
    EXPECT_EQ(b.max_headroom_wanted(), 9'600 + 4 * 960) << "another pause, in which less was dropped";
}

TEST(SharedBuffer, AHeadroomWithoutRoomForAPacketPausesWithTheFirstThatIsDropped) {
    SharedBuffer b = make(BufferConfig{
        .total = 100'000, .cell = 96, .lossless = 1 << 3, .headroom = 96, .reserve = 1'000, .alpha = 1.0 / 8});
    while (b.admit(0, 0, 960) == Admission::Accept) {
    }
    EXPECT_TRUE(b.paused(0, 0));
    EXPECT_EQ(b.max_headroom_wanted(), 960);
    EXPECT_EQ(b.admit(0, 0, 960), Admission::DropHeadroom);
    EXPECT_EQ(b.max_headroom_wanted(), 2 * 960);
    while (!b.release(0, 0, 960)) {
    }
    EXPECT_FALSE(b.paused(0, 0));
    b.check();
}

TEST(SharedBuffer, ALossyPriorityTakesAllThatIsSharedAndNeverHeadroom) {
    SharedBuffer b = make(kConfig, 1 << 3 | 1 << 0);
    int accepted = 0;
    while (b.admit(0, 1, 960) == Admission::Accept) ++accepted;
    EXPECT_EQ(accepted, (76'000 + 1'000) / 960);
    EXPECT_FALSE(b.paused(0, 1));
    EXPECT_EQ(b.max_headroom_wanted(), 0);
    EXPECT_EQ(b.admit(0, 0, 960), Admission::Accept) << "of the reserve of the lossless priority";
    EXPECT_EQ(b.admit(0, 0, 960), Admission::AcceptAndPause);
    b.check();
    EXPECT_LE(b.max_used(), kConfig.total);
}

TEST(SharedBuffer, AllPrioritiesWithTheirReservesNeverTakeMoreThanThereIs) {
    SharedBuffer b =
        make({.total = 60'000, .lossless = 1 << 3, .headroom = 4'000, .reserve = 5'000, .alpha = 100}, 1 << 3 | 1 << 0);
    for (int i = 0; i < 100; ++i)
        for (uint32_t port = 0; port < 2; ++port)
            for (uint32_t dense = 0; dense < 2; ++dense) (void)b.admit(port, dense, 960);
    b.check();
    EXPECT_LE(b.max_used(), 60'000);
    EXPECT_GT(b.max_used(), 60'000 - 6 * 960);
}

TEST(SharedBuffer, APortCanHaveAnAlphaOfItsOwn) {
    SharedBuffer b = make();
    b.set_alpha(1, 0.5);
    EXPECT_EQ(b.threshold(0), 78'000 / 8);
    EXPECT_EQ(b.threshold(1), 78'000 / 2);
}

TEST(SharedBuffer, ReleasingMoreThanThereIsFailsACheck) {
    const sim::ThrowingChecks throwing;
    SharedBuffer b = make();
    (void)b.admit(0, 0, 960);
    EXPECT_THROW((void)b.release(0, 0, 1'920), sim::CheckError);
}

}  // namespace
}  // namespace simverbs::fabric
