#include "models/gpu/copy_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace simverbs::gpu {
namespace {

using sim::SimTime;

struct Sink final : host::CopySink {
    void on_copy_done(uint64_t cookie, SimTime visible_at) override { done.emplace_back(cookie, visible_at); }
    std::vector<std::pair<uint64_t, SimTime>> done;
};

host::CopySpec copy(uint64_t bytes, uint64_t cookie = 0) {
    host::CopySpec s;
    s.bytes = bytes;
    s.cookie = cookie;
    return s;
}

constexpr CopyQueue::Times kTimes = {SimTime::us(6), SimTime::us(1)};

TEST(CopyQueue, TakesPiecesInOrderAndTheRestLast) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(20'000), sink, SimTime::zero(), 4);
    std::vector<std::pair<uint64_t, uint32_t>> pieces;
    while (!q.at_end()) {
        const auto [offset, bytes] = q.take();
        pieces.emplace_back(offset, bytes);
        q.note_write(q.next() + SimTime::ns(10), q.next() + SimTime::ns(100));
    }
    EXPECT_EQ(pieces, (std::vector<std::pair<uint64_t, uint32_t>>{{0, 8192}, {8192, 8192}, {16384, 3616}}));
}

TEST(CopyQueue, HalfTheOverheadComesBeforeAndHalfAfter) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(8, 5), sink, SimTime::us(10), 4);
    EXPECT_EQ(q.next(), SimTime::us(13));
    (void)q.take();
    q.note_read(SimTime::us(14));
    EXPECT_EQ(q.next(), SimTime::us(14));
    q.finish();
    EXPECT_EQ(sink.done, (std::vector<std::pair<uint64_t, SimTime>>{{5, SimTime::us(17)}}));
    EXPECT_EQ(q.next(), SimTime::max());
}

TEST(CopyQueue, ReadsHaveAWindowUnderWay) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(100 * CopyQueue::kPiece), sink, SimTime::zero(), 3);
    const SimTime begin = q.next();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(q.next(), begin);
        (void)q.take();
        q.note_read(begin + SimTime::us(1 + i));
    }
    EXPECT_EQ(q.next(), begin + SimTime::us(1)) << "the first has to be back";
    (void)q.take();
    q.note_read(begin + SimTime::us(4));
    EXPECT_EQ(q.next(), begin + SimTime::us(2));
}

TEST(CopyQueue, WritesGoOnWhenTheLinkHasTakenThem) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(3 * CopyQueue::kPiece), sink, SimTime::zero(), 3);
    (void)q.take();
    q.note_write(SimTime::us(4), SimTime::us(50));
    EXPECT_EQ(q.next(), SimTime::us(4));
}

TEST(CopyQueue, ACopyWaitsForTheOneBeforeAndAGap) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(8), sink, SimTime::zero(), 4);
    q.submit(copy(8), sink, SimTime::zero(), 4);
    (void)q.take();
    q.note_write(SimTime::us(4), SimTime::us(9));
    q.finish();
    EXPECT_EQ(q.next(), SimTime::us(10));
}

TEST(CopyQueue, ACopyOfNothingEnds) {
    Sink sink;
    CopyQueue q(kTimes);
    q.submit(copy(0), sink, SimTime::zero(), 4);
    EXPECT_FALSE(q.at_end());
    EXPECT_EQ(q.take().bytes, 0U);
    q.note_write(q.next(), q.next());
    ASSERT_TRUE(q.at_end());
    q.finish();
    EXPECT_EQ(sink.done.size(), 1U);
}

}  // namespace
}  // namespace simverbs::gpu
