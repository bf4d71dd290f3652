#include "verbs_shim/server/arena.hpp"

#include <gtest/gtest.h>

namespace simverbs::server {
namespace {

TEST(Arena, ARingHasAPowerOfTwoSlotsAndAStrideOfSixteens) {
    Arena arena;
    const auto ring = arena.allocate(100, 41);
    ASSERT_TRUE(ring);
    EXPECT_EQ(ring->capacity, 128U);
    EXPECT_EQ(ring->stride, 48U);
    EXPECT_EQ(ring->header->capacity, 128U);
    EXPECT_GE(ring->offset, sizeof(protocol::ArenaHeader));
}

TEST(Arena, RingsDoNotOverlapAndLieInTheArena) {
    Arena arena;
    const auto a = arena.allocate(1000, 96);
    const auto b = arena.allocate(1000, 96);
    ASSERT_TRUE(a && b);
    const uint64_t end_of_a = a->offset + sizeof(protocol::RingHeader) + uint64_t{a->capacity} * a->stride;
    EXPECT_GE(b->offset, end_of_a);
    EXPECT_LE(b->offset + uint64_t{b->capacity} * b->stride, protocol::kArenaBytes);
}

TEST(Arena, WhatIsReleasedCanBeHadAgainAndIsZero) {
    Arena arena;
    const auto a = arena.allocate(64, 64);
    const auto b = arena.allocate(64, 64);
    ASSERT_TRUE(a && b);
    a->slot(0)[5] = 7;
    a->header->produced.store(3);
    const uint64_t offset = a->offset;
    arena.release(*a);
    const auto c = arena.allocate(64, 64);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->offset, offset);
    EXPECT_EQ(c->header->produced.load(), 0U);
    EXPECT_EQ(c->slot(0)[5], 0);
}

TEST(Arena, NeighboursMergeWhenTheyAreReleased) {
    Arena arena;
    const auto a = arena.allocate(1U << 20, 64);
    const auto b = arena.allocate(1U << 20, 64);
    const auto c = arena.allocate(1U << 20, 64);
    ASSERT_TRUE(a && b && c);
    arena.release(*a);
    arena.release(*c);
    arena.release(*b);
    const auto all = arena.allocate(1U << 26, 64);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->offset, a->offset);
}

TEST(Arena, WhatDoesNotFitIsRefused) {
    Arena arena;
    EXPECT_FALSE(arena.allocate(uint64_t{1} << 40, 64));
    EXPECT_FALSE(arena.allocate(64, uint64_t{1} << 40));
    EXPECT_FALSE(arena.allocate(1U << 26, 4096));
}

}  // namespace
}  // namespace simverbs::server
