#include "models/pcie/utilisation.hpp"

#include <gtest/gtest.h>

namespace simverbs::pcie {
namespace {

using sim::SimTime;

TEST(Utilisation, SplitsASpanOverItsBins) {
    Utilisation u;
    u.add(SimTime::ns(500), SimTime::ns(1200));
    EXPECT_EQ(u.bin(0), SimTime::ns(500));
    EXPECT_EQ(u.bin(1), SimTime::ns(700));
    EXPECT_EQ(u.total(), SimTime::ns(1200));
}

TEST(Utilisation, WidensItsBinsWhenTimeGoesOnAndLosesNothing) {
    Utilisation u;
    for (int i = 0; i < 1000; ++i) u.add(SimTime::us(i), SimTime::ns(i % 2 == 0 ? 1000 : 0));
    EXPECT_EQ(u.width(), SimTime::us(4));
    SimTime sum;
    for (uint32_t i = 0; i < Utilisation::kBins; ++i) sum += u.bin(i);
    EXPECT_EQ(sum, SimTime::us(500));
    EXPECT_EQ(u.bin(0), SimTime::us(2));
    EXPECT_EQ(u.bin(249), SimTime::us(2));
}

}  // namespace
}  // namespace simverbs::pcie
