// The example algorithm, reached as any other: by its name.
#include <gtest/gtest.h>

#include "tests/unit/models/cc/bottleneck.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

Ack one_packet(uint32_t psn, uint32_t next, bool marked) {
    return {.acked_bytes = 1000, .ack_psn = wire::Psn(psn), .next_psn = wire::Psn(next), .ecn_echo = marked};
}

TEST(AimdWindow, HalvesOnceARoundTripAndGainsAPacketAWindow) {
    QpUnderTest qp("aimd-window", plain_path(100, 8));
    EXPECT_EQ(qp.control().window_bytes, 100'000);
    qp.ack(one_packet(0, 100, true));
    EXPECT_EQ(qp.control().window_bytes, 50'000);
    qp.ack(one_packet(1, 100, true));
    EXPECT_EQ(qp.control().window_bytes, 50'000);
    // One packet of 50: a fiftieth of a packet.
    qp.ack(one_packet(2, 100, false));
    EXPECT_EQ(qp.control().window_bytes, 50'020);
    qp.ack(one_packet(100, 150, true));
    EXPECT_EQ(qp.control().window_bytes, 25'010);
    qp.timeout(sim::SimTime::ms(1));
    EXPECT_EQ(qp.control().window_bytes, 1000);
}

TEST(AimdWindow, FourFlowsKeepTheLinkBusyAndShareIt) {
    const auto aimd = make(*find_algorithm("aimd-window"));
    const auto line = sim::BitRate::gbps(100);
    Bottleneck net(*aimd, {.path = plain_path(100, 8),
                           .rate = line,
                           .round_trip = sim::SimTime::us(8),
                           .ecn = {50'000, 150'000, 0.1, {}},
                           .sources = 4});
    net.run_until(sim::SimTime::ms(5));
    net.measure_from_now();
    net.run_until(sim::SimTime::ms(25));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(net.mean_rate_bps(i), 25e9, 2.5e9);
    EXPECT_GT(net.mean_queue_bytes(), 1'000);
    EXPECT_LT(net.mean_queue_bytes(), 150'000);
}

}  // namespace

}  // namespace simverbs::cc::test
