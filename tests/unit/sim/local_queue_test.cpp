#include <algorithm>

#include "sim/local_queue.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/rng.hpp"

namespace simverbs::sim {
namespace {

TEST(LocalKey, OrdersByTimeThenPhaseThenSource) {
    const LocalKey a = local_key(SimTime::ps(5), EventPhase::Observe, 511);
    const LocalKey b = local_key(SimTime::ps(6), EventPhase::Fault, 0);
    const LocalKey c = local_key(SimTime::ps(6), EventPhase::Deliver, 0);
    const LocalKey d = local_key(SimTime::ps(6), EventPhase::Deliver, 1);
    EXPECT_LT(a, b);
    EXPECT_LT(b, c);
    EXPECT_LT(c, d);
    EXPECT_EQ(local_key_time(d), SimTime::ps(6));
    EXPECT_EQ(local_key_phase(d), EventPhase::Deliver);
    EXPECT_EQ(local_key_source(a), 511U);
    EXPECT_LT(local_key(kMaxWindow - SimTime::ps(1), EventPhase::Observe, 511), kNoEvent);
}

TEST(LocalQueue, AnEmptyQueueHasNoEvent) {
    LocalQueue q;
    EXPECT_EQ(q.top(), kNoEvent);
    q.reset(5);
    q.build();
    EXPECT_EQ(q.top(), kNoEvent);
}

TEST(LocalQueue, TopIsAlwaysTheSmallestOfManyRandomUpdates) {
    LocalQueue q;
    const Draws draws(1, 2, DrawPurpose::Other);
    uint64_t n = 0;
    for (const uint32_t sources : {1U, 2U, 3U, 33U, 512U}) {
        std::vector<LocalKey> keys(sources, kNoEvent);
        q.reset(sources);
        for (uint32_t s = 0; s < sources; ++s)
            if (draws.below(2, n++) != 0) {
                keys[s] = local_key(SimTime::ps(static_cast<int64_t>(draws.below(50, n++))), EventPhase::Deliver, s);
                q.set_leaf(s, keys[s]);
            }
        q.build();
        for (int step = 0; step < 2000; ++step) {
            ASSERT_EQ(q.top(), *std::ranges::min_element(keys));
            const auto s = static_cast<uint32_t>(draws.below(sources, n++));
            keys[s] = draws.below(3, n++) == 0
                          ? kNoEvent
                          : local_key(SimTime::ps(static_cast<int64_t>(draws.below(1000, n++))), EventPhase::Timer, s);
            q.update(s, keys[s]);
        }
    }
}

TEST(LocalQueue, StartsEmptyWhateverItsLastUserLeftThere) {
    LocalQueue q;
    q.reset(64);
    for (uint32_t s = 0; s < 64; ++s) q.set_leaf(s, local_key(SimTime::ps(7), EventPhase::Deliver, s));
    q.build();
    q.reset(2);  // leaves the larger tree's leaves behind
    q.build();
    q.start_empty(64);
    EXPECT_EQ(q.top(), kNoEvent);
    const LocalKey key = local_key(SimTime::ps(9), EventPhase::Timer, 40);
    q.update(40, key);
    EXPECT_EQ(q.top(), key);
    q.start_empty(8);  // was not emptied
    EXPECT_EQ(q.top(), kNoEvent);
    for (uint32_t s = 0; s < 8; ++s) EXPECT_EQ(q.leaf(s), kNoEvent);
}

TEST(LocalQueue, MoreSourcesThanAKeyCanNameAreRefused) {
    const ThrowingChecks throwing;
    LocalQueue q;
    EXPECT_THROW(q.reset(513), CheckError);
}

}  // namespace
}  // namespace simverbs::sim
