// DCQCN's notification point: when marked packets become CNPs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/fidelity/fidelity_support.hpp"

namespace simverbs::fidelity {

namespace {

using sim::SimTime;

/// One flow at 8 Gb/s: a packet of 1082 wire bytes every 1.08 us. `marked` packets arrive with Ce.
std::string one_flow(const std::vector<int>& marked, const std::string& cc) {
    std::string faults;
    for (const int n : marked) faults += fmt::format("  - {{name: m{0}, link: h0, ecn_mark: {{packet: {0}}}}}\n", n);
    return fmt::format(R"(
name: marks
hosts: 2
nic: ideal
topology: single_switch
link: {{rate: 8 Gb/s, delay: 1 us}}
switch: {{ecn: {{enabled: false}}}}
transport: {{payload: 1000 B}}
cc: {}
workloads:
  - name: one
    kind: flows
    flows:
      - {{src: h0, dst: h1, bytes: 1 MB}}
faults:
{})",
                       cc, faults);
}

struct Reaction {
    uint32_t cnps = 0;
    std::vector<SimTime> decreases;  ///< to a microsecond
};

Reaction reaction_to(const std::vector<int>& marked, const std::string& cc) {
    const auto specs = load_text(one_flow(marked, cc));
    if (specs.empty()) return {};
    Watched watched;
    watched.interval = SimTime::us(1);
    watched.all_flows = true;
    const auto result = run(specs.front(), watched);
    Reaction reaction{result.flows.front().cnps, {}};
    const auto& rates = result.flow_samples.front().rate;
    for (size_t i = 1; i < rates.size(); ++i)
        if (rates[i] < rates[i - 1] && rates[i] > sim::BitRate()) reaction.decreases.push_back(result.sample_times[i]);
    return reaction;
}

TEST(DcqcnNotificationPoint, TheFirstMarkIsAnsweredAtOnce_MarksWithin50UsOfTheCnpByOneMoreAtTheirEnd) {
    const Reaction reaction = reaction_to({20, 30, 35}, "{algorithm: dcqcn, preset: paper}");
    EXPECT_EQ(reaction.cnps, 2U);
    ASSERT_EQ(reaction.decreases.size(), 2U);
    // Packet 20 arrives after 20 packet times and both cables.
    EXPECT_NEAR(reaction.decreases[0].in_s() * 1e6, 21 * 1.082 + 4, 3);
    EXPECT_NEAR((reaction.decreases[1] - reaction.decreases[0]).in_s() * 1e6, 50, 1.5);
}

TEST(DcqcnNotificationPoint, AMarkAfterTheIntervalIsAnsweredAtOnce) {
    const Reaction reaction = reaction_to({20, 80}, "{algorithm: dcqcn, preset: paper}");
    EXPECT_EQ(reaction.cnps, 2U);
    ASSERT_EQ(reaction.decreases.size(), 2U);
    // At half the rate, 60 packets take 130 us.
    EXPECT_GT((reaction.decreases[1] - reaction.decreases[0]).in_s() * 1e6, 80);
}

TEST(DcqcnNotificationPoint, WithoutLateCnpsMarksWithinTheIntervalAreForgotten) {
    const Reaction reaction = reaction_to({20, 30, 35}, "{algorithm: dcqcn, preset: paper, late_cnps: false}");
    EXPECT_EQ(reaction.cnps, 1U);
    EXPECT_EQ(reaction.decreases.size(), 1U);
}

}  // namespace

}  // namespace simverbs::fidelity
