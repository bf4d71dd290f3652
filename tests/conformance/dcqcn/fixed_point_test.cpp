// DCQCN in the fabric against its fluid model: the rates and the queue at which N flows come to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
std::string single_switch(const FixedPoint& p, const std::string& setting) {
    return fmt::format(R"(
name: fixed_point
hosts: {0}
nic: ideal
topology: single_switch
link: {{rate: {1} Gb/s, delay: 1 us}}
switch: {{buffer: 32 MB, pfc: {{priorities: 3}}, ecn: {{kmin: 5 KB, kmax: 1955 KB, pmax: 10 %}}}}
transport: {{payload: 1000 B}}
cc: {{algorithm: dcqcn, preset: paper, {3}}}
workloads:
  - {{kind: incast, receiver: h{2}, bytes: 100 GB, jitter: 100 us}}
run: {{until: 2 s, stop_when: until}}
)",
                       p.flows + 1, p.gbps, p.flows, setting);
}

/// Where flows come to rest.
struct Rest {
    std::vector<double> gbps;
    double queue_bytes = 0;
    double utilisation = 0;
};

Rest rest_of(const FixedPoint& p, const std::string& setting) {
    const auto specs = load_text(single_switch(p, setting));
    if (specs.size() != 1) return {};
    const std::string receiver = fmt::format("h{}", p.flows);
    Watched watched;
    watched.interval = SimTime::us(50);
    watched.ports = {receiver};
    watched.all_flows = true;
    const auto result = run(specs.front(), watched);
    EXPECT_EQ(drops(result), 0U);
    const std::string port = port_towards(result, receiver);
    Rest rest{{}, mean_queue_bytes(result, port, kConverged), utilisation(result, port, kConverged)};
    for (uint32_t i = 0; i < static_cast<uint32_t>(p.flows); ++i)
        rest.gbps.push_back(mean_rate_gbps(result, i, kConverged));
    // A fluid queue drains while a packet is sent; of a real one, half a packet is left on average.
    constexpr double kPacketBytes = 1082;
    rest.queue_bytes += kPacketBytes / 2 * rest.utilisation;
    fmt::print("{}G, {} flows, {}: link {:.2f} % busy, mean queue {:.1f} KB, fluid model {:.1f} KB ({:+.0f} %)\n",
               p.gbps, p.flows, setting, rest.utilisation * 100, rest.queue_bytes / 1000, p.queue_bytes / 1000,
               (rest.queue_bytes / p.queue_bytes - 1) * 100);
    return rest;
}

class DcqcnFixedPoint : public testing::TestWithParam<FixedPoint> {};

TEST_P(DcqcnFixedPoint, RatesAreWithin5PercentOfFairTheQueueWithin25PercentOfTheFluidModelAndTheLinkIsBusy) {
    const FixedPoint expected = GetParam();
    const Rest rest = rest_of(expected, "late_cnps: true");
    const double fair = static_cast<double>(expected.gbps) / expected.flows;
    for (const double rate : rest.gbps) EXPECT_NEAR(rate, fair, 0.05 * fair);
    EXPECT_NEAR(rest.queue_bytes, expected.queue_bytes, 0.25 * expected.queue_bytes);
    EXPECT_GT(rest.utilisation, 0.99);
}

/// The next cut comes 50 us and a mark after the last, mostly after a round of fast recovery.
TEST(DcqcnFixedPointOfNics, WithoutLateCnpsTheQueueRestsMoreThan25PercentAboveTheFluidModel) {
    const FixedPoint model{40, 4, 41'800};
    const Rest rest = rest_of(model, "late_cnps: false");
    EXPECT_GT(rest.queue_bytes, 1.25 * model.queue_bytes);
    EXPECT_LT(rest.queue_bytes, 1.45 * model.queue_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Paper, DcqcnFixedPoint,
    testing::Values(FixedPoint{40, 2, 20'200}, FixedPoint{40, 4, 41'800}, FixedPoint{40, 8, 93'800},
                    FixedPoint{40, 10, 122'600}, FixedPoint{40, 16, 217'000}, FixedPoint{40, 20, 284'900},
                    FixedPoint{100, 2, 9'700}, FixedPoint{100, 4, 16'400}, FixedPoint{100, 8, 32'700}),
    [](const auto& test) { return fmt::format("{}FlowsAt{}G", test.param.flows, test.param.gbps); });

}  // namespace

}  // namespace simverbs::fidelity
