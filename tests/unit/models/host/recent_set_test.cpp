#include "models/host/recent_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace simverbs::host {
namespace {

TEST(RecentSet, RemembersAsManyAsItHasRoomForAndForgetsTheOldest) {
    RecentSet s(2);
    EXPECT_FALSE(s.touch(10));
    EXPECT_FALSE(s.touch(20));
    EXPECT_TRUE(s.touch(10));
    EXPECT_FALSE(s.touch(30));  // 10 came first
    EXPECT_TRUE(s.touch(20));
    EXPECT_FALSE(s.touch(10));
    EXPECT_EQ(s.size(), 2U);
}

TEST(RecentSet, SaysWhatAQueueSays) {
    for (const uint64_t capacity : {1U, 3U, 17U, 64U}) {
        RecentSet s(capacity);
        std::deque<uint64_t> queue;
        std::mt19937_64 random(capacity);
        for (int i = 0; i < 20'000; ++i) {
            const uint64_t key = (random() % (2 * capacity + 1)) << (i % 3 * 12);
            const bool known = std::ranges::find(queue, key) != queue.end();
            if (!known) queue.push_back(key);
            if (queue.size() > capacity) queue.pop_front();
            ASSERT_EQ(s.touch(key), known) << capacity << ' ' << i;
        }
    }
}

}  // namespace
}  // namespace simverbs::host
