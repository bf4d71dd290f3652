// InfiniBand congestion control on one switch: FECN, BECN and the congestion control table share a link.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

constexpr Window kSettled{SimTime::ms(10), SimTime::ms(40)};

struct Shared {
    double utilisation = 0;
    double fairness = 0;
    double queue_bytes = 0;
};

Shared incast(int senders, int marking_rate, const std::string& algorithm = "ib-cc") {
    const auto specs = load_text(fmt::format(R"(
name: ib_cc
hosts: 9
nic: ndr-400g
topology: single_switch
link: {{rate: 100 Gb/s, length: 5 m}}
switch: {{vl_buffer: 64 KiB, fecn: {{threshold: 8, marking_rate: {}}}}}
transport: {{payload: 2048 B}}
cc: {}
workloads:
  - {{kind: incast, senders: {}, receiver: h8, bytes: 10 GB, priority: 0, jitter: 20 us}}
run: {{until: 40 ms, stop_when: until}}
)",
                                             marking_rate, algorithm, senders));
    if (specs.empty()) return {};
    Watched watched;
    watched.interval = SimTime::us(20);
    watched.ports = {"h8"};
    watched.all_flows = true;
    const auto result = run(specs.front(), watched);
    const std::string port = port_towards(result, "h8");
    std::vector<double> rates;
    for (uint32_t i = 0; i < result.flows.size(); ++i) rates.push_back(goodput_gbps(result, i, kSettled));
    const Shared shared{utilisation(result, port, kSettled), jain_index(rates),
                        mean_queue_bytes(result, port, kSettled)};
    fmt::print("{} IB flows with {}, marking rate {}: busy {:.3f}, fairness {:.4f}, mean queue {:.1f} KB\n", senders,
               algorithm, marking_rate, shared.utilisation, shared.fairness, shared.queue_bytes / 1000);
    EXPECT_EQ(drops(result), 0U);
    return shared;
}

TEST(IbCongestionControl, TwoFlowsLeaveLessThanATenthOfTheLinkIdleAndAreEqual) {
    const Shared shared = incast(2, 0);
    EXPECT_GT(shared.utilisation, 0.90);
    EXPECT_GT(shared.fairness, 0.98);
}

TEST(IbCongestionControl, EightFlowsFillTheLinkAndAreEqualWithAShortQueue) {
    const Shared shared = incast(8, 0);
    EXPECT_GT(shared.utilisation, 0.98);
    EXPECT_GT(shared.fairness, 0.99);
    EXPECT_LT(shared.queue_bytes, 0.1 * incast(8, 0, "none").queue_bytes);
}

/// The default step is an eighth of a packet's time, the finest that the table's format has.
TEST(IbCongestionControl, WithStepsOfAQuarterTwoFlowsLeaveMoreOfTheLinkIdle) {
    const Shared quarters = incast(2, 0, "{algorithm: ib-cc, cct_shift: 2}");
    EXPECT_LT(quarters.utilisation, 0.88);
    EXPECT_GT(quarters.fairness, 0.95);
    EXPECT_GT(incast(8, 0, "{algorithm: ib-cc, cct_shift: 2}").utilisation, 0.98);
}

/// Every packet of a long queue marked means several BECNs for one excess; one in 32 is enough.
TEST(IbCongestionControl, WithFewerMarksTwoFlowsKeepTheLinkBusier) {
    const Shared shared = incast(2, 31);
    EXPECT_GT(shared.utilisation, 0.96);
    EXPECT_GT(shared.fairness, 0.98);
}

}  // namespace

}  // namespace simverbs::fidelity
