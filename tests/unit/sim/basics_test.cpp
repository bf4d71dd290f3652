// Small parts of sim/: checks, draws, event list, rings, counters, units.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/check.hpp"
#include "sim/chunk_fifo.hpp"
#include "sim/event_list.hpp"
#include "sim/link_ring.hpp"
#include "sim/rng.hpp"
#include "sim/stats/counter.hpp"
#include "sim/units.hpp"

namespace simverbs::sim {
namespace {

TEST(SimCheck, AFailureNamesExpressionPlaceAndValues) {
    const ThrowingChecks throwing;
    const int credits = 3;
    const SimTime at = SimTime::ns(2);
    try {
        SIM_CHECK(credits == 4, credits, at);
        FAIL() << "a failed check must not go on";
    } catch (const CheckError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("credits == 4"), std::string::npos) << text;
        EXPECT_NE(text.find("basics_test.cpp:"), std::string::npos) << text;
        EXPECT_NE(text.find("credits, at = 3, 2000 ps"), std::string::npos) << text;
    }
    SIM_CHECK(credits == 3);
}

TEST(SimCheckDeathTest, WithoutAHandlerItPrintsAndAborts) {
    EXPECT_DEATH(SIM_CHECK(1 + 1 == 3), "SIM_CHECK failed: 1 \\+ 1 == 3");
}

TEST(Draws, DependOnSeedComponentPurposeAndOrdinal) {
    const ComponentId a = component_id("h0/mlx5_0/1");
    const ComponentId b = component_id("h0/mlx5_0/2");
    EXPECT_NE(a, b);
    const uint64_t base = draw_u64(1, a, DrawPurpose::FaultDrop, 7);
    EXPECT_EQ(base, draw_u64(1, a, DrawPurpose::FaultDrop, 7));
    EXPECT_NE(base, draw_u64(2, a, DrawPurpose::FaultDrop, 7));
    EXPECT_NE(base, draw_u64(1, b, DrawPurpose::FaultDrop, 7));
    EXPECT_NE(base, draw_u64(1, a, DrawPurpose::FaultDelay, 7));
    EXPECT_NE(base, draw_u64(1, a, DrawPurpose::FaultDrop, 8));
}

TEST(Draws, AreUniform) {
    const Draws draws(3, component_id("x"), DrawPurpose::Ecn);
    constexpr uint64_t kN = 100'000;
    double sum = 0;
    std::vector<int> hits(10, 0);
    for (uint64_t i = 0; i < kN; ++i) {
        const double u = draws.unit(i);
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        ++hits[draws.below(10, i)];
    }
    EXPECT_NEAR(sum / kN, 0.5, 0.005);
    for (const int h : hits) EXPECT_NEAR(h, kN / 10, 5 * std::sqrt(kN / 10.0));
}

TEST(EventList, OrdersByKeyAndKeepsInsertionOrderWithinOne) {
    EventList<int> list;
    const EventKey later{SimTime::ps(9), EventPhase::Fault, 0};
    const EventKey observe{SimTime::ps(5), EventPhase::Observe, 0};
    const EventKey fault{SimTime::ps(5), EventPhase::Fault, 8};
    list.push(later, 5);
    list.push(observe, 3);
    list.push(fault, 1);
    list.push(observe, 4);
    list.push(fault, 2);
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(list.pop(), i);
    EXPECT_EQ(list.next_time(), SimTime::max());
}

struct Item {
    SimTime arrival = SimTime::max();
    int value = 0;
};

TEST(LinkRing, KeepsOrderWhileItGrowsInEveryPosition) {
    for (int rotate = 0; rotate < 8; ++rotate) {
        LinkRing<Item> ring;
        for (int i = 0; i < rotate; ++i) {
            ring.push({SimTime::ps(1), i});
            ring.pop();
        }
        EXPECT_TRUE(ring.empty());
        EXPECT_EQ(ring.head_time(), SimTime::max());
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(ring.size(), static_cast<uint32_t>(i));
            ring.push({SimTime::ps(i), i});
        }
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(ring.head_time(), SimTime::ps(i));
            ASSERT_EQ(ring.front().value, i);
            ring.pop();
        }
        EXPECT_TRUE(ring.empty());
        EXPECT_EQ(ring.size(), 0U);
    }
}

