// HPCC on one link: utilisation η and hardly a queue.
#include <gtest/gtest.h>

#include "models/cc/register_algorithms.hpp"
#include "tests/unit/models/cc/bottleneck.hpp"

namespace simverbs::cc::test {

namespace {

BottleneckConfig two_flows_at_100g() {
    const auto line = sim::BitRate::gbps(100);
    return {.path = {line, sim::SimTime::us(8), 1062, 1000},
            .rate = line,
            .round_trip = sim::SimTime::us(8),
            .ecn = {},
            .sources = 2};
}

TEST(HpccConvergence, TwoFlowsFillTheLinkToEtaWithAlmostNoQueue) {
    const auto hpcc = make(*find_algorithm("hpcc"));
    Bottleneck net(*hpcc, two_flows_at_100g());
    net.run_until(sim::SimTime::ms(1));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(20));

    EXPECT_NEAR(net.mean_rate_bps(0) + net.mean_rate_bps(1), 95e9, 1e9);
    // The bandwidth-delay product is 100 KB; a packet is 1062 bytes.
    EXPECT_LT(net.mean_queue_bytes(), 2'000);
    EXPECT_LT(net.largest_queue_bytes(), 10'000);
}

// The default step of 40 Mb/s is too small for it here: without any noise one flow's packets always depart before
// the other's, see one packet less behind them (1% of the bandwidth-delay product), and that weighs more.
TEST(HpccConvergence, WithAStepThatOutweighsOnePacketTheFlowsAreFair) {
    const auto hpcc = make(*find_algorithm("hpcc"), {{"ai_rate", 400 * kMbps}});
    Bottleneck net(*hpcc, two_flows_at_100g());
    net.run_until(sim::SimTime::ms(10));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(20));

    const double total = net.mean_rate_bps(0) + net.mean_rate_bps(1);
    EXPECT_NEAR(total, 95e9, 1e9);
    EXPECT_NEAR(net.mean_rate_bps(0), total / 2, 0.05 * total / 2);
    EXPECT_LT(net.mean_queue_bytes(), 2'000);
}

TEST(HpccConvergence, AnIncastOf16DrainsWithinTwentyRoundTrips) {
    const auto hpcc = make(*find_algorithm("hpcc"));
    BottleneckConfig config = two_flows_at_100g();
    config.sources = 16;
    Bottleneck net(*hpcc, config);
    net.run_until(sim::SimTime::us(100));
    // The windows hold it to what 16 senders have in flight before the first ACK.
    EXPECT_LE(net.largest_queue_bytes(), 16 * 1062 * 101);
    net.run_until(sim::SimTime::us(320));
    net.measure_from_now();
    net.run_until(sim::SimTime::us(400));
    EXPECT_LT(net.mean_queue_bytes(), 30'000);
}

}  // namespace

}  // namespace simverbs::cc::test
