// DSCPs, PCPs and SLs of a scenario, and what switches and adapters make of them.
#include <fmt/format.h>

#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::Outcome;
using testing::run_text;

/// Two hosts flood a third; the class of the packets is lossless where it has priority 3.
std::string incast(const std::string& network, const std::string& service, const std::string& expectations = "") {
    return fmt::format(R"(
name: services
hosts: 4
nic: {{profile: ideal{}}}
link: {{rate: 100 Gb/s, delay: 1 us}}
transport: {{payload: 1000 B, retransmission_timeout: 100 us}}
workloads:
  - {{kind: incast, senders: 3, receiver: h3, bytes: 2 MB, {}}}
run: {{until: 20 ms}}
{})",
                       network, service, expectations);
}

TEST(Services, ADscpIsOfThePriorityThatItsFirstThreeBitsSay) {
    const std::string rest = "expectations: [never drops, pfc_pauses of sw0 > 0]\nswitch: {buffer: 1 MB}\n";
    EXPECT_EQ(run_text(incast("", "dscp: 26", rest)).failures(), "");
    const Outcome other = run_text(incast("", "dscp: 34", rest));
    EXPECT_GT(other.port("sw0/4").end.drops, 0U) << "priority 4 is not lossless";
    EXPECT_EQ(other.flow(0).priority, 4);
}

TEST(Services, ASwitchGivesPacketsThePriorityOfItsDscpMap) {
    const Outcome out = run_text(incast("", "dscp: 26", "switch: {buffer: 1 MB, dscp_map: {26: 5}}\n"));
    EXPECT_EQ(out.port("sw0/1").end.pauses_sent, 0U) << "3 would be lossless, 5 is not";
    EXPECT_GT(out.port("sw0/4").end.drops, 0U);
    EXPECT_EQ(out.port("sw0/4").end.lossless_drops, 0U);
}

TEST(Services, AnAdapterObeysPausesOfThePriorityThatItsDscpMapGives) {
    // The switch takes DSCP 34 for priority 3. What it pauses is 3: adapters that send it as 4 do not stop.
    const std::string lossy = "switch: {buffer: 1 MB, dscp_map: {34: 3}}\n";
    const Outcome deaf = run_text(incast("", "dscp: 34", lossy));
    EXPECT_GT(deaf.port("sw0/1").end.lossless_drops, 0U);
    const Outcome agreed = run_text(incast(", dscp_map: {34: 3}", "dscp: 34", lossy));
    EXPECT_EQ(agreed.port("sw0/1").end.lossless_drops, 0U);
    EXPECT_GT(agreed.port("h0").end.pauses_received, 0U);
    EXPECT_EQ(agreed.flow(0).priority, 3);
}

TEST(Services, ATaggedPacketIsOfThePriorityThatItsPcpSays) {
    const std::string map = "switch: {buffer: 1 MB, pcp_map: {5: 3}}\n";
    const Outcome tagged = run_text(incast(", vlan: 7", "priority: 5", map));
    EXPECT_EQ(tagged.problems, "");
    EXPECT_GT(tagged.port("sw0/1").end.pauses_sent, 0U);
    const Outcome untagged = run_text(incast("", "priority: 5", map));
    EXPECT_EQ(untagged.port("sw0/1").end.pauses_sent, 0U) << "it looks at the DSCP, 40, alone";
    EXPECT_GT(untagged.port("sw0/4").end.drops, 0U);
}

TEST(Services, ATagHoldsThePriorityThatTheAdapterGivesADscpAndTakesFourBytes) {
    const std::string alone = "switch: {buffer: 1 MB}\n";
    const Outcome tagged = run_text(incast(", vlan: 7, dscp_map: {10: 3}", "dscp: 10", alone));
    EXPECT_EQ(tagged.problems, "");
    EXPECT_GT(tagged.port("sw0/1").end.pauses_sent, 0U) << "PCP 3 is lossless, DSCP 10 would not be";
    const Outcome untagged =
        run_text(incast(", dscp_map: {10: 3}", "dscp: 10", "switch: {buffer: 1 MB, dscp_map: {10: 3}}\n"));
    EXPECT_EQ(tagged.port("h0").end.tx_bytes - untagged.port("h0").end.tx_bytes, 4 * tagged.port("h0").end.tx_packets);
}

TEST(Services, HalfTaggedFabricsAreRefused) {
    EXPECT_EQ(run_text("name: s\nhosts: {a: {nics: [{profile: ideal, vlan: 3}]}, b: {nics: [{profile: ideal}]}}\n"
                       "workloads: [{kind: flows, flows: [{src: a, dst: b, bytes: 1 MB}]}]\n")
                  .problems,
              "s.yaml:1:1: topology: a sends tagged frames and b untagged ones; expected 'vlan' at every NIC or at "
              "none\n");
}

TEST(Services, MoreDscpsThanThereAreServicesAreRefused) {
    std::string text = "name: s\nhosts: 2\nnic: ideal\nworkloads:\n  - kind: flows\n    flows:\n";
    for (int dscp = 1; dscp < 10; ++dscp)
        text += fmt::format("      - {{src: h0, dst: h1, bytes: 1 KB, dscp: {}}}\n", dscp == 8 ? 17 : dscp);
    EXPECT_EQ(run_text(text).problems,
              "s.yaml:15:9: workloads[0].flows[8].dscp: DSCP 9 is one too many; expected at most 8 DSCPs in a scenario "
              "that are not 0, 8, 16, … 56\n");
}

}  // namespace
}  // namespace simverbs::scenarios
