#include "models/gpu/bar_window.hpp"

#include <gtest/gtest.h>

namespace simverbs::gpu {
namespace {

TEST(LoadTrips, AreTheTableAtPowersOfTwoAndStraightLinesBetween) {
    EXPECT_EQ(load_trips(1), 105U);
    EXPECT_EQ(load_trips(16), 100U);
    EXPECT_EQ(load_trips(24), 149U);
    EXPECT_EQ(load_trips(65536), 13'266U);
    EXPECT_EQ(load_trips(0), 105U);
}

TEST(LoadTrips, GoOnBeyondTheTable) {
    EXPECT_EQ(load_trips(16 << 20), 4'273'786U);
    EXPECT_EQ(load_trips(40 << 20), 4'273'786U * 5 / 2);
}

}  // namespace
}  // namespace simverbs::gpu
