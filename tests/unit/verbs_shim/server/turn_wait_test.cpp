#include "verbs_shim/protocol/turn_wait.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace simverbs::protocol {
namespace {

/// A machine on which each yield takes as long as it is told.
struct FakeSystem {
    static inline int64_t clock_ns = 0;
    static inline int64_t a_yield_ns = 0;
    static inline uint32_t yields = 0;

    static void reset(int64_t yield_ns) {
        clock_ns = 0;
        a_yield_ns = yield_ns;
        yields = 0;
    }
    static void yield() {
        clock_ns += a_yield_ns;
        ++yields;
    }
    static int64_t now_ns() { return clock_ns; }
};

constexpr int64_t kShort = 500;
constexpr int64_t kLong = 3'000'000;
const auto never = [] { return false; };
const auto always = [] { return true; };

/// Guesses that were right among the last `count` of a pattern that repeats ('m': myself).
size_t right_guesses(std::string_view pattern, size_t rounds, size_t count) {
    NextGuess guess;
    size_t right = 0;
    for (size_t i = 0; i < rounds; ++i) {
        const bool myself = pattern[i % pattern.size()] == 'm';
        if (i + count >= rounds && guess.myself() == myself) ++right;
        guess.learn(myself);
    }
    return right;
}

TEST(NextGuess, LearnsWhatRepeats) {
    EXPECT_EQ(right_guesses("m", 100, 50), 50U);
    EXPECT_EQ(right_guesses("o", 100, 50), 50U);
    EXPECT_EQ(right_guesses("mo", 100, 50), 50U);
    EXPECT_EQ(right_guesses("mmo", 100, 50), 50U);
}

TEST(NextGuess, StartsByMakingRoom) {
    EXPECT_FALSE(NextGuess().myself());
}

TEST(TurnWait, GivesUpTheCoreBeforeItLooksUnlessItIsToldTo) {
    FakeSystem::reset(kShort);
    TurnWait wait;
    uint32_t looks = 0;
    const auto second = [&] { return ++looks == 2; };
    EXPECT_TRUE(wait_awhile<FakeSystem>(wait, {0, kShortSpin}, second, never));
    EXPECT_EQ(FakeSystem::yields, 1U);

    FakeSystem::reset(kShort);
    looks = 0;
    EXPECT_TRUE(wait_awhile<FakeSystem>(wait, {kLongSpin, kShortSpin}, second, never));
    EXPECT_EQ(FakeSystem::yields, 0U);
}

TEST(TurnWait, GoesToSleepWhenTheTurnDoesNotCome) {
    FakeSystem::reset(kShort);
    TurnWait wait;
    EXPECT_FALSE(wait_awhile<FakeSystem>(wait, {kLongSpin, kShortSpin}, never, never));
    EXPECT_EQ(FakeSystem::yields, kYieldRounds);
}

TEST(TurnWait, SleepsAtOnceAfterAStrangerHadTheCore) {
    FakeSystem::reset(kLong);
    TurnWait wait;
    EXPECT_FALSE(wait_awhile<FakeSystem>(wait, {}, never, never));
    EXPECT_EQ(FakeSystem::yields, 1U);
    for (uint32_t i = 0; i < kFutexOnly; ++i) {
        EXPECT_FALSE(wait_awhile<FakeSystem>(wait, {kLongSpin, kShortSpin}, never, never));
        EXPECT_EQ(FakeSystem::yields, 1U);
    }
}

TEST(TurnWait, ALongTurnOfThisCoreIsNoReasonToSleepAtOnce) {
    FakeSystem::reset(kLong);
    TurnWait wait;
    EXPECT_FALSE(wait_awhile<FakeSystem>(wait, {}, never, always));
    EXPECT_EQ(FakeSystem::yields, kYieldRounds);
    EXPECT_EQ(wait.sleep_at_once, 0U);
}

}  // namespace
}  // namespace simverbs::protocol
