#include "models/pcie/link_rates.hpp"

#include <gtest/gtest.h>

namespace simverbs::pcie {
namespace {

double gbps(sim::BitRate r) {
    return static_cast<double>(r.in_bps()) * 1e-9;
}

// Source: pcie-bench (SIGCOMM 2018).
TEST(LinkRates, AreRawRatesLessAcksUpdatesAndSkips) {
    EXPECT_NEAR(gbps(raw_rate({3, 16, 256})), 126.0, 0.05);
    EXPECT_NEAR(gbps(tlp_rate({3, 16, 256})), 113.7, 0.05);
    EXPECT_NEAR(gbps(raw_rate({4, 16, 256})), 252.1, 0.05);
    EXPECT_NEAR(gbps(tlp_rate({4, 16, 256})), 227.4, 0.05);
    EXPECT_NEAR(gbps(raw_rate({5, 16, 256})), 504.1, 0.05);
    EXPECT_NEAR(gbps(tlp_rate({5, 16, 256})), 454.8, 0.05);
}

TEST(LinkRates, OfTheFirstGenerationsAreEightOfTenBits) {
    EXPECT_EQ(raw_rate({1, 1, 128}), sim::BitRate::gbps(2));
    EXPECT_EQ(raw_rate({2, 4, 128}), sim::BitRate::gbps(16));
}

TEST(LinkRates, EveryLinkThatThereIsHasLessForTlpsThanRaw) {
    for (const GenerationRow& g : kGenerations)
        for (const uint8_t lanes : kWidths)
            for (const uint16_t size : kPayloadSizes) {
                const LinkSpec l{g.generation, lanes, size};
                EXPECT_TRUE(is_link(l));
                EXPECT_LT(tlp_rate(l), raw_rate(l));
                EXPECT_GT(gbps(tlp_rate(l)), 0.6 * gbps(raw_rate(l)));
            }
}

TEST(LinkRates, LinksThatThereAreNot) {
    EXPECT_FALSE(is_link({0, 16, 256}));
    EXPECT_FALSE(is_link({6, 16, 256}));
    EXPECT_FALSE(is_link({4, 12, 256}));
    EXPECT_FALSE(is_link({4, 32, 256}));
    EXPECT_FALSE(is_link({4, 16, 64}));
    EXPECT_FALSE(is_link({4, 16, 300}));
}

TEST(Training, IsToTheSmallerOfEach) {
    EXPECT_EQ(trained({3, 16, 512}, {5, 8, 256}), (LinkSpec{3, 8, 256}));
}

}  // namespace
}  // namespace simverbs::pcie
