// HPCC's arithmetic and its reaction to ACKs, against values computed by hand.
#include <gtest/gtest.h>

#include <array>

#include "models/cc/hpcc/hpcc_arithmetic.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

using sim::BitRate;
using sim::SimTime;

// 100 Gb/s and 8 us: the bandwidth-delay product is 100 KB.
constexpr BitRate kRate = BitRate::gbps(100);
constexpr SimTime kBase = SimTime::us(8);

TEST(HpccArithmetic, LoadIsTheShareSentPlusTheSmallerQueueOverTheBandwidthDelayProduct) {
    // 50 KB in 8 us is half the rate.
    EXPECT_DOUBLE_EQ(hpcc::link_load({SimTime::us(1), 1000, 0}, {SimTime::us(9), 51'000, 0}, kRate, kBase), 0.5);
    EXPECT_DOUBLE_EQ(hpcc::link_load({SimTime::us(1), 0, 50'000}, {SimTime::us(9), 100'000, 20'000}, kRate, kBase),
                     1.2);
    EXPECT_DOUBLE_EQ(hpcc::link_load({SimTime::us(1), 0, 0}, {SimTime::us(9), 100'000, 20'000}, kRate, kBase), 1.0);
}

TEST(HpccArithmetic, ASampleWeighsAsMuchAsItCoversOfTheBaseRtt) {
    EXPECT_DOUBLE_EQ(hpcc::averaged_load(1.0, 0.6, SimTime::us(2), kBase), 0.9);
    EXPECT_DOUBLE_EQ(hpcc::averaged_load(1.0, 0.6, SimTime::us(8), kBase), 0.6);
    EXPECT_DOUBLE_EQ(hpcc::averaged_load(1.0, 0.6, SimTime::us(80), kBase), 0.6);
}

TEST(HpccArithmetic, RateIsBroughtToEtaAtOnceAboveItAndAfterMaxStageSteps) {
    const auto next = [](double load, int64_t stage, int64_t max_stage) {
        return hpcc::next_rate(BitRate::gbps(50), load, stage, 0.5, max_stage, BitRate::mbps(40), BitRate::gbps(1),
                               kRate);
    };
    // Twice the load wanted: half the rate, plus the step.
    EXPECT_EQ(next(1.0, 0, 5).rate, BitRate::mbps(25'040));
    EXPECT_EQ(next(1.0, 3, 5).inc_stage, 0);
    // Below: five steps, then multiplicative.
    EXPECT_EQ(next(0.4, 4, 5).rate, BitRate::mbps(50'040));
    EXPECT_EQ(next(0.4, 4, 5).inc_stage, 5);
    EXPECT_EQ(next(0.4, 5, 5).rate, BitRate::mbps(62'540));
    EXPECT_EQ(next(0.4, 5, 5).inc_stage, 0);
    // max_stage 0: always multiplicative. Between the least and the line rate.
    EXPECT_EQ(next(0.4, 0, 0).rate, BitRate::mbps(62'540));
    EXPECT_EQ(next(0.0, 0, 0).rate, kRate);
    EXPECT_EQ(next(0.01, 0, 0).rate, kRate);
    EXPECT_EQ(next(500, 0, 0).rate, BitRate::gbps(1));
}

/// ACKs with one hop of a link that sends at `share` of its rate and has `queue` bytes waiting.
class OneHop {
  public:
    Ack ack(SimTime now, double share, uint32_t queue, uint32_t psn, uint32_t next_psn) {
        const SimTime elapsed = now - hop_[0].time;
        hop_[0].time = now;
        hop_[0].tx_bytes += static_cast<uint64_t>(static_cast<double>(elapsed.in_ps()) * share / 80 + 0.5);
        hop_[0].queue_bytes = queue;
        hop_[0].rate = HopRate(kRate);
        return {
            .now = now, .acked_bytes = 1000, .ack_psn = wire::Psn(psn), .next_psn = wire::Psn(next_psn), .hops = hop_};
    }

  private:
    std::array<HopInt, 1> hop_ = {};
};

TEST(Hpcc, TheFirstAckIsOnlyRememberedThenEachActsOnTheSameReferenceForARoundTrip) {
    QpUnderTest qp("hpcc", plain_path(100, 8), {{"ai_rate", 40e6}});
    OneHop link;
    EXPECT_EQ(qp.control().window_bytes, 100'000);
    qp.ack(link.ack(SimTime::us(10), 1.0, 95'000, 0, 100));
    EXPECT_EQ(qp.mbps(), 100'000);
    // A whole base RTT later: load 1 + 0.9, rate 100 / (1.9 / 0.95) + 0.04. PSN 50 was sent before 100: fast reaction.
    qp.ack(link.ack(SimTime::us(18), 1.0, 90'000, 50, 150));
    EXPECT_EQ(qp.mbps(), 50'040);
    EXPECT_EQ(qp.control().window_bytes, 50'040);
    // The same again: still from the reference of 100.
    qp.ack(link.ack(SimTime::us(26), 1.0, 90'000, 99, 160));
    EXPECT_EQ(qp.mbps(), 50'040);
    // PSN 100, the first sent after the reference was set: now it becomes the reference.
    qp.ack(link.ack(SimTime::us(34), 1.0, 90'000, 100, 170));
    EXPECT_EQ(qp.mbps(), 50'040);
    qp.ack(link.ack(SimTime::us(42), 1.0, 90'000, 101, 180));
    EXPECT_EQ(qp.mbps(), 25'060);
}

TEST(Hpcc, WithoutFastReactionTheRateChangesOnceARoundTrip) {
    QpUnderTest qp("hpcc", plain_path(100, 8), {{"fast_react", 0}, {"ai_rate", 40e6}});
    OneHop link;
    qp.ack(link.ack(SimTime::us(10), 1.0, 95'000, 0, 100));
    qp.ack(link.ack(SimTime::us(18), 1.0, 95'000, 50, 150));
    EXPECT_EQ(qp.mbps(), 100'000);
    qp.ack(link.ack(SimTime::us(26), 1.0, 0, 100, 160));
    EXPECT_LT(qp.mbps(), 100'000);
}

TEST(Hpcc, TheMostLoadedHopDecidesAndAnotherPathStartsAnew) {
    QpUnderTest qp("hpcc", plain_path(100, 8), {{"ai_rate", 40e6}});
    std::array<HopInt, 2> hops = {};
    for (HopInt& hop : hops) hop = {SimTime::us(10), 0, 0, HopRate(kRate)};
    Ack ack = {.ack_psn = wire::Psn(0), .next_psn = wire::Psn(10), .hops = hops};
    qp.ack(ack);
    hops[0] = {SimTime::us(18), 20'000, 0, HopRate(kRate)};
    hops[1] = {SimTime::us(18), 95'000, 0, HopRate(kRate)};
    qp.ack(ack);
    EXPECT_EQ(qp.mbps(), 100'000);
    hops[1] = {SimTime::us(26), 95'000 + 190'000, 0, HopRate(kRate)};
    qp.ack(ack);
    EXPECT_EQ(qp.mbps(), 50'040);
    ack.hops = std::span(hops).first(1);
    qp.ack(ack);
    EXPECT_EQ(qp.mbps(), 50'040);
    // Records no newer than the last are ignored.
    qp.ack(ack);
    EXPECT_EQ(qp.mbps(), 50'040);
}

TEST(Hpcc, PsnsWrapAround) {
    QpUnderTest qp("hpcc", plain_path(100, 8), {{"ai_rate", 40e6}});
    OneHop link;
    qp.ack(link.ack(SimTime::us(10), 1.0, 90'000, 0xFFFFF0, 5));
    qp.ack(link.ack(SimTime::us(18), 1.0, 90'000, 0xFFFFFF, 8));
    qp.ack(link.ack(SimTime::us(26), 1.0, 90'000, 4, 8));
    EXPECT_EQ(qp.mbps(), 50'040);
    qp.ack(link.ack(SimTime::us(34), 1.0, 90'000, 5, 9));
    qp.ack(link.ack(SimTime::us(42), 1.0, 90'000, 6, 9));
    EXPECT_EQ(qp.mbps(), 25'060);
}

}  // namespace

}  // namespace simverbs::cc::test
