// All-reduce on the model's links against published bus bandwidths.
// Source: NCCL's and vendors' published nccl-tests runs, GB/s: 8 H100 by rings about 370; 2 x 8 H100 with eight rails
// of 400 Gb/s 370...390; DGX A100 with eight rails of 200 Gb/s 192.
#include <gtest/gtest.h>

#include "tests/conformance/pcie/all_reduce_rig.hpp"
#include "tests/conformance/pcie/published.hpp"

namespace simverbs {
namespace {

using test::one_host;
using test::two_hosts;
using test::without_nvlink;

TEST(AllReduce, OfEightH100ByARingHasThePublishedBusBandwidth) {
    EXPECT_NEAR(one_host(test::hgx_h100()), test::kRingOf8H100, 0.15 * test::kRingOf8H100);
}

TEST(AllReduce, OfTwiceEightH100OverEightRailsHasThePublishedBusBandwidth) {
    EXPECT_NEAR(two_hosts(test::hgx_h100(), sim::BitRate::gbps(400)), test::kRailsOf16H100,
                0.15 * test::kRailsOf16H100);
}

TEST(AllReduce, OfTwoDgxA100OverEightRailsHasThePublishedBusBandwidth) {
    EXPECT_NEAR(two_hosts(test::dgx_a100(), sim::BitRate::gbps(200)), test::kRailsOf16A100,
                0.15 * test::kRailsOf16A100);
}

TEST(AllReduce, WithoutNvlinkIsSlowerByFarWithinAHostAndBetweenTwo) {
    EXPECT_LT(one_host(without_nvlink(test::hgx_h100())), one_host(test::hgx_h100()) / 8);
    EXPECT_LT(two_hosts(without_nvlink(test::hgx_h100()), sim::BitRate::gbps(400)),
              two_hosts(test::hgx_h100(), sim::BitRate::gbps(400)) / 4);
}

TEST(AllReduce, OfLittleIsBoundByLatency) {
    EXPECT_LT(one_host(test::hgx_h100(), 64 << 10), 20);
}

TEST(AllReduce, TakesTheSameTimeEachTime) {
    EXPECT_EQ(one_host(test::dgx_a100(), 8 << 20), one_host(test::dgx_a100(), 8 << 20));
}

}  // namespace
}  // namespace simverbs
