#include "scenarios/expect/statistic.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "scenarios/expect/value_text.hpp"

namespace simverbs::scenarios::expect {
namespace {

TEST(Statistic, APercentileIsTheSmallestValueThatSoManyAreNotAbove) {
    std::vector<double> values(1'000);
    std::iota(values.begin(), values.end(), 1.0);
    EXPECT_EQ(nearest_rank(values, 0), 1);
    EXPECT_EQ(nearest_rank(values, 50), 500);
    EXPECT_EQ(nearest_rank(values, 99), 990);
    EXPECT_EQ(nearest_rank(values, 99.9), 999);
    EXPECT_EQ(nearest_rank(values, 99.91), 1'000);
    EXPECT_EQ(nearest_rank(values, 100), 1'000);
    EXPECT_EQ(nearest_rank(std::vector<double>{7}, 99), 7);
}

TEST(Statistic, ADistributionHasTheTablesColumns) {
    const Distribution d = distribution_of({4, 1, 3, 2});
    EXPECT_EQ(d.count, 4U);
    EXPECT_EQ(d.mean, 2.5);
    EXPECT_EQ(d.min, 1);
    EXPECT_EQ(d.p50, 2);
    EXPECT_EQ(d.p95, 4);
    EXPECT_EQ(d.max, 4);
    EXPECT_EQ(distribution_of({}).count, 0U);
}

TEST(Statistic, JainsIndexIsOneIfAllAreEqualAndOneNthIfOneHasAll) {
    EXPECT_EQ(jain_index(std::vector<double>{3, 3, 3}), 1);
    EXPECT_EQ(jain_index(std::vector<double>{8, 0, 0, 0}), 0.25);
    EXPECT_EQ(jain_index(std::vector<double>{0, 0}), 0);
}

TEST(ValueText, HasFourDigitsAndTheLargestUnitBelow) {
    EXPECT_EQ(value_text(MetricUnit::Count, 1'234'567), "1234567");
    EXPECT_EQ(value_text(MetricUnit::Number, 12.34567), "12.35");
    EXPECT_EQ(value_text(MetricUnit::Ratio, 0.975), "97.5 %");
    EXPECT_EQ(value_text(MetricUnit::Time, 1'234'567), "1.235 us");
    EXPECT_EQ(value_text(MetricUnit::Time, 0), "0 ps");
    EXPECT_EQ(value_text(MetricUnit::Size, 1'200'000), "1.2 MB");
    EXPECT_EQ(value_text(MetricUnit::Rate, 39.7e9), "39.7 Gb/s");
    EXPECT_EQ(value_text(MetricUnit::Number, 9'999.7), "10000");
    EXPECT_EQ(exact_value_text(MetricUnit::Time, 1'234'567), "1.234567 us");
}

}  // namespace
}  // namespace simverbs::scenarios::expect
