// SL2VL tables, VL arbitration and path policies of a subnet.
#include <fmt/format.h>

#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::Outcome;
using testing::run_text;

/// h0 and h1 send to h2 on SL 0 and SL 1, each with 100 MB, so that both wait at sw0/3.
std::string two_services(const std::string& sw, const std::string& more = "") {
    return fmt::format(R"(
name: two_services
hosts: 3
nic: ndr-400g
link: {{rate: 100 Gb/s, length: 5 m}}
switch: {{{}}}
transport: {{payload: 2048 B}}
workloads:
  - name: pair
    kind: flows
    flows:
      - {{src: h0, dst: h2, bytes: 100 MB, priority: 0}}
      - {{src: h1, dst: h2, bytes: 100 MB, priority: 1}}
run: {{until: 1 ms, stop_when: until}}
{})",
                       sw, more);
}

/// Payload of flow 0 over that of flow 1 while both were under way.
double shares(const Outcome& out) {
    EXPECT_EQ(out.problems, "");
    if (!out.problems.empty()) return 0;
    return static_cast<double>(*out.flow(0).delivered) / static_cast<double>(*out.flow(1).delivered);
}

TEST(VlArbitration, LowVlsShareByWeight) {
    EXPECT_NEAR(shares(run_text(two_services("vl_arbitration: {low: {0: 192, 1: 64}}"))), 3.0, 0.15);
    EXPECT_NEAR(shares(run_text(two_services("vl_arbitration: {low: {0: 3, 1: 1}}"))), 3.0, 0.15)
        << "weights below a packet count in the long run";
}

TEST(VlArbitration, WithoutALimitAHighVlLeavesNothingToLowOnes) {
    const Outcome out = run_text(two_services("vl_arbitration: {high: {0: 64}}"));
    EXPECT_GT(shares(out), 20.0) << "but for what goes while the high one waits for credits";
}

TEST(VlArbitration, TheLimitOfHighPriorityGivesLowVlsATurnAfterThatManyBytes) {
    // 4 KiB each, in packets of 2074 bytes: so many, and one that goes over the limit; then one low packet.
    EXPECT_NEAR(shares(run_text(two_services("vl_arbitration: {high: {0: 64}, limit: 0}"))), 1.0, 0.05);
    EXPECT_NEAR(shares(run_text(two_services("vl_arbitration: {high: {0: 64}, limit: 1}"))), 2.0, 0.1);
    EXPECT_NEAR(shares(run_text(two_services("vl_arbitration: {high: {0: 64}, limit: 4}"))), 8.0, 0.4);
}

TEST(VlArbitration, AnAdapterArbitratesAsItsSwitchDoes) {
    const std::string text = R"(
name: one_sender
hosts: 3
nic: ndr-400g
link: {rate: 100 Gb/s, length: 5 m}
switch: {vl_arbitration: {low: {0: 192, 1: 64}}}
transport: {payload: 2048 B}
workloads:
  - name: pair
    kind: flows
    flows:
      - {src: h0, dst: h1, bytes: 10 MB, priority: 0}
      - {src: h0, dst: h2, bytes: 10 MB, priority: 1}
run: {until: 1 ms, stop_when: until}
)";
    EXPECT_NEAR(shares(run_text(text)), 3.0, 0.15);
}

TEST(VlArbitration, AVlThatNoTableServesIsRefusedWhereItsWeightStands) {
    const std::string problem =
        ": VL 1 has no weight in an arbitration table of sw0: its packets would wait for ever; give it one in "
        "`vl_arbitration`\n";
    EXPECT_EQ(run_text(two_services("vl_arbitration: {low: {1: 0}}")).problems,
              "s.yaml:6:32: switch.vl_arbitration.low" + problem);
    EXPECT_EQ(run_text(two_services("vl_arbitration: {high: {1: 0}}")).problems,
              "s.yaml:6:33: switch.vl_arbitration.high" + problem);
}

TEST(Sl2Vl, ServiceLevelsOnOneVlShareItAndThoseOnTwoAreApart) {
    const std::string arbitration = ", vl_arbitration: {low: {0: 192, 1: 64}}";
    EXPECT_NEAR(shares(run_text(two_services("sl2vl: {0: 2, 1: 2}" + arbitration))), 1.0, 0.05);
    EXPECT_NEAR(shares(run_text(two_services("sl2vl: {0: 1, 1: 0}" + arbitration))), 1.0 / 3, 0.02)
        << "the weights are those of VLs";
    EXPECT_NEAR(shares(run_text(two_services("sl2vl: {1: 1}" + arbitration))), 3.0, 0.15) << "SL 0 is on VL 0";
    EXPECT_NEAR(shares(run_text(two_services(arbitration.substr(2)))), 3.0, 0.15) << "without a map, VL = SL";
}

