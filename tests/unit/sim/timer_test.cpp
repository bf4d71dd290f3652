#include "sim/timer.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sim/rng.hpp"

namespace simverbs::sim {
namespace {

TEST(TimerQueue, ExpiriesComeByTimeThenSource) {
    TimerQueue q;
    Timer late(q, 1, 10);
    Timer second(q, 9, 20);
    Timer first(q, 3, 30);
    late.set(SimTime::ps(8));
    second.set(SimTime::ps(5));
    first.set(SimTime::ps(5));
    EXPECT_EQ(q.next_source(), 3U);
    EXPECT_EQ(q.pop(), 30U);
    EXPECT_EQ(q.pop(), 20U);
    EXPECT_EQ(q.next_time(), SimTime::ps(8));
    EXPECT_EQ(q.pop(), 10U);
    EXPECT_EQ(q.next_time(), SimTime::max());
}

TEST(TimerQueue, CancellingTwiceIsHarmlessAndATimerCanBeSetAgain) {
    TimerQueue q;
    Timer t(q, 1, 7);
    t.cancel();
    t.set(SimTime::ps(3));
    t.cancel();
    t.cancel();
    EXPECT_FALSE(t.pending());
    EXPECT_EQ(q.next_time(), SimTime::max());
    t.set(SimTime::ps(4));
    t.set(SimTime::ps(2));
    t.set(SimTime::ps(9));
    EXPECT_EQ(q.pending(), 1U);
    EXPECT_EQ(t.time(), SimTime::ps(9));
}

TEST(TimerQueue, ATimerDiesWithItsOwner) {
    TimerQueue q;
    Timer kept(q, 2, 2);
    {
        Timer gone(q, 1, 1);
        gone.set(SimTime::ps(1));
        kept.set(SimTime::ps(5));
        Timer moved = std::move(gone);
        EXPECT_EQ(q.next_time(), SimTime::ps(1));
    }
    EXPECT_EQ(q.next_time(), SimTime::ps(5));
    const Timer reuses_the_slot(q, 3, 3);
    EXPECT_FALSE(reuses_the_slot.pending());
}

TEST(TimerQueue, AgreesWithASortedMapOverRandomSetsAndCancels) {
    TimerQueue q;
    constexpr uint64_t kTimers = 40;
    std::vector<Timer> timers;
    for (uint64_t i = 0; i < kTimers; ++i) timers.emplace_back(q, 1000 - i, i);
    std::map<std::pair<int64_t, SourceId>, uint64_t> model;
    const Draws draws(4, 4, DrawPurpose::Other);
    uint64_t n = 0;
    for (int step = 0; step < 20'000; ++step) {
        const uint64_t i = draws.below(kTimers, n++);
        std::erase_if(model, [&](const auto& e) { return e.second == i; });
        if (draws.below(4, n++) == 0) {
            timers[i].cancel();
        } else {
            const auto t = static_cast<int64_t>(draws.below(500, n++));
            timers[i].set(SimTime::ps(t));
            model[{t, 1000 - i}] = i;
        }
        if (draws.below(5, n++) == 0 && !model.empty()) {
            ASSERT_EQ(q.pop(), model.begin()->second);
            model.erase(model.begin());
        }
        ASSERT_EQ(q.pending(), model.size());
        ASSERT_EQ(q.next_time(), model.empty() ? SimTime::max() : SimTime::ps(model.begin()->first.first));
    }
}

}  // namespace
}  // namespace simverbs::sim
