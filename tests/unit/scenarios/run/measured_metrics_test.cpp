// Metrics that are measured only where an expectation asks for them.
#include <fmt/format.h>

#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::Outcome;
using testing::run_text;

/// `senders` hosts, h0 first, send 1 MB each to h4. Without a burst's queue a round trip takes 4 us and the times of a
/// packet of 1082 and two ACKs of 84 bytes.
std::string incast(int senders, const std::string& expectations, const std::string& more = "") {
    return fmt::format(R"(
name: measured
hosts: 5
nic: ideal
link: {{rate: 100 Gb/s, delay: 1 us}}
switch: {{latency: 100 ns, forwarding: cut-through{}}}
transport: {{payload: 1000 B}}
workloads:
  - {{name: inc, kind: incast, senders: {}, receiver: h4, bytes: 1 MB}}
expectations: [{}]
)",
                       more, senders, expectations);
}

TEST(MeasuredMetrics, AFlowAloneWaitsNowhereAndItsRoundTripIsThatOfThePath) {
    EXPECT_EQ(run_text(incast(1, "queueing_delay.max of sw0 == 0 s, rtt.min of inc > 4.2 us, rtt.max of inc < 4.4 us"))
                  .failures(),
              "");
}

TEST(MeasuredMetrics, TwoFlowsWaitForEachOther) {
    // 100 Gb/s twice into 100 Gb/s: the queue grows by half of all that comes, to 1 MB when the last bit is in.
    const Outcome out = run_text(incast(2,
                                        "queueing_delay.max of sw0/5 > 75 us, queueing_delay.max of sw0/5 < 88 us, "
                                        "queueing_delay of sw0/5 > 35 us, queueing_delay of sw0/5 < 46 us, "
                                        "queueing_delay.p50 of queue sw0/5 priority 3 > 35 us, "
                                        "queueing_delay.count of sw0/5 == 2000, queueing_delay.max of sw0/1 == 0 s, "
                                        "rtt.max of inc > 70 us, rtt.max of inc < 95 us, rtt.min of inc < 30 us",
                                        ", buffer: 64 MB"));
    EXPECT_EQ(out.failures(), "");
}

TEST(MeasuredMetrics, DelaysOfAPartOfTheRunAreThoseOfThePacketsThatLeftInIt) {
    const Outcome out = run_text(incast(2,
                                        "queueing_delay.max of sw0/5 until 40 us < 22 us, "
                                        "queueing_delay.min of sw0/5 from 120 us > 55 us, "
                                        "queueing_delay.count of sw0/5 from 40 us until 120 us > 900",
                                        ", buffer: 64 MB"));
    EXPECT_EQ(out.failures(), "");
}

TEST(MeasuredMetrics, NothingIsMeasuredThatNobodyAsksFor) {
    const Outcome out = run_text(incast(2, "never drops", ", buffer: 64 MB"));
    EXPECT_TRUE(out.port("sw0/5").delays.empty());
}

TEST(MeasuredMetrics, HeadroomIsSampledByPortAndPriority) {
    const Outcome out =
        run_text(incast(4,
                        "headroom of sw0 > 10 KB, headroom of sw0/1 > 10 KB, headroom of sw0/5 == 0 B, "
                        "headroom.mean of sw0/1 > 100 B, headroom.mean of queue sw0/1 priority 3 > 100 B, "
                        "headroom.max of queue sw0/1 priority 4 == 0 B, headroom until 10 us == 0 B",
                        ", buffer: 2 MB"));
    EXPECT_EQ(out.failures(), "");
}

TEST(MeasuredMetrics, AHeadroomOfZeroIsNoneAndNotTheOneThatTheCablesNeed) {
    const Outcome none = run_text(incast(4, "lossless_drops > 0", ", buffer: 2 MB, pfc: {headroom: 0 B}"));
    EXPECT_EQ(none.failures(), "");
    EXPECT_EQ(none.result.switches.at(0).headroom, 0);
    const Outcome automatic = run_text(incast(4, "never lossless_drops", ", buffer: 2 MB, pfc: {headroom: auto}"));
    EXPECT_EQ(automatic.failures(), "");
    EXPECT_GT(automatic.result.switches.at(0).headroom, 10'000);
}

TEST(MeasuredMetrics, WaitingForCreditsIsTimed) {
    const Outcome out = run_text(R"(
name: credits
hosts: 3
nic: ndr-400g
link: {rate: 100 Gb/s, length: 5 m}
switch: {vl_buffer: 16 KiB}
workloads:
  - {kind: incast, senders: 2, receiver: h2, bytes: 10 MB, priority: 0}
expectations: [credit_wait of h0 > 600 us, credit_wait of h0 < 1000 us, credit_wait of port sw0/3 == 0 s]
)");
    EXPECT_EQ(out.failures(), "");
}

}  // namespace
}  // namespace simverbs::scenarios
