// K:1 incast at 40 Gb/s under PFC and DCQCN, as in the DCQCN paper (Zhu et al., SIGCOMM 2015, section 6.1).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

constexpr Window kBusy{SimTime::ms(10), SimTime::ms(50)};

/// With late_cnps off: the test after this shows what the paper's own rule gives.
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

/// Where 20 flows would come to rest lies beyond Kmax, where every packet is marked: they swing around it, and the
/// paper's notification point makes each swing deeper than a NIC does.
TEST(DcqcnIncastWithLateCnps, TwentyFlowsLeaveThreeToFourPercentOfTheLinkIdle) {
    const auto specs = load_library("incast_20_dcqcn.yaml", {"cc.late_cnps=true"});
    ASSERT_EQ(specs.size(), 1U);
    Watched watched;
    watched.interval = SimTime::us(50);
    watched.ports = {"h20"};
    const auto result = run(specs.front(), watched);
    const double busy = utilisation(result, port_towards(result, "h20"), kBusy);
    EXPECT_GT(busy, 0.95);
    EXPECT_LT(busy, 0.98);
    EXPECT_EQ(drops(result), 0U);
}

INSTANTIATE_TEST_SUITE_P(Senders, DcqcnIncast, testing::Values(2, 4, 8, 10, 16, 20),
                         [](const auto& test) { return fmt::format("{}To1", test.param); });

}  // namespace

}  // namespace simverbs::fidelity
