// Faults of scenarios with flows: which way they look, whose packets they hit, pause storms.
#include <fmt/format.h>

#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::Outcome;
using testing::run_text;

std::string with_fault(const std::string& fault, const std::string& more = "") {
    return fmt::format(R"(
name: faults
hosts: 4
nic: ideal
link: {{rate: 100 Gb/s, delay: 1 us}}
transport: {{payload: 1000 B, retransmission_timeout: 100 us}}
workloads:
  - {{kind: incast, senders: 2, receiver: h3, bytes: 1 MB}}
  - name: back
    kind: flows
    flows:
      - {{src: h3, dst: h0, bytes: 1 MB}}
      - {{src: h3, dst: h1, bytes: 1 MB}}
faults:
  - {{name: f, {}}}
{})",
                       fault, more);
}

/// Flows of which packets were sent again, by number: incast[0], incast[1], back[0], back[1].
std::string hit(const Outcome& out) {
    EXPECT_EQ(out.failures(), "");
    std::string numbers;
    for (size_t i = 0; i < out.result.flows.size(); ++i)
        if (out.result.flows[i].retransmitted > 0) numbers += std::to_string(i);
    return numbers;
}

TEST(ScenarioFaults, DirectionsFollowTheEndThatIsNamedFirst) {
    // In the fabric every cable's end a is the host or the switch, as the generator has it; names say what is meant.
    const std::string first_data = "drop: {match: {opcode: RC_RDMA_WRITE_FIRST}, most: 1}";
    for (const char* link : {"h0", "h0 - sw0", "h0 - sw0/1"}) {
        EXPECT_EQ(hit(run_text(with_fault(fmt::format("link: {}, direction: a_to_b, {}", link, first_data)))), "0")
            << link;
        EXPECT_EQ(hit(run_text(with_fault(fmt::format("link: {}, direction: b_to_a, {}", link, first_data)))), "2")
            << link;
    }
    for (const char* link : {"sw0/1", "sw0 - h0", "sw0/1 - h0"}) {
        EXPECT_EQ(hit(run_text(with_fault(fmt::format("link: {}, direction: a_to_b, {}", link, first_data)))), "2")
            << link;
        EXPECT_EQ(hit(run_text(with_fault(fmt::format("link: {}, direction: b_to_a, {}", link, first_data)))), "0")
            << link;
    }
}

TEST(ScenarioFaults, AMatchByFlowHitsItsPacketsAlone) {
    const auto drop = [](const char* flow) {
        return fmt::format("link: h3, drop: {{match: {{flow: '{}', opcode: RC_RDMA_WRITE_MIDDLE}}, most: 5}}", flow);
    };
    EXPECT_EQ(hit(run_text(with_fault(drop("incast")))), "01");
    EXPECT_EQ(hit(run_text(with_fault(drop("incast[1]")))), "1");
    EXPECT_EQ(hit(run_text(with_fault(drop("back[0]")))), "2");
    EXPECT_EQ(hit(run_text(with_fault(drop("3")))), "3");
}

TEST(ScenarioFaults, QpnsCountFrom256AtEachHost) {
    const auto drop = [](int qpn) {
        return fmt::format(
            "link: sw0/4, direction: a_to_b, drop: {{match: {{qpn: {}, opcode: RC_RDMA_WRITE_MIDDLE}}, "
            "most: 5}}",
            qpn);
    };
    EXPECT_EQ(hit(run_text(with_fault(drop(256)))), "0");
    EXPECT_EQ(hit(run_text(with_fault(drop(257)))), "1");
    EXPECT_EQ(run_text(with_fault(drop(1))).problems,
              "s.yaml:15:67: faults[0].drop.match.qpn: no flow has the QPN 1; expected 256 for a host's first QP, and "
              "so on\n");
}

TEST(ScenarioFaults, AMatchByFlowHitsItsAcknowledgementsToo) {
    const Outcome out = run_text(with_fault("link: h3, drop: {match: {flow: 'incast[0]', opcode: RC_ACKNOWLEDGE}}",
                                            "run: {until: 50 ms}\nexpectations: [fault f fired 1000 times]\n"));
    EXPECT_EQ(out.problems, "");
    EXPECT_NE(out.flow(0).status, flow::FlowStatus::Success);
    EXPECT_EQ(out.flow(1).status, flow::FlowStatus::Success);
}

TEST(ScenarioFaults, FlowsThatDoNotExistAreNamed) {
    const auto problem = [](const char* flow) {
        return run_text(with_fault(fmt::format("link: h3, drop: {{match: {{flow: '{}'}}}}", flow))).problems;
    };
    EXPECT_EQ(
        problem("incst"),
        "s.yaml:15:46: faults[0].drop.match.flow: there is no workload 'incst'; expected a workload's name, one of "
        "its flows such as 'incast[3]', or the number of a flow in the run; did you mean 'incast'?\n");
    EXPECT_EQ(
        problem("incast[2]"),
        "s.yaml:15:46: faults[0].drop.match.flow: there is no flow 'incast[2]': 'incast' has 2; expected 0 to 1\n");
    EXPECT_EQ(problem("back[2]"), "s.yaml:15:46: faults[0].drop.match.flow: 'back' has no flow 2; expected 0 to 1\n");
    EXPECT_EQ(problem("17"),
              "s.yaml:15:46: faults[0].drop.match.flow: there is no flow '17': the run has 4; expected 0 to 3\n");
    EXPECT_EQ(
        problem("-1"),
        "s.yaml:15:46: faults[0].drop.match.flow: '-1' is not a flow; expected a workload's name, one of its flows "
        "such as 'incast[3]', or the number of a flow in the run\n");
}

