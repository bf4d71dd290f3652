// PFC's victim and its unfairness, with and without DCQCN: the shapes of Zhu et al., SIGCOMM 2015, figures 3, 4, 8, 9.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

/// 1000 of 1082 bytes on the wire are payload.
constexpr double kGoodput = 1000.0 / 1082;

/// Goodputs of all flows, run by run: ECMP draws anew with each seed.
std::vector<std::vector<double>> goodputs(const std::string& file, const std::vector<std::string>& settings,
                                          Window window, uint64_t seeds) {
    std::vector<std::vector<double>> all;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        auto specs = load_library(file, settings);
        EXPECT_EQ(specs.size(), 1U);
        if (specs.empty()) return all;
        specs.front().lab.seed = seed;
        Watched watched;
        watched.interval = SimTime::ms(1);
        watched.all_flows = true;
        const auto result = run(specs.front(), watched);
        EXPECT_EQ(drops(result), 0U);
        all.emplace_back();
        for (uint32_t i = 0; i < result.flows.size(); ++i) all.back().push_back(goodput_gbps(result, i, window));
        fmt::print("{} with {}, seed {}: {:.1f} Gb/s\n", file, specs.front().cc.algorithm, seed,
                   fmt::join(all.back(), " "));
    }
    return all;
}

/// The victim is the last flow. Median over the draws of ECMP, as the paper gives it.
double victim(const std::string& algorithm, const std::string& senders) {
    constexpr uint64_t kSeeds = 9;
    const bool slow = algorithm != "none";  // to converge
    std::vector<double> rates;
    for (const auto& flows :
         goodputs("victim_flow.yaml",
                  {"cc.algorithm=" + algorithm, "senders=" + senders, slow ? "run.until=100 ms" : "run.until=30 ms"},
                  slow ? Window{SimTime::ms(40), SimTime::ms(100)} : Window{SimTime::ms(10), SimTime::ms(30)}, kSeeds))
        rates.push_back(flows.back());
    std::ranges::sort(rates);
    const double median = rates.empty() ? 0 : percentile(rates, 50);
    fmt::print("victim with {}, senders {}: median {:.2f} Gb/s of {:.1f}\n", algorithm, senders, median,
               fmt::join(rates, " "));
    return median;
}

TEST(VictimFlow, WithPfcAloneItGetsHalfOfItsShareAndLessWhenOthersSendElsewhere) {
    const double alone = victim("none", "h0..h3");
    const double one_more = victim("none", "h0..h4");
    const double two_more = victim("none", "h0..h5");
    // Nine draws of ECMP scatter this much: with others, other flows meet on an uplink.
    EXPECT_NEAR(alone, 10 * kGoodput, 0.3 * 10 * kGoodput);
    EXPECT_LT(one_more, alone);
    EXPECT_LT(two_more, 0.75 * alone);
    EXPECT_LE(two_more, 1.01 * one_more);
    EXPECT_GT(two_more, 3);
    EXPECT_LT(two_more, 6.5);
}

TEST(VictimFlow, WithDcqcnItGetsItsShareHoweverManySendElsewhere) {
    // 20 Gb/s where two flows share an uplink, 13.3 where ECMP has put a third there.
    for (const char* senders : {"h0..h3", "h0..h5"}) {
        const double with_dcqcn = victim("dcqcn", senders);
        EXPECT_GT(with_dcqcn, 0.95 * 40 / 3 * kGoodput);
        EXPECT_GT(with_dcqcn, 1.5 * victim("none", senders));
    }
}

TEST(ParkingLot, WithPfcAloneTheSenderNextToTheReceiverGetsMostAndDcqcnGivesAllTheSame) {
    constexpr uint64_t kSeeds = 5;
    const Window window{SimTime::ms(50), SimTime::ms(200)};
    int unequal = 0;
    for (const auto& flows : goodputs("parking_lot.yaml", {"cc.algorithm=none", "run.until=60 ms"},
                                      {SimTime::ms(10), SimTime::ms(60)}, kSeeds)) {
        EXPECT_GE(flows[3], 0.99 * *std::ranges::max_element(flows));
        EXPECT_LT(*std::ranges::min_element(flows), 0.75 * 10 * kGoodput);
        unequal += flows[3] > 1.9 * *std::ranges::min_element(flows) ? 1 : 0;
    }
    EXPECT_EQ(unequal, static_cast<int>(kSeeds));
    for (const auto& flows : goodputs("parking_lot.yaml", {}, window, kSeeds))
        for (const double rate : flows) EXPECT_NEAR(rate, 10 * kGoodput, 0.15 * 10 * kGoodput);
}

}  // namespace

}  // namespace simverbs::fidelity