TEST(LinkRing, KeepsOrderWhenItsMemoryShrinks) {
    for (int rotate = 0; rotate < 32; ++rotate) {
        for (int n = 0; n <= 8; ++n) {
            LinkRing<Item> ring;
            for (int i = 0; i < 17; ++i) ring.push({SimTime::ps(1), i});
            while (!ring.empty()) ring.pop();
            EXPECT_EQ(ring.capacity(), 32U);
            EXPECT_TRUE(ring.has_grown());
            for (int i = 0; i < rotate; ++i) {
                ring.push({SimTime::ps(1), i});
                ring.pop();
            }
            for (int i = 0; i < n; ++i) ring.push({SimTime::ps(i), i});
            ring.resize(8);
            EXPECT_EQ(ring.capacity(), 8U);
            EXPECT_FALSE(ring.has_grown());
            EXPECT_EQ(ring.size(), static_cast<uint32_t>(n));
            for (int i = n; i < 20; ++i) ring.push({SimTime::ps(i), i});
            for (int i = 0; i < 20; ++i) {
                ASSERT_EQ(ring.front().value, i);
                ring.pop();
            }
            EXPECT_TRUE(ring.empty());
        }
    }
}

TEST(ChunkFifo, KeepsOrderAcrossChunksAndGivesThemBack) {
    ChunkPool pool;
    ChunkFifo a, b;  // share the pool
    a.push(1, pool);
    a.pop(pool);
    EXPECT_EQ(pool.memory(), 0U) << "one item needs no chunk";
    const size_t one_slab = [&] {
        a.push(1, pool);
        a.push(2, pool);
        a.clear(pool);
        return pool.memory();
    }();
    constexpr uint32_t kOther = 1'000'000;
    uint32_t next_in = 0, next_out = 0;
    for (uint32_t round = 0; round < 200; ++round) {
        // Fills to a changing length, then empties partly or wholly.
        for (uint32_t i = 0; i < round % 37; ++i, ++next_in) {
            a.push(next_in, pool);
            b.push(kOther + next_in, pool);
        }
        const uint32_t keep = round % 3 == 0 ? 0 : std::min(5U, next_in - next_out);
        for (; next_out < next_in - keep; ++next_out) {
            uint32_t expected = next_out;
            a.for_each([&](uint32_t item) { ASSERT_EQ(item, expected++); });
            ASSERT_EQ(expected, next_in);
            ASSERT_EQ(a.has_one(), next_out + 1 == next_in);
            ASSERT_EQ(a.front(), next_out);
            ASSERT_EQ(b.front(), kOther + next_out);
            a.pop(pool);
            b.pop(pool);
        }
        EXPECT_EQ(a.empty(), next_in == next_out);
    }
    a.clear(pool);
    EXPECT_EQ(a.front(), ChunkFifo::kNone);
    EXPECT_FALSE(a.has_one());
    EXPECT_EQ(pool.memory(), one_slab) << "chunks were not given back";
}

TEST(CounterSet, ReadsTheOwnersIntegers) {
    uint64_t drops = 0;
    CounterSet set;
    set.add("drops", drops);
    ++drops;
    EXPECT_EQ(set.value("drops"), 1U);
    EXPECT_EQ(set.value("no such counter"), 0U);
}

TEST(ByteTime, IsExactWhereAByteTakesWholePicoseconds) {
    for (const int64_t gbps : {10, 25, 40, 100, 200, 400, 800})
        for (const uint32_t bytes : {1U, 84U, 4178U, 1U << 20})
            EXPECT_EQ(ByteTime(BitRate::gbps(gbps)).of(bytes), BitRate::gbps(gbps).time_for(bytes))
                << gbps << " Gb/s, " << bytes << " bytes";
}

}  // namespace
}  // namespace simverbs::sim
