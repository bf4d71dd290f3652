#include "scenarios/workloads/size_distribution.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "sim/rng.hpp"

namespace simverbs::scenarios::workloads {
namespace {

TEST(SizeDistribution, MeansAreTheTrapezoidsAreas) {
    constexpr std::array<CdfPoint, 2> kUniform{{{0, 0}, {1000, 100}}};
    EXPECT_DOUBLE_EQ(SizeDistribution(kUniform).mean_bytes(), 500);
    constexpr std::array<CdfPoint, 3> kTwo{{{100, 0}, {200, 50}, {1000, 100}}};
    EXPECT_DOUBLE_EQ(SizeDistribution(kTwo).mean_bytes(), 0.5 * 150 + 0.5 * 600);
    // By hand from the table of WebSearch: sum of (a + b) / 2 x percent / 100.
    const SizeDistribution web(find_distribution("WebSearch")->points);
    EXPECT_NEAR(web.mean_bytes(), 1'711'250, 0.5);
}

TEST(SizeDistribution, BuiltInOnesAreRightAndFoundByTheirNames) {
    ASSERT_EQ(built_in_distributions().size(), 3U);
    for (const BuiltInDistribution& distribution : built_in_distributions()) {
        EXPECT_TRUE(check_cdf(distribution.points).empty()) << distribution.name;
        EXPECT_EQ(find_distribution(distribution.name), &distribution);
        EXPECT_FALSE(distribution.source.empty());
    }
    EXPECT_EQ(find_distribution("FbHadoop"), find_distribution("FbHdp"));
    EXPECT_EQ(find_distribution("AliStorage"), find_distribution("AliStorage2019"));
    EXPECT_EQ(find_distribution("websearch2"), nullptr);
}

TEST(SizeDistribution, SizesAreInterpolatedBetweenThePoints) {
    const SizeDistribution web(find_distribution("WebSearch")->points);
    EXPECT_EQ(web.size_at(0), 1);  // nothing has 0 bytes
    EXPECT_EQ(web.size_at(0.075), 5'000);
    EXPECT_EQ(web.size_at(0.985), 20'000'000);
    EXPECT_LE(web.size_at(std::nextafter(1.0, 0.0)), 30'000'000);
    EXPECT_NEAR(web.share_up_to(5'000), 0.075, 1e-12);
    EXPECT_EQ(web.share_up_to(4e7), 1);
}

TEST(SizeDistribution, AFirstPointAboveZeroPercentBeginsAtZeroBytes) {
    constexpr std::array<CdfPoint, 2> kPoints{{{1000, 50}, {2000, 100}}};
    const SizeDistribution sizes(kPoints);
    EXPECT_EQ(sizes.points().size(), 3U);
    EXPECT_EQ(sizes.size_at(0.25), 500);
    EXPECT_DOUBLE_EQ(sizes.mean_bytes(), 1000);
}

TEST(SizeDistribution, DrawnSizesFollowTheCdf) {
    constexpr int kCount = 200'000;
    for (const BuiltInDistribution& distribution : built_in_distributions()) {
        const SizeDistribution sizes(distribution.points);
        const sim::Draws draws(7, sim::component_id(distribution.name), sim::DrawPurpose::Workload);
        std::vector<double> drawn(kCount);
        for (int i = 0; i < kCount; ++i) drawn[i] = static_cast<double>(sizes.size_at(draws.unit(i)));
        std::sort(drawn.begin(), drawn.end());
        double distance = 0;
        for (int i = 0; i < kCount; ++i) {
            const double share = sizes.share_up_to(drawn[i]);
            // Sizes are rounded down to whole bytes: the CDF at the next byte bounds the tie from above.
            const double next = sizes.share_up_to(drawn[i] + 1);
            distance = std::max({distance, share - (i + 1.0) / kCount, static_cast<double>(i) / kCount - next});
        }
        // Kolmogorov: P(distance > 1.95 / sqrt(n)) = 0.1 %.
        EXPECT_LT(distance, 1.95 / std::sqrt(kCount)) << distribution.name;
    }
}

TEST(SizeDistribution, EveryWrongPointIsNamed) {
    const std::vector<CdfPoint> points{{0, 5}, {-1, 200}, {10, 50}, {10, 40}};
    std::vector<std::size_t> where;
    for (const CdfProblem& problem : check_cdf(points)) where.push_back(problem.point);
    EXPECT_EQ(where, (std::vector<std::size_t>{0, 1, 1, 1, 2, 3, 3, 3}));
    EXPECT_EQ(check_cdf({}).size(), 1U);
    const std::vector<CdfPoint> not_a_number{{10, std::nan("")}, {20, 100}};
    EXPECT_FALSE(check_cdf(not_a_number).empty());
}

}  // namespace
}  // namespace simverbs::scenarios::workloads
