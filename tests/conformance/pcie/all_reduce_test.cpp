// All-reduce on the model's links against published bus bandwidths.
// Source: NCCL's and vendors' published nccl-tests runs, GB/s: 8 H100 by rings about 370; 2 x 8 H100 with eight rails
// of 400 Gb/s 370...390; DGX A100 with eight rails of 200 Gb/s 192.
#include <gtest/gtest.h>

#include <array>

#include "models/gpu/ring_all_reduce.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using gpu::AllReduceSpec;
using gpu::ring_all_reduce;
using host::Complex;

double one_host(const host::PlatformSpec& p, uint64_t bytes = 256 << 20) {
    Complex c(p);
    Complex* const hosts[] = {&c};
    AllReduceSpec spec;
    spec.bytes = bytes;
    return ring_all_reduce(hosts, spec).bus_gb_s;
}
double two_hosts(const host::PlatformSpec& p, sim::BitRate rail) {
    Complex a(p), b(p);
    Complex* const hosts[] = {&a, &b};
    AllReduceSpec spec;
    // Packets of 4096 bytes with 82 of headers and gaps (RoCEv2).
    spec.rail_rate = sim::BitRate::bps(rail.in_bps() / 4178 * 4096);
    return ring_all_reduce(hosts, spec).bus_gb_s;
}
host::PlatformSpec without_nvlink(host::PlatformSpec p) {
    p.nvlink.switched_links = 0;
    return p;
}

TEST(AllReduce, OfEightH100ByARingHasThePublishedBusBandwidth) {
    EXPECT_NEAR(one_host(test::hgx_h100()), 370, 0.15 * 370);
}

TEST(AllReduce, OfTwiceEightH100OverEightRailsHasThePublishedBusBandwidth) {
    EXPECT_NEAR(two_hosts(test::hgx_h100(), sim::BitRate::gbps(400)), 380, 0.15 * 380);
}

TEST(AllReduce, OfTwoDgxA100OverEightRailsHasThePublishedBusBandwidth) {
    EXPECT_NEAR(two_hosts(test::dgx_a100(), sim::BitRate::gbps(200)), 192, 0.15 * 192);
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
