// Times as counts by size.
#include "sim/stats/time_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/rng.hpp"

namespace simverbs::sim {
namespace {

TEST(TimeHistogram, PercentilesAreThoseOfTheTimesToAHundredthAndTheMeanIsExact) {
    TimeHistogram histogram;
    std::vector<double> times;
    double sum = 0;
    for (uint64_t i = 0; i < 20'000; ++i) {
        const auto ps = static_cast<int64_t>(mix64(i) >> (20 + mix64(~i) % 43));
        histogram.add(SimTime::ps(ps));
        times.push_back(static_cast<double>(ps));
        sum += static_cast<double>(ps);
    }
    std::ranges::sort(times);
    EXPECT_EQ(histogram.count(), times.size());
    EXPECT_DOUBLE_EQ(histogram.sum(), sum);
    for (const double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
        const auto rank = static_cast<size_t>(std::max(std::ceil(percent / 100 * 20'000), 1.0));
        EXPECT_NEAR(histogram.percentile(percent), times[rank - 1], times[rank - 1] / 100) << percent;
    }
}

TEST(TimeHistogram, SmallTimesAreExact) {
    TimeHistogram histogram;
    for (int64_t ps = 0; ps < 100; ++ps) histogram.add(SimTime::ps(ps));
    EXPECT_EQ(histogram.percentile(0), 0);
    EXPECT_EQ(histogram.percentile(50), 49);
    EXPECT_EQ(histogram.percentile(100), 99);
}

TEST(TimeHistogram, WhatIsLeftAfterAnEarlierCopyIsWhatCameSince) {
    TimeHistogram histogram;
    histogram.add(SimTime::us(5));
    const TimeHistogram earlier = histogram;
    histogram.add(SimTime::us(100));
    histogram.add(SimTime::us(100));
    histogram.subtract(earlier);
    EXPECT_EQ(histogram.count(), 2U);
    EXPECT_NEAR(histogram.percentile(0), 100e6, 1e6);
    TimeHistogram sum = earlier;
    sum.add(histogram);
    EXPECT_EQ(sum.count(), 3U);
    EXPECT_NEAR(sum.percentile(0), 5e6, 5e4);
}

}  // namespace
}  // namespace simverbs::sim
