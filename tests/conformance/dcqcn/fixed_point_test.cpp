// DCQCN in the fabric against its fluid model: the rates and the queue at which N flows come to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

/// Fixed points of Zhu et al., CoNEXT 2016 ("ECN or Delay"), eqs. 9 to 11, for the parameters of the DCQCN paper and
/// packets of 1000 bytes.
struct FixedPoint {
    int gbps = 0;
    int flows = 0;
    double queue_bytes = 0;
};

/// 1.9 s: rates wander by several percent over tens of milliseconds, since 40 Mb/s a round is all that pulls them
/// together.
constexpr Window kConverged{SimTime::ms(100), SimTime::ms(2000)};

/// The model knows no Kmax: RED goes on in a straight line, here to ten times the paper's Kmax.
std::string single_switch(const FixedPoint& p) {
    return fmt::format(R"(
name: fixed_point
hosts: {0}
nic: ideal
topology: single_switch
link: {{rate: {1} Gb/s, delay: 1 us}}
switch: {{buffer: 32 MB, pfc: {{priorities: 3}}, ecn: {{kmin: 5 KB, kmax: 1955 KB, pmax: 10 %}}}}
transport: {{payload: 1000 B}}
cc: {{algorithm: dcqcn, preset: paper}}
workloads:
  - {{kind: incast, receiver: h{2}, bytes: 100 GB, jitter: 100 us}}
run: {{until: 2 s, stop_when: until}}
)",
                       p.flows + 1, p.gbps, p.flows);
}

class DcqcnFixedPoint : public testing::TestWithParam<FixedPoint> {};

TEST_P(DcqcnFixedPoint, RatesAreWithin5PercentOfFairAndTheQueueWithin25PercentOfTheFluidModel) {
    const FixedPoint expected = GetParam();
    const auto specs = load_text(single_switch(expected));
    ASSERT_EQ(specs.size(), 1U);
    const std::string receiver = fmt::format("h{}", expected.flows);
    Watched watched;
    watched.interval = SimTime::us(50);
    watched.ports = {receiver};
    watched.all_flows = true;
    const auto result = run(specs.front(), watched);

    const double fair = static_cast<double>(expected.gbps) / expected.flows;
    for (uint32_t i = 0; i < static_cast<uint32_t>(expected.flows); ++i)
        EXPECT_NEAR(mean_rate_gbps(result, i, kConverged), fair, 0.05 * fair) << "flow " << i;
    // A fluid queue drains while a packet is sent; of a real one, half a packet is left on average.
    const std::string port = port_towards(result, receiver);
    constexpr double kPacketBytes = 1082;
    const double queue =
        mean_queue_bytes(result, port, kConverged) + kPacketBytes / 2 * utilisation(result, port, kConverged);
    EXPECT_NEAR(queue, expected.queue_bytes, 0.25 * expected.queue_bytes);
    EXPECT_GT(utilisation(result, port, kConverged), 0.99);
    EXPECT_EQ(drops(result), 0U);
    fmt::print("{}G, {} flows: mean queue {:.1f} KB, fluid model {:.1f} KB\n", expected.gbps, expected.flows,
               queue / 1000, expected.queue_bytes / 1000);
}

INSTANTIATE_TEST_SUITE_P(Paper, DcqcnFixedPoint,
                         testing::Values(FixedPoint{40, 2, 20'200}, FixedPoint{40, 4, 41'800},
                                         FixedPoint{40, 8, 93'800}, FixedPoint{40, 10, 122'600},
                                         FixedPoint{100, 2, 9'700}, FixedPoint{100, 4, 16'400},
                                         FixedPoint{100, 8, 32'700}),
                         [](const auto& test) {
                             return fmt::format("{}FlowsAt{}G", test.param.flows, test.param.gbps);
                         });

}  // namespace

}  // namespace simverbs::fidelity