TEST(ScenarioFaults, FaultsThatStandAtALinkActOnFlows) {
    const auto sent_again = [](const std::string& network) {
        const Outcome out = run_text(
            "name: s\nnic: ideal\ntransport: {retransmission_timeout: 100 us}\n"
            "workloads: [{kind: flows, flows: [{src: h0, dst: h1, bytes: 1 MB}, "
            "{src: h1, dst: h0, bytes: 1 MB}]}]\n" +
            network);
        EXPECT_EQ(out.problems, "");
        std::string numbers;
        for (size_t i = 0; i < out.result.flows.size(); ++i)
            if (out.result.flows[i].retransmitted > 0) numbers += std::to_string(i);
        return numbers;
    };
    EXPECT_EQ(sent_again("hosts: 2\n"), "");
    EXPECT_EQ(sent_again("hosts: 2\nlink: {faults: {drop_every: 33}}\n"), "01");
    EXPECT_EQ(sent_again("hosts: 2\ntopology: single_switch\nlinks: [{a: h0, b: sw0, faults: {direction: a_to_b, "
                         "drop_every: 33}}]\n"),
              "0");
    EXPECT_EQ(sent_again("hosts: 2\ntopology: single_switch\nlinks: [{a: sw0, b: h0, faults: {direction: a_to_b, "
                         "drop_every: 33}}]\n"),
              "1");
    const std::string fabric = "topology: {kind: leaf_spine, leaves: 1, spines: 1, hosts_per_leaf: 2}\n";
    EXPECT_EQ(sent_again(fabric + "link: {faults: {drop_every: 33}}\n"), "01");
    EXPECT_EQ(sent_again(fabric + "links: [{a: h0, faults: {direction: a_to_b, drop_every: 33}}]\n"), "0");
    EXPECT_EQ(sent_again(fabric + "links: [{a: leaf0/1, b: h0, faults: {direction: a_to_b, drop_every: 33}}]\n"), "1");
}

TEST(PauseStorms, AStormOfAnAdapterStopsItsPortUntilItEnds) {
    const Outcome out =
        run_text(with_fault("link: h3, pause_storm: {from: 20 us, until: 1 ms}",
                            "expectations: [never drops, completed of incast == 2, fct.min of incast > 1 ms, "
                            "fault f fired, paused_time of port sw0/4 > 0.97 ms, pfc_pauses of h3 > 0]\n"));
    EXPECT_EQ(out.failures(), "");
    EXPECT_EQ(out.port("sw0/4").end.pause_storms, 0U) << "nobody watches";
}

TEST(PauseStorms, AStormOfASwitchStopsItsNeighbourAlone) {
    const Outcome out = run_text(with_fault("link: sw0/1 - h0, pause_storm: {}",
                                            "run: {until: 5 ms}\nexpectations: [paused_time of h0 > 4.9 ms, "
                                            "paused_time of h1 < 1 ms, unfinished of incast == 1]\n"));
    EXPECT_EQ(out.failures(), "");
}

TEST(PauseStorms, OtherPrioritiesGoOn) {
    const Outcome out = run_text(with_fault("link: h3, pause_storm: {priority: 5}"));
    EXPECT_EQ(out.failures(), "");
    for (const run::FlowRecord& f : out.result.flows) EXPECT_EQ(f.status, flow::FlowStatus::Success);
}

TEST(PauseStorms, TheWatchdogFindsAStormAndDropsWhatWaitsForIt) {
    const Outcome out = run_text(
        with_fault("link: h3, pause_storm: {from: 20 us}",
                   "switch: {pfc: {watchdog: 200 us}}\nrun: {until: 10 ms}\nexpectations: [pause_storms of sw0 == 1, "
                   "watchdog_drops of sw0/4 > 0, drops of sw0/1 == 0, errors of incast == 2]\n"));
    EXPECT_EQ(out.failures(), "");
}

TEST(PauseStorms, AStormThatNobodyEndsIsNamedWhereTheRunIsStuck) {
    // Flows that cannot send a packet again do not time out: those to h3 wait for ever. Those of h3 wait for
    // acknowledgements that are paused, and give up.
    const Outcome out = run_text(with_fault("link: h3, pause_storm: {}"));
    EXPECT_EQ(out.result.ending, run::RunEnding::Stuck);
    EXPECT_NE(out.result.stuck_dump.find("h3 pauses sw0 on priority 3 without end (fault 'f')"), std::string::npos)
        << out.result.stuck_dump;
}

TEST(PauseStorms, WhereThereIsNoPfcThereIsNoStorm) {
    EXPECT_NE(run_text(with_fault("link: h3, pause_storm: {}", "switch: {pfc: {enabled: false}}\n"))
                  .problems.find("'f' is a pause storm on a link without PFC: "),
              std::string::npos);
    const std::string problems = run_text(
                                     "name: s\nhosts: 3\nnic: ndr-400g\nworkloads: [{kind: all_to_all, bytes: 1 KB}]\n"
                                     "faults: [{link: h0, pause_storm: {}}]\n")
                                     .problems;
    EXPECT_EQ(problems, "s.yaml:5:10: faults[0]: InfiniBand has credits, not pauses; expected another kind of fault\n");
}

}  // namespace
}  // namespace simverbs::scenarios
