// The DCTCP-style window against values computed by hand.
#include <gtest/gtest.h>

#include "models/cc/dctcp/dctcp_arithmetic.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

TEST(DctcpArithmetic, AlphaMovesBySixteenthsTowardsTheMarkedShare) {
    static_assert(dctcp::marked_share(500, 2000) == 0.25);
    static_assert(dctcp::marked_share(0, 0) == 0);
    static_assert(dctcp::updated_alpha(1.0, 0.0, 1.0 / 16) == 15.0 / 16);
    static_assert(dctcp::updated_alpha(0.5, 0.25, 1.0 / 16) == 0.5 * 15 / 16 + 0.25 / 16);
    static_assert(dctcp::decreased_rate(sim::BitRate::gbps(10), 0.5, sim::BitRate::mbps(1)) ==
                  sim::BitRate::mbps(7500));
}

class DctcpQp : public testing::Test {
  protected:
    DctcpQp() : qp_("dctcp", plain_path(100, 8), {{"dctcp_ai_rate", 100e6}}) {}
    void ack(uint32_t psn, uint32_t next, bool marked) {
        qp_.ack({.acked_bytes = 1000, .ack_psn = wire::Psn(psn), .next_psn = wire::Psn(next), .ecn_echo = marked});
    }
    QpUnderTest qp_;
};

TEST_F(DctcpQp, ARoundTripWithMarksCostsHalfOfAlphaOnce) {
    EXPECT_EQ(qp_.control().window_bytes, 100'000);
    ack(0, 100, false);
    // Alpha is 1 until the first round trip is over.
    ack(1, 101, true);
    EXPECT_EQ(qp_.control().window_bytes, 50'000);
    EXPECT_EQ(qp_.mbps(), 50'000);
    for (uint32_t psn = 2; psn <= 100; ++psn) ack(psn, 101, true);
    EXPECT_EQ(qp_.mbps(), 50'000);
    // PSN 101 was sent after the decrease: the next one may come. All 100 of the round trip were marked: alpha is 1.
    ack(101, 151, true);
    EXPECT_EQ(qp_.mbps(), 25'000);
}

TEST_F(DctcpQp, EachRoundTripWithoutMarksAddsOneStepAndLowersAlpha) {
    ack(0, 10, false);
    ack(1, 11, true);
    EXPECT_EQ(qp_.mbps(), 50'000);
    // Round trip 2 of PSNs 1 … 10: alpha 15/16 + (1/10)/16; the decrease is over at PSN 11.
    for (uint32_t psn = 2; psn <= 9; ++psn) ack(psn, 11, false);
    ack(10, 20, false);
    EXPECT_EQ(qp_.mbps(), 50'000);
    for (uint32_t psn = 11; psn <= 19; ++psn) ack(psn, 20, false);
    ack(20, 30, false);
    EXPECT_EQ(qp_.mbps(), 50'100);
}

TEST(Dctcp, UnpacedItSendsInBurstsAtTheLineRate) {
    QpUnderTest qp("dctcp", plain_path(100, 8), {{"paced", 0}});
    qp.ack({.acked_bytes = 1000, .ack_psn = wire::Psn(0), .next_psn = wire::Psn(10), .ecn_echo = true});
    EXPECT_EQ(qp.mbps(), 100'000);
    EXPECT_EQ(qp.control().window_bytes, 50'000);
}

}  // namespace

}  // namespace simverbs::cc::test
