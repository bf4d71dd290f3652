// K:1 incast at 40 Gb/s under PFC and DCQCN, as in the DCQCN paper (Zhu et al., SIGCOMM 2015, section 6.1).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

constexpr Window kBusy{SimTime::ms(10), SimTime::ms(50)};

/// With late_cnps off, as NICs do; the tests after this have the paper's own rule.
class DcqcnIncast : public testing::TestWithParam<int> {};

TEST_P(DcqcnIncast, TheReceiversLinkCarriesMoreThan39Of40GbpsAndNothingIsLost) {
    // 400 MB in all last until 88 ms.
    const auto specs = load_library(
        "incast_20_dcqcn.yaml", {fmt::format("senders={}", GetParam()), fmt::format("bytes={} MB", 400 / GetParam())});
    ASSERT_EQ(specs.size(), 1U);
    Watched watched;
    watched.interval = SimTime::us(50);
    watched.ports = {"h20"};
    const auto result = run(specs.front(), watched);
    const std::string port = port_towards(result, "h20");
    EXPECT_GT(utilisation(result, port, kBusy), 0.97);
    EXPECT_GT(utilisation(result, port, kBusy) * 40, 39);
    EXPECT_EQ(drops(result), 0U);
    EXPECT_EQ(result.ending, scenarios::run::RunEnding::Done);
    fmt::print("{}:1 incast: {:.2f} Gb/s, longest queue {} B, {} pauses\n", GetParam(),
               utilisation(result, port, kBusy) * 40, result.ports[port_named(result, port)].max_queue, pauses(result));
}

scenarios::run::RunResult twenty_to_one(std::vector<std::string> settings) {
    const auto specs = load_library("incast_20_dcqcn.yaml", std::move(settings));
    if (specs.size() != 1) return {};
    Watched watched;
    watched.interval = SimTime::us(50);
    watched.ports = {"h20"};
    return run(specs.front(), watched);
}

/// One setting for both: in DcqcnFixedPoint (conformance) the same 20 flows have the queue of the fluid model.
TEST(DcqcnIncastWithLateCnps, WhereRedGoesOnInALineBeyondKmaxTwentyFlowsFillTheLinkAndRestAtTheFluidModelsQueue) {
    const auto result = twenty_to_one({"cc.late_cnps=true", "switch.ecn.kmax=1955 KB", "switch.ecn.pmax=10 %"});
    const std::string port = port_towards(result, "h20");
    EXPECT_GT(utilisation(result, port, kBusy), 0.97);
    EXPECT_EQ(drops(result), 0U);
    EXPECT_EQ(pauses(result), 0U);
    constexpr double kFluidQueue = 284'900;
    EXPECT_NEAR(mean_queue_bytes(result, port, kBusy), kFluidQueue, 0.25 * kFluidQueue);
    fmt::print("20:1, RED in a line: {:.2f} Gb/s, mean queue {:.0f} B\n", utilisation(result, port, kBusy) * 40,
               mean_queue_bytes(result, port, kBusy));
}

/// Where 20 flows would come to rest lies beyond Kmax, where every packet is marked: they swing around it, and the
/// paper's notification point cuts everybody twice a swing.
TEST(DcqcnIncastWithLateCnps, WhereEveryPacketIsMarkedBeyondKmaxTwentyFlowsLeaveThreeToFourPercentOfTheLinkIdle) {
    const auto result = twenty_to_one({"cc.late_cnps=true"});
    const std::string port = port_towards(result, "h20");
    EXPECT_GT(utilisation(result, port, kBusy), 0.95);
    EXPECT_LT(utilisation(result, port, kBusy), 0.98);
    EXPECT_EQ(drops(result), 0U);
    constexpr double kFluidQueue = 284'900;
    EXPECT_LT(mean_queue_bytes(result, port, kBusy), 0.5 * kFluidQueue);
    fmt::print("20:1, late CNPs: {:.2f} Gb/s, mean queue {:.0f} B\n", utilisation(result, port, kBusy) * 40,
               mean_queue_bytes(result, port, kBusy));
}

INSTANTIATE_TEST_SUITE_P(Senders, DcqcnIncast, testing::Values(2, 4, 8, 10, 16, 20),
                         [](const auto& test) { return fmt::format("{}To1", test.param); });

}  // namespace

}  // namespace simverbs::fidelity
