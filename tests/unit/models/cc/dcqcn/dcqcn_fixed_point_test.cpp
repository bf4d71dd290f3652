// DCQCN against its fluid model: the rates and the queue at which N flows come to rest.
#include <gtest/gtest.h>

#include "models/cc/register_algorithms.hpp"
#include "tests/unit/models/cc/bottleneck.hpp"

namespace simverbs::cc::test {

namespace {

/// The fluid model's fixed point (Zhu et al., CoNEXT 2016) with the paper's parameters and 1000-byte packets.
struct FixedPoint {
    int64_t gbps = 0;
    std::size_t flows = 0;
    double queue_bytes = 0;
    /// Steps of 40 Mb/s even out slower at 100 Gb/s: there rates still differ after the time that the test takes.
    double rate_tolerance = 0.05;
};

/// The model's marking goes on beyond Kmax in a straight line.
EcnMarking extended_beyond_kmax(const EcnMarking& ecn) {
    constexpr int64_t kFurther = 50;
    return {ecn.kmin, ecn.kmin + kFurther * (ecn.kmax - ecn.kmin), kFurther * ecn.pmax, ecn.at_rate};
}

BottleneckConfig paper_bottleneck(int64_t gbps, std::size_t sources, NotificationPoint notification) {
    const auto line = sim::BitRate::gbps(gbps);
    return {.path = {line, sim::SimTime::us(4), 1000, 1000},
            .rate = line,
            .round_trip = sim::SimTime::us(4),
            .ecn = extended_beyond_kmax(find_preset(*find_algorithm("dcqcn"), "paper")->ecn),
            .sources = sources,
            .notification = notification};
}

class DcqcnFixedPoint : public testing::TestWithParam<FixedPoint> {};

TEST_P(DcqcnFixedPoint, FlowsShareTheLinkAndTheQueueRestsWhereTheFluidModelSays) {
    const FixedPoint expected = GetParam();
    const auto dcqcn = make(*find_algorithm("dcqcn"));
    // Periodic, as in the model: with probability a, one decrease in every interval.
    Bottleneck net(*dcqcn, paper_bottleneck(expected.gbps, expected.flows, NotificationPoint::Periodic));
    net.run_until(sim::SimTime::ms(100));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(500));

    const double fair = static_cast<double>(expected.gbps) * 1e9 / static_cast<double>(expected.flows);
    for (std::size_t i = 0; i < expected.flows; ++i)
        EXPECT_NEAR(net.mean_rate_bps(i), fair, expected.rate_tolerance * fair) << "flow " << i;
    EXPECT_NEAR(net.mean_queue_bytes(), expected.queue_bytes, 0.25 * expected.queue_bytes);
    RecordProperty("mean_queue_bytes", static_cast<int>(net.mean_queue_bytes()));
}

INSTANTIATE_TEST_SUITE_P(Flows, DcqcnFixedPoint,
                         testing::Values(FixedPoint{40, 2, 20'200}, FixedPoint{40, 4, 41'800},
                                         FixedPoint{40, 8, 93'800}, FixedPoint{100, 4, 16'400, 0.12}),
                         [](const auto& test) {
                             return std::to_string(test.param.flows) + "At" + std::to_string(test.param.gbps) + "G";
                         });

TEST(DcqcnBottleneck, FlowsThatStartAt38And2GbpsAreWithinATenthOfFairAfter36Ms) {
    const AlgorithmInfo& info = *find_algorithm("dcqcn");
    const auto dcqcn = make(info);
    Bottleneck net(*dcqcn, paper_bottleneck(40, 2, NotificationPoint::Periodic));
    const auto fast = make(info, {{"rate_to_set_on_first_cnp", 38 * kGbps}, {"rpg_min_dec_fac", 1}});
    const auto slow = make(info, {{"rate_to_set_on_first_cnp", 2 * kGbps}, {"rpg_min_dec_fac", 1}});
    net.put_cnp(0, *fast);
    net.put_cnp(1, *slow);
    net.run_until(sim::SimTime::ms(10));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(12));
    EXPECT_LT(net.mean_rate_bps(1), 0.5 * net.mean_rate_bps(0));
    net.run_until(sim::SimTime::ms(36));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(56));
    EXPECT_NEAR(net.mean_rate_bps(0), 20e9, 2e9);
    EXPECT_NEAR(net.mean_rate_bps(1), 20e9, 2e9);
}

TEST(DcqcnBottleneck, CnpsThatWaitForTheNextMarkAfterAnIntervalLeaveALongerQueue) {
    const auto dcqcn = make(*find_algorithm("dcqcn"));
    const auto mean_queue = [&](NotificationPoint notification) {
        Bottleneck net(*dcqcn, paper_bottleneck(40, 4, notification));
        net.run_until(sim::SimTime::ms(50));
        net.measure_from_now();
        net.run_until(sim::SimTime::ms(200));
        return net.mean_queue_bytes();
    };
    const double periodic = mean_queue(NotificationPoint::Periodic);
    const double immediate = mean_queue(NotificationPoint::Immediate);
    // An immediate CNP comes 50 us after the last at the earliest and hardly ever within the 55 us of the rate timer:
    // a round of fast recovery has always closed half of the gap to the target before the next decrease drops it.
    EXPECT_GT(immediate, 1.1 * periodic);
    EXPECT_LT(immediate, 1.5 * periodic);
}

}  // namespace

}  // namespace simverbs::cc::test
