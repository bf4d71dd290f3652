// RED's arithmetic by hand.
#include "models/ecn/red_marking.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace simverbs::ecn {
namespace {

constexpr RedParams kRed{.kmin = 100'000, .kmax = 400'000, .pmax = 0.2};

TEST(RedMarking, GrowsInALineFromNothingAtKminToPmaxAtKmax) {
    EXPECT_EQ(mark_probability(kRed, 0), 0);
    EXPECT_EQ(mark_probability(kRed, 100'000), 0);
    EXPECT_NEAR(mark_probability(kRed, 100'001), 0.2 / 300'000, 1e-15);
    EXPECT_DOUBLE_EQ(mark_probability(kRed, 250'000), 0.1);
    EXPECT_DOUBLE_EQ(mark_probability(kRed, 400'000), 0.2);
    EXPECT_EQ(mark_probability(kRed, 400'001), 1) << "above Kmax everything";
}

TEST(RedMarking, ADrawBelowTheProbabilityMarks) {
    constexpr double kWhole = 18446744073709551616.0;  // 2^64
    const auto draw = [](double part) { return static_cast<uint64_t>(part * kWhole); };
    EXPECT_TRUE(decide_mark(kRed, 250'000, draw(0.0999)));
    EXPECT_FALSE(decide_mark(kRed, 250'000, draw(0.1001)));
    EXPECT_TRUE(decide_mark(kRed, 100'001, 0)) << "the least draw marks whatever can be marked";
    EXPECT_FALSE(decide_mark(kRed, 100'000, 0));
    EXPECT_TRUE(decide_mark(kRed, 400'001, std::numeric_limits<uint64_t>::max()));
    EXPECT_FALSE(decide_mark(kRed, 400'000, std::numeric_limits<uint64_t>::max()));
}

TEST(RedMarking, OneThresholdIsAStep) {
    constexpr RedParams step{.kmin = 30'000, .kmax = 30'000, .pmax = 1};
    EXPECT_FALSE(decide_mark(step, 30'000, 0));
    EXPECT_TRUE(decide_mark(step, 30'001, std::numeric_limits<uint64_t>::max()));
}

TEST(RedMarking, OfManyDrawsTheSharePmaxMarks) {
    const sim::ByteCount queue = 400'000;
    int marks = 0;
    uint64_t x = 1;
    for (int i = 0; i < 100'000; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        marks += decide_mark(kRed, queue, x) ? 1 : 0;
    }
    EXPECT_NEAR(marks, 20'000, 4 * 126);  // four standard deviations
}

}  // namespace
}  // namespace simverbs::ecn
