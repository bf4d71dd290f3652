#include "models/pcie/occupancy.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace simverbs::pcie {
namespace {

using sim::SimTime;

SimTime ns(int64_t n) {
    return SimTime::ns(n);
}

struct Pieces {
    std::vector<std::pair<SimTime, SimTime>> all;
    auto hear() {
        return [this](SimTime from, SimTime span) { all.emplace_back(from, span); };
    }
};

Slot reserve(Occupancy& o, SimTime now, SimTime earliest, SimTime span) {
    return o.reserve(now, earliest, span, [](SimTime, SimTime) {});
}

TEST(Occupancy, TransfersFollowEachOther) {
    Occupancy o;
    EXPECT_EQ(reserve(o, ns(0), ns(10), ns(5)).first, ns(10));
    const Slot second = reserve(o, ns(0), ns(12), ns(5));
    EXPECT_EQ(second.first, ns(15));
    EXPECT_EQ(second.end, ns(20));
    EXPECT_EQ(o.free_at(), ns(20));
}

TEST(Occupancy, WhatIsReservedForLaterLeavesTheTimeBefore) {
    Occupancy o;
    (void)reserve(o, ns(0), ns(500), ns(100));
    const Slot early = reserve(o, ns(0), ns(0), ns(50));
    EXPECT_EQ(early.first, ns(0));
    EXPECT_EQ(early.end, ns(50));
}

TEST(Occupancy, ATransferGoesAroundWhatIsTaken) {
    Occupancy o;
    (void)reserve(o, ns(0), ns(100), ns(10));
    (void)reserve(o, ns(0), ns(200), ns(10));
    Pieces p;
    const Slot s = o.reserve(ns(0), ns(50), ns(160), p.hear());
    EXPECT_EQ(s.first, ns(50));
    EXPECT_EQ(s.end, ns(230));
    ASSERT_EQ(p.all.size(), 3U);
    EXPECT_EQ(p.all[1], std::pair(ns(110), ns(90)));
    EXPECT_EQ(p.all[2], std::pair(ns(210), ns(20)));
}

TEST(Occupancy, NoTimeTakesNoRoom) {
    Occupancy o;
    (void)reserve(o, ns(0), ns(10), ns(10));
    EXPECT_EQ(reserve(o, ns(0), ns(15), ns(0)).first, ns(20));
    EXPECT_EQ(reserve(o, ns(0), ns(5), ns(0)).end, ns(5));
    EXPECT_EQ(reserve(o, ns(0), ns(0), ns(10)).end, ns(10));
}

/// Against a timeline of single nanoseconds.
TEST(Occupancy, GivesTheFirstFreeTimeLikeATimelineOfTicks) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        Occupancy o;
        std::set<int64_t> taken;
        int64_t now = 0;
        for (int i = 0; i < 100; ++i) {
            now += static_cast<int64_t>(random() % 12);
            // Few enough gaps for the room that there is.
            const auto earliest = now + static_cast<int64_t>(random() % 3) * 40 + static_cast<int64_t>(random() % 4);
            const auto span = static_cast<int64_t>(random() % 30);
            int64_t left = span, first = -1, last = earliest;
            for (int64_t t = earliest; left > 0; ++t)
                if (taken.insert(t).second) {
                    if (first < 0) first = t;
                    last = t + 1;
                    --left;
                }
            Pieces p;
            const Slot s = o.reserve(ns(now), ns(earliest), ns(span), p.hear());
            SimTime sum;
            for (const auto& [from, t] : p.all) sum += t;
            ASSERT_EQ(sum, ns(span)) << seed << ' ' << i;
            if (span == 0) continue;
            ASSERT_EQ(s.first, ns(first)) << seed << ' ' << i;
            ASSERT_EQ(s.end, ns(last)) << seed << ' ' << i;
        }
    }
}

/// More gaps than it remembers: it gives some up, and never gives one twice.
TEST(Occupancy, NothingIsGivenTwiceHoweverManyGapsThereAre) {
    Occupancy o;
    std::set<SimTime> given;
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        const auto at = static_cast<int64_t>(random() % 100'000);
        o.reserve(ns(0), ns(at), ns(3), [&](SimTime from, SimTime span) {
            for (SimTime t = from; t < from + span; t += ns(1)) EXPECT_TRUE(given.insert(t).second);
        });
    }
    EXPECT_EQ(given.size(), 6000U);
}

}  // namespace
}  // namespace simverbs::pcie