TEST(Sl2Vl, SwitchesWithOtherTablesMoveAServiceLevelToAnotherVl) {
    // Credits are those of the VL that the sender's table says, queues those of the receiver's. Nothing is lost.
    const std::string text = R"(
name: three_tables
hosts: 4
nic: ndr-400g
link: {rate: 100 Gb/s, length: 5 m}
switch: {vl_buffer: 8 KiB, sl2vl: {0: 0, 1: 1}}
switches: [{name: s0}, {name: s1, sl2vl: {0: 5, 1: 3}}, {name: s2, sl2vl: {0: 3, 1: 3}}]
topology: explicit
links:
  - {a: h0, b: s0/1}
  - {a: h1, b: s0/2}
  - {a: s0/3, b: s1/1}
  - {a: s1/2, b: s2/1}
  - {a: s2/2, b: h2}
  - {a: s2/3, b: h3}
workloads:
  - name: all
    kind: flows
    flows:
      - {src: h0, dst: h2, bytes: 1 MB, priority: 0}
      - {src: h1, dst: h2, bytes: 1 MB, priority: 1}
      - {src: h0, dst: h3, bytes: 1 MB, priority: 1}
      - {src: h3, dst: h0, bytes: 1 MB, priority: 0}
expectations: [all flows complete within 1 ms, never drops, credit_wait of h0 > 10 us, "queue of queue s1/2 priority 5 > 0 B"]
)";
    const Outcome out = run_text(text);
    EXPECT_EQ(out.failures(), "");
    for (const run::FlowRecord& f : out.result.flows) EXPECT_EQ(f.retransmitted, 0U);
}

TEST(Fecn, PacketsBelowThePacketSizeAreNotMarked) {
    const auto marks = [](const char* packet_size) {
        const Outcome out = run_text(fmt::format(R"(
name: fecn
hosts: 3
nic: ndr-400g
link: {{rate: 100 Gb/s, length: 5 m}}
switch: {{fecn: {{threshold: 15, packet_size: {}}}}}
transport: {{payload: 2048 B}}
workloads: [{{kind: incast, senders: 2, receiver: h2, bytes: 2 MB, priority: 0}}]
)",
                                                 packet_size));
        EXPECT_EQ(out.problems, "");
        return out.problems.empty() ? out.port("sw0/3").end.marks : 0;
    };
    EXPECT_GT(marks("0 B"), 100U);
    EXPECT_GT(marks("2074 B"), 100U) << "with headers";
    EXPECT_EQ(marks("4 KiB"), 0U);
}

std::string ring(const std::string& policy) {
    std::string text =
        "name: ring\nhosts: 5\nnic: ndr-400g\nswitches: [s0, s1, s2, s3, s4]\nswitch: {vl_buffer: 16 KiB" + policy +
        "}\nlink: {rate: 100 Gb/s, length: 5 m}\ntopology: explicit\nlinks:\n";
    std::string flows = "workloads:\n  - name: round\n    kind: flows\n    priority: 0\n    flows:\n";
    for (int i = 0; i < 5; ++i) {
        text += fmt::format("  - {{a: h{}, b: s{}/1}}\n  - {{a: s{}/2, b: s{}/3}}\n", i, i, i, (i + 1) % 5);
        flows += fmt::format("      - {{src: h{}, dst: h{}, bytes: 10 MB}}\n", i, (i + 2) % 5);
    }
    return text + flows + "run: {until: 20 ms}\n";
}

TEST(PathPolicy, UpDownEndsTheCreditLoopThatMinHopHas) {
    const Outcome looped = run_text(ring(""));
    EXPECT_EQ(looped.problems, "");
    EXPECT_EQ(looped.result.deadlocks, 1U);
    const Outcome free =
        run_text(ring(", path_policy: up_down") + "expectations: [all flows complete, deadlocks == 0]\n");
    EXPECT_EQ(free.failures(), "");
}

TEST(PathPolicy, OneSwitchAloneCannotHaveAnother) {
    std::string text = ring("");
    text.replace(text.find("[s0,"), 4, "[{name: s0, path_policy: up_down},");
    EXPECT_EQ(run_text(text).problems,
              "s.yaml:4:19: switches[0].path_policy: a subnet has one path policy for all switches; expected it in the "
              "section 'switch'\n");
}

}  // namespace
}  // namespace simverbs::scenarios
