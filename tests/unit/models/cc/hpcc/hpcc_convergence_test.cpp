// HPCC on one link: utilisation η and hardly a queue.
#include <gtest/gtest.h>

#include <cstdio>

#include "models/cc/register_algorithms.hpp"
#include "tests/unit/models/cc/bottleneck.hpp"

namespace simverbs::cc::test {

namespace {

TEST(HpccConvergence, TwoFlowsFillTheLinkToEtaWithAlmostNoQueue) {
    const auto hpcc = make(*find_algorithm("hpcc"));
    const auto line = sim::BitRate::gbps(100);
    Bottleneck net(*hpcc, {.path = {line, sim::SimTime::us(8), 1062, 1000},
                           .rate = line,
                           .round_trip = sim::SimTime::us(8),
                           .ecn = {},
                           .sources = 2});
    net.run_until(sim::SimTime::ms(5));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(15));

    const double total = net.mean_rate_bps(0) + net.mean_rate_bps(1);
    printf("total %.3f flows %.3f %.3f queue %.0f max %.0f\n", total * 1e-9, net.mean_rate_bps(0) * 1e-9,
           net.mean_rate_bps(1) * 1e-9, net.mean_queue_bytes(), net.largest_queue_bytes());
    EXPECT_NEAR(total, 0.95 * 100e9, 0.015 * 100e9);
    EXPECT_NEAR(net.mean_rate_bps(0), total / 2, 0.05 * total / 2);
    // The bandwidth-delay product is 100 KB.
    EXPECT_LT(net.mean_queue_bytes(), 3'000);
    EXPECT_LT(net.largest_queue_bytes(), 10'000);
}

}  // namespace

}  // namespace simverbs::cc::test
