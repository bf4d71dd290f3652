// DCQCN against its fluid model: the rates and the queue at which N flows come to rest.
#include <gtest/gtest.h>

#include "models/cc/register_algorithms.hpp"
#include "tests/unit/models/cc/bottleneck.hpp"

namespace simverbs::cc::test {

namespace {

/// The fluid model's fixed point (Zhu et al., CoNEXT 2016) with the paper's parameters, 1000-byte packets at 40 Gb/s.
struct FixedPoint {
    std::size_t flows = 0;
    double queue_bytes = 0;
    double marked_share = 0;
};

/// The model's marking goes on beyond Kmax in a straight line.
EcnMarking extended_beyond_kmax(const EcnMarking& ecn) {
    constexpr int64_t kFurther = 50;
    return {ecn.kmin, ecn.kmin + kFurther * (ecn.kmax - ecn.kmin), kFurther * ecn.pmax, ecn.at_rate};
}

class DcqcnFixedPoint : public testing::TestWithParam<FixedPoint> {};

TEST_P(DcqcnFixedPoint, FlowsShareTheLinkAndTheQueueRestsWhereTheFluidModelSays) {
    const FixedPoint expected = GetParam();
    const AlgorithmInfo* info = find_algorithm("dcqcn");
    const Preset* paper = find_preset(*info, "paper");
    const auto dcqcn = make(*info, with_preset(*paper));
    const auto line = sim::BitRate::gbps(40);
    Bottleneck net(*dcqcn, {.path = {line, sim::SimTime::us(4), 1000, 1000},
                            .rate = line,
                            .round_trip = sim::SimTime::us(4),
                            .ecn = extended_beyond_kmax(paper->ecn),
                            .sources = expected.flows,
                            // The model's: with probability a, one decrease in every interval.
                            .notification = NotificationPoint::Periodic});
    net.run_until(sim::SimTime::ms(200));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(1000));

    const double fair = 40e9 / static_cast<double>(expected.flows);
    for (std::size_t i = 0; i < expected.flows; ++i)
        EXPECT_NEAR(net.mean_rate_bps(i), fair, 0.05 * fair) << "flow " << i;
    EXPECT_NEAR(net.mean_queue_bytes(), expected.queue_bytes, 0.25 * expected.queue_bytes);
    EXPECT_NEAR(net.marked_share(), expected.marked_share, 0.25 * expected.marked_share);
}

INSTANTIATE_TEST_SUITE_P(Flows, DcqcnFixedPoint,
                         testing::Values(FixedPoint{2, 20'200, 0.000777}, FixedPoint{4, 41'800, 0.001888},
                                         FixedPoint{8, 93'800, 0.004552}),
                         [](const auto& test) { return std::to_string(test.param.flows); });

TEST(DcqcnBottleneck, CnpsThatWaitForTheNextMarkAfterAnIntervalLeaveALongerQueue) {
    const AlgorithmInfo* info = find_algorithm("dcqcn");
    const Preset* paper = find_preset(*info, "paper");
    const auto dcqcn = make(*info, with_preset(*paper));
    const auto line = sim::BitRate::gbps(40);
    double queue[2] = {};
    for (const auto notification : {NotificationPoint::Periodic, NotificationPoint::Immediate}) {
        Bottleneck net(*dcqcn, {.path = {line, sim::SimTime::us(4), 1000, 1000},
                                .rate = line,
                                .round_trip = sim::SimTime::us(4),
                                .ecn = extended_beyond_kmax(paper->ecn),
                                .sources = 4,
                                .notification = notification});
        net.run_until(sim::SimTime::ms(200));
        net.measure_from_now();
        net.run_until(sim::SimTime::ms(1000));
        queue[static_cast<int>(notification)] = net.mean_queue_bytes();
    }
    // An immediate CNP comes 50 us after the last at the earliest and hardly ever within the 55 us of the rate timer:
    // a round of fast recovery has always closed half of the gap to the target before the next decrease drops it.
    EXPECT_GT(queue[0], 1.1 * queue[1]);
    EXPECT_LT(queue[0], 1.5 * queue[1]);
}

}  // namespace

}  // namespace simverbs::cc::test
