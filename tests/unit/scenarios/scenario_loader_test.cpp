#include "scenarios/lang/scenario_loader.hpp"

#include <gtest/gtest.h>

#include "scenarios/lang/scenario_schemas.hpp"
#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using sim::BitRate;
using sim::SimTime;
using testing::load_one;
using testing::load_text;

std::string errors_of(std::string_view text) {
    return load_text(text).errors;
}

TEST(Scenario, ALabFileIsAScenarioWithoutTraffic) {
    const ScenarioSpec spec = load_one("hosts: 3\nnic: cx5-100g\n");
    EXPECT_EQ(spec.lab.hosts.size(), 3U);
    EXPECT_EQ(spec.lab.links.size(), 3U);
    EXPECT_EQ(spec.topology.kind, "single_switch");
    EXPECT_FALSE(spec.topology.is_fabric);
    EXPECT_TRUE(spec.workloads.empty());
    EXPECT_EQ(spec.cc.algorithm, "none");
    EXPECT_EQ(spec.run_name, "");
}

TEST(Scenario, AFabricIsDescribedAndNotExpanded) {
    const ScenarioSpec spec = load_one(
        "topology: {kind: fat_tree, k: 32, uplink_rate: 400 Gb/s}\n"
        "nic: cx5-100g\n"
        "link: {rate: 100 Gb/s, delay: 1 us}\n"
        "switch: {buffer: 32 MiB}\n");
    EXPECT_TRUE(spec.topology.is_fabric);
    EXPECT_EQ(spec.topology.host_count, 8192);
    EXPECT_EQ(spec.topology.values.integer("k"), 32);
    EXPECT_EQ(spec.topology.values.rate("uplink_rate"), BitRate::gbps(400));
    EXPECT_FALSE(spec.topology.values.has("core_rate"));
    EXPECT_TRUE(spec.lab.hosts.empty());
    ASSERT_EQ(spec.topology.host.nics.size(), 1U);
    EXPECT_EQ(spec.topology.host.nics[0].profile, "cx5-100g");
    EXPECT_EQ(spec.topology.link.rate, BitRate::gbps(100));
    EXPECT_EQ(spec.topology.link.delay, SimTime::us(1));
    EXPECT_EQ(spec.topology.switch_.buffer, 32 << 20);
    EXPECT_EQ(spec.topology.switch_.latency, SimTime::ns(300));
}

TEST(Scenario, EachFabricKnowsHowManyHostsItHas) {
    const std::vector<std::pair<const char*, int64_t>> rows{
        {"{kind: dumbbell, left_hosts: 3}", 5},
        {"{kind: parking_lot, switches: 4, hosts_per_switch: 2}", 8},
        {"{kind: leaf_spine}", 16},
        {"{kind: fat_tree, k: 8, oversubscription: 2}", 256},
        {"{kind: fat_tree, pods: 5, tors_per_pod: 4, aggs_per_pod: 4, cores: 16, hosts_per_tor: 16}", 320},
        {"hpcc_320", 320},
        {"{kind: rail_optimised, servers: 16}", 128},
        {"{kind: dragonfly}", 72},
        {"{kind: dragonfly, groups: 3}", 24}};
    for (const auto& [text, hosts] : rows) {
        EXPECT_EQ(load_one("topology: " + std::string(text)).topology.host_count, hosts) << text;
    }
}

TEST(Scenario, SwitchesOfAFabricAreAdjustedByName) {
    const ScenarioSpec spec = load_one(
        "topology: leaf_spine\n"
        "switch: {pfc: {priorities: [3, 4], reserve: 1 KiB}, alpha: 2}\n"
        "switches: {spine0: {pfc: {headroom: 10 KiB}, a_shift: 3}}\n"
        "links: [{a: leaf0/1, b: spine0, rate: 10 Gb/s}]\n");
    ASSERT_EQ(spec.lab.switches.size(), 1U);
    const SwitchQueueing& spine = spec.lab.switches[0].queueing;
    EXPECT_EQ(spine.pfc.headroom, 10 << 10);
    EXPECT_EQ(spine.pfc.priorities, (std::vector<int>{3, 4})) << "keys of a map inside are inherited one by one";
    EXPECT_EQ(spine.pfc.reserve, 1 << 10);
    EXPECT_EQ(spine.a_shift, 3) << "it replaces the template's alpha";
    EXPECT_FALSE(spec.topology.switch_.queueing.a_shift.has_value());
    EXPECT_EQ(spec.topology.switch_.queueing.alpha, 2);
    EXPECT_FALSE(spec.topology.switch_.queueing.pfc.headroom.has_value());
    ASSERT_EQ(spec.topology.adjustments.size(), 1U);
    EXPECT_EQ(spec.topology.adjustments[0].link.a.text, "leaf0/1");
    EXPECT_EQ(spec.topology.adjustments[0].link.b->text, "spine0");
    EXPECT_EQ(spec.topology.adjustments[0].properties.rate, BitRate::gbps(10));
}

TEST(Scenario, QueuesHaveEveryKeyOfTheFile) {
    const SwitchQueueing q = load_one(
                                 "switch:\n"
                                 "  cell: 208 B\n"
                                 "  alpha: 1/16\n"
                                 "  pfc: {enabled: false, xon_offset: 5 KB, quanta: 100, watchdog: 200 ms}\n"
                                 "  ecn: {kmin: 5 KB, kmax: 200 KB, pmax: 1 %, priorities: [3, 5], at: enqueue}\n"
                                 "  scheduler: {strict: [7], dwrr: {3: 60, 0: 40}}\n"
                                 "  dscp_map: {26: 3}\n"
                                 "  pcp_map: {1: 2}\n"
                                 "  load_balancing: flowlet\n"
                                 "  flowlet_gap: 10 us\n"
                                 "  trimming: true\n"
                                 "  int: true\n")
                                 .lab.switches.at(0)
                                 .queueing;
    EXPECT_EQ(q.cell, 208);
    EXPECT_EQ(q.alpha, 1.0 / 16);
    EXPECT_FALSE(q.pfc.is_enabled);
    EXPECT_EQ(q.pfc.xon_offset, 5000);
    EXPECT_EQ(q.pfc.quanta, 100);
    EXPECT_EQ(q.pfc.watchdog, SimTime::ms(200));
    EXPECT_EQ(q.ecn.kmin, 5000);
    EXPECT_EQ(q.ecn.kmax, 200'000);
    EXPECT_DOUBLE_EQ(q.ecn.pmax, 0.01);
    EXPECT_EQ(q.ecn.priorities, (std::vector<int>{3, 5}));
    EXPECT_EQ(q.ecn.at, EcnPoint::Enqueue);
    EXPECT_TRUE(q.ecn.has_own_thresholds);
    EXPECT_EQ(q.scheduler.strict, std::vector<int>{7});
    EXPECT_EQ(q.scheduler.dwrr, (NumberPairs{{3, 60}, {0, 40}}));
    EXPECT_EQ(q.dscp_map, (NumberPairs{{26, 3}}));
    EXPECT_EQ(q.pcp_map, (NumberPairs{{1, 2}}));
    EXPECT_EQ(q.load_balancing, LoadBalancing::Flowlet);
    EXPECT_EQ(q.flowlet_gap, SimTime::us(10));
    EXPECT_TRUE(q.trims);
    EXPECT_EQ(q.adds_int, true);
}

TEST(Scenario, InfiniBandSwitchesHaveLanes) {
    const SwitchQueueing q = load_one(
                                 "nic: ndr-400g\n"
                                 "switch:\n"
                                 "  vl_buffer: 32 KiB\n"
                                 "  vl_arbitration: {high: {1: 64}, low: {0: 32, 2: 0}, limit: 10}\n"
                                 "  sl2vl: {0: 0, 3: 1}\n"
                                 "  fecn: {threshold: 15, marking_rate: 10, packet_size: 256 B}\n"
                                 "  path_policy: up_down\n")
                                 .lab.switches.at(0)
                                 .queueing;
    EXPECT_EQ(q.vl_buffer, 32 << 10);
    EXPECT_EQ(q.vl_arbitration.high, (NumberPairs{{1, 64}}));
    EXPECT_EQ(q.vl_arbitration.low, (NumberPairs{{0, 32}, {2, 0}}));
    EXPECT_EQ(q.vl_arbitration.high_limit, 10);
    EXPECT_EQ(q.sl2vl, (NumberPairs{{0, 0}, {3, 1}}));
    EXPECT_TRUE(q.fecn.is_enabled);
    EXPECT_EQ(q.fecn.threshold, 15);
    EXPECT_EQ(q.fecn.packet_size, 256);
    EXPECT_EQ(q.path_policy, PathPolicy::UpDown);
}

TEST(Scenario, ALabRefusesWhatOnlyScenariosHave) {
    const auto lab = testing::load("switch: {pfc: {enabled: false}, latency: 1 us}\nlink: {delay: 1 us}\n");
    EXPECT_EQ(lab.errors,
              "lab.yaml:1:15: switch.pfc: 'pfc' has no meaning in a lab; remove it, or run the file as a scenario: "
              "simverbs run FILE\n"
              "lab.yaml:2:15: link.delay: 'delay' has no meaning in a lab; remove it, or run the file as a scenario: "
              "simverbs run FILE\n");
    EXPECT_TRUE(testing::load("topology: fat_tree")
                    .errors.starts_with("lab.yaml:1:11: topology: 'fat_tree' is not a topology of a lab; expected one "
                                        "of single_switch, back_to_back, "
                                        "explicit"));
}

TEST(Scenario, TransportTakesWordsWhereTheyMayStand) {
    const TransportSpec by_default = load_one("hosts: 2").transport;
    EXPECT_EQ(by_default.payload, 4096);
    EXPECT_EQ(by_default.loss_recovery, LossRecovery::GoBackN);
    EXPECT_EQ(by_default.window, WindowKind::None);
    EXPECT_EQ(by_default.retransmission_timeout, SimTime::ns(67'108'864));
    const TransportSpec bdp = load_one("transport: {window: bdp, loss_recovery: selective_repeat}").transport;
    EXPECT_EQ(bdp.window, WindowKind::Bdp);
    EXPECT_EQ(bdp.loss_recovery, LossRecovery::SelectiveRepeat);
    const TransportSpec fixed = load_one("transport: {window: 64 KiB, payload: 1000 B, ack_every: 4}").transport;
    EXPECT_EQ(fixed.window, WindowKind::Fixed);
    EXPECT_EQ(fixed.window_bytes, 65'536);
    EXPECT_EQ(fixed.ack_every, 4);
}

TEST(Scenario, ParametersOfCongestionControlComeFromTheTable) {
    const CcSpec cc = load_one("cc: {algorithm: dcqcn, preset: paper, rpg_ai_rate: 5 Mb/s}").cc;
    EXPECT_EQ(cc.algorithm, "dcqcn");
    EXPECT_EQ(cc.preset, "paper");
    EXPECT_EQ(cc.values.rate("rpg_ai_rate"), BitRate::mbps(5));
    EXPECT_TRUE(cc.values.find("rpg_ai_rate")->is_written);
    EXPECT_EQ(cc.values.time("rpg_time_reset"), SimTime::us(55));
    EXPECT_FALSE(cc.values.find("rpg_time_reset")->is_written);
    EXPECT_EQ(load_one("cc: hpcc").cc.values.number("eta"), 0.95);
}

TEST(Scenario, AMapNamedLikeAnAlgorithmCountsForThatOneAlone) {
    const char* text = "cc: {algorithm: dcqcn, dcqcn: {rpg_threshold: 7}, hpcc: {eta: 0.9}}";
    EXPECT_EQ(load_one(text).cc.values.integer("rpg_threshold"), 7);
    const CcSpec cc = load_one(text, {"cc.algorithm=hpcc"}).cc;
    EXPECT_EQ(cc.values.number("eta"), 0.9);
    EXPECT_FALSE(cc.values.has("rpg_threshold"));
}

TEST(Scenario, WithoutATableEveryAlgorithmIsAccepted) {
    DiagnosticSink sink;
    const auto runs = parse_scenario("cc: {algorithm: mine, gain: 3}", "s.yaml", {}, sink);
    ASSERT_EQ(sink.to_string(), "");
    EXPECT_EQ(runs->front().cc.values.text("gain"), "3");
}

TEST(Scenario, WorkloadsHaveTheirHostsAndValues) {
    const ScenarioSpec spec = load_one(
        "hosts: 8\n"
        "workloads:\n"
        "  - {kind: incast, senders: 5, receiver: h7, bytes: 64 KB, bursts: 3, period: 1 ms, start: 2 us}\n"
        "  - {name: some, kind: permutation, hosts: [h0..h2, h5], bytes: 1 MiB, priority: 4}\n"
        "  - {kind: permutation, bytes: 1 MiB}\n"
        "  - {kind: permutation, bytes: 2 MiB}\n"
        "  - {kind: ring_all_reduce, ranks: [h3, h1], bytes: 1 MiB, channels: 2}\n"
        "  - {kind: perftest, src: h0, dst: h1}\n");
    ASSERT_EQ(spec.workloads.size(), 6U);
    const WorkloadSpec& incast = spec.workloads[0];
    EXPECT_EQ(incast.name, "incast");
    EXPECT_EQ(incast.start, SimTime::us(2));
    EXPECT_EQ(incast.senders.count, 5);
    EXPECT_EQ(incast.receiver->text, "h7");
    EXPECT_EQ(incast.values.size("bytes"), 64'000);
    EXPECT_EQ(incast.values.integer("bursts"), 3);
    EXPECT_EQ(incast.values.time("period"), SimTime::ms(1));
    const WorkloadSpec& some = spec.workloads[1];
    ASSERT_EQ(some.hosts.hosts.size(), 4U);
    EXPECT_EQ(some.hosts.hosts[2].text, "h2");
    EXPECT_EQ(some.hosts.hosts[3].text, "h5");
    EXPECT_EQ(some.priority, 4);
    EXPECT_TRUE(spec.workloads[2].hosts.is_all);
    EXPECT_EQ(spec.workloads[2].name, "permutation");
    EXPECT_EQ(spec.workloads[3].name, "permutation_1");
    EXPECT_EQ(spec.workloads[4].hosts.hosts[0].text, "h3");
    EXPECT_EQ(spec.workloads[4].values.size("chunk"), 512 << 10);
    EXPECT_EQ(spec.workloads[5].values.integer("iterations"), 5000);
}

TEST(Scenario, PoissonFlowsHaveADistributionAndALoad) {
    const ScenarioSpec spec = load_one(
        "topology: hpcc_320\n"
        "workloads: [{kind: poisson, cdf: websearch, load: 30 %, from: 1 ms, until: 3 ms}]\n");
    const WorkloadSpec& flows = spec.workloads.at(0);
    EXPECT_EQ(flows.values.text("cdf"), "websearch");
    EXPECT_DOUBLE_EQ(flows.values.number("load"), 0.3);
    EXPECT_EQ(flows.start, SimTime::ms(1));
    EXPECT_EQ(flows.values.time("until"), SimTime::ms(3));
    EXPECT_EQ(flows.file, "");
}

TEST(Scenario, SingleFlowsAreAList) {
    const ScenarioSpec spec = load_one(
        "hosts: [client, server]\n"
        "workloads:\n"
        "  - kind: flows\n"
        "    flows:\n"
        "      - {src: client, dst: server, bytes: 1 MB}\n"
        "      - {src: server, dst: client, bytes: 2 MB, start: 3 us, priority: 5}\n");
    const std::vector<FlowEntry>& flows = spec.workloads.at(0).flows;
    ASSERT_EQ(flows.size(), 2U);
    EXPECT_EQ(flows[0].src.text, "client");
    EXPECT_FALSE(flows[0].priority.has_value());
    EXPECT_EQ(flows[1].bytes, 2'000'000);
    EXPECT_EQ(flows[1].start, SimTime::us(3));
    EXPECT_EQ(flows[1].priority, 5);
}

TEST(Scenario, ProgramsAreReadyWhenTheySaySo) {
    const ScenarioSpec spec = load_one(
        "programs:\n"
        "  - {host: h0, command: ib_write_bw -d mlx5_0, ready: {listens: 18515}}\n"
        "  - {name: client, host: h1, command: [ib_write_bw, h0], expect: {exit: 1, output: 'BW *avg'}, timeout: 5 s}\n"
        "  - {host: h1, command: date, ready: {after: 1 ms}}\n"
        "  - {host: h1, command: 'echo $${x}', ready: {prints: '^done'}}\n");
    ASSERT_EQ(spec.programs.size(), 4U);
    EXPECT_EQ(spec.programs[0].name, "program0");
    EXPECT_EQ(spec.programs[0].command_line, "ib_write_bw -d mlx5_0");
    EXPECT_EQ(spec.programs[0].ready, ReadyKind::Listens);
    EXPECT_EQ(spec.programs[0].ready_port, 18515);
    EXPECT_EQ(spec.programs[0].expected_exit, 0);
    EXPECT_EQ(spec.programs[1].arguments, (std::vector<std::string>{"ib_write_bw", "h0"}));
    EXPECT_EQ(spec.programs[1].expected_exit, 1);
    EXPECT_EQ(spec.programs[1].expected_output, "BW *avg");
    EXPECT_EQ(spec.programs[1].timeout, SimTime::s(5));
    EXPECT_EQ(spec.programs[2].ready_after, SimTime::ms(1));
    EXPECT_EQ(spec.programs[3].ready_pattern, "^done");
    EXPECT_EQ(spec.programs[3].command_line, "echo ${x}");
}

TEST(Scenario, FaultsHaveAPlaceAndATrigger) {
    const ScenarioSpec spec = load_one(
        "topology: {kind: fat_tree, k: 4}\n"
        "faults:\n"
        "  - {link: tor0/3 - agg0, direction: a_to_b, drop: {match: {qpn: 5, psn: 0x10, opcode: RC_SEND_ONLY, "
        "iteration: 2}}, from: 1 ms, until: 2 ms}\n"
        "  - {name: late, link: h3, delay: {every: 10, by: 5 us, most: 3}}\n"
        "  - {link: h1, flap: {from: 1 ms, period: 1 ms, down: 10 us, count: 5}}\n"
        "  - {link: h2, pause_storm: {from: 1 ms, until: 2 ms, priority: 4}}\n"
        "  - {kill: {switch: core0, at: 3 ms}}\n");
    ASSERT_EQ(spec.faults.size(), 5U);
    const AddressedFaultSpec& drop = spec.faults[0];
    EXPECT_EQ(drop.name, "fault0");
    EXPECT_EQ(drop.kind, AddressedFaultKind::Drop);
    EXPECT_EQ(drop.link->a.text, "tor0/3");
    EXPECT_EQ(drop.link->b->text, "agg0");
    EXPECT_EQ(drop.direction, FaultDirection::AToB);
    ASSERT_TRUE(drop.trigger.match.has_value());
    EXPECT_EQ(drop.trigger.match->psn, 16);
    EXPECT_EQ(drop.trigger.match->opcode, "RC_SEND_ONLY");
    EXPECT_EQ(drop.trigger.match->iteration, 2);
    EXPECT_EQ(drop.from, SimTime::ms(1));
    EXPECT_EQ(drop.until, SimTime::ms(2));
    EXPECT_TRUE(drop.must_fire);
    EXPECT_EQ(spec.faults[1].by, SimTime::us(5));
    EXPECT_EQ(spec.faults[1].trigger.most, 3);
    EXPECT_EQ(spec.faults[2].down_time, SimTime::us(10));
    EXPECT_EQ(spec.faults[2].count, 5);
    EXPECT_EQ(spec.faults[3].priority, 4);
    EXPECT_EQ(spec.faults[4].target, KillTarget::Switch);
    EXPECT_EQ(spec.faults[4].victim->text, "core0");
    EXPECT_EQ(spec.faults[4].at, SimTime::ms(3));
}

TEST(Scenario, FaultsOfProgramsAndPortsAreRead) {
    const ScenarioSpec spec = load_one(
        "hosts: 2\n"
        "programs: [{name: c, host: h0, command: ls}]\n"
        "faults:\n"
        "  - {kill: {program: c, at: 3 ms}}\n"
        "  - {freeze: {host: h1, at: 1 ms, for: 2 ms}}\n"
        "  - {fail_call: {program: c, call: create_qp, number: 3, count: 2, error: EAGAIN}}\n"
        "  - {limit_cq: {program: c, cq: 2, entries: 5}}\n"
        "  - {place_cqe: {program: c, arming: 4, patience: 3 us}}\n"
        "  - {delay_receives: {program: c, by: 9 us, from: 1 us, until: 2 us}}\n"
        "  - {port_state: {port: h0, state: down, at: 7 us}}\n"
        "  - {change_gid: {port: h0, index: 1, gid: 'fe80::1', at: 7 us}}\n"
        "  - {change_gid: {port: h0, index: 1, at: 8 us}}\n"
        "  - {change_pkey: {port: h0, pkey: 0x8001, at: 7 us}}\n"
        "  - {port_event: {port: h0, event: lid_change, lid: 9, at: 7 us}}\n");
    ASSERT_EQ(spec.faults.size(), 11U);
    EXPECT_EQ(spec.faults[0].target, KillTarget::Program);
    EXPECT_EQ(spec.faults[0].victim->text, "c");
    EXPECT_EQ(spec.faults[1].kind, AddressedFaultKind::Freeze);
    EXPECT_EQ(spec.faults[1].lasts, SimTime::ms(2));
    const ProgramFaultSpec& call = spec.faults[2].program;
    EXPECT_EQ(call.name.text, "c");
    EXPECT_EQ(call.call, "create_qp");
    EXPECT_EQ(call.number, 3);
    EXPECT_EQ(call.count, 2);
    EXPECT_EQ(errno_of(call.error), EAGAIN);
    EXPECT_EQ(spec.faults[3].program.number, 2);
    EXPECT_EQ(spec.faults[3].program.entries, 5);
    EXPECT_EQ(spec.faults[4].program.number, 4);
    EXPECT_EQ(spec.faults[4].program.cq, 0);
    EXPECT_EQ(spec.faults[4].by, SimTime::us(3));
    EXPECT_EQ(spec.faults[5].by, SimTime::us(9));
    EXPECT_EQ(spec.faults[5].until, SimTime::us(2));
    EXPECT_EQ(spec.faults[6].program.state, PortStateWanted::Down);
    EXPECT_FALSE(spec.faults[6].lasts.has_value());
    EXPECT_EQ(spec.faults[7].program.gid->at(15), 1);
    EXPECT_FALSE(spec.faults[8].program.gid.has_value());
    EXPECT_EQ(spec.faults[9].program.pkey, 0x8001);
    EXPECT_EQ(spec.faults[10].program.lid, 9);
}

TEST(Scenario, EveryErrorThatAFaultMayNameIsAnErrno) {
    for (const std::string_view name : kFailCallSchema.find("error")->choices) EXPECT_GT(errno_of(name), 0) << name;
    EXPECT_EQ(errno_of("ENOTHING"), 0);
}

TEST(Scenario, OutputsAndRunHaveDefaultsThatServe) {
    const ScenarioSpec plain = load_one("hosts: 2");
    EXPECT_TRUE(plain.outputs.flows);
    EXPECT_FALSE(plain.outputs.series.has_value());
    EXPECT_EQ(plain.run.stop_when, StopWhen::AllFlowsDone);
    EXPECT_FALSE(plain.run.until.has_value());
    const ScenarioSpec spec = load_one(
        "outputs: {pcap: [h0, sw0/2], series: {interval: 5 us, what: queue, at: sw0}, report: false}\n"
        "run: {until: 5 ms, stop_when: until, threads: 2, window: 500 ns, warm_up: 1 ms, measure: {until: 4 ms}}\n");
    ASSERT_EQ(spec.outputs.pcap.size(), 2U);
    EXPECT_EQ(spec.outputs.pcap[1].text, "sw0/2");
    EXPECT_EQ(spec.outputs.series->interval, SimTime::us(5));
    EXPECT_EQ(spec.outputs.series->what, std::vector<std::string>{"queue"});
    EXPECT_EQ(spec.outputs.series->at.at(0).text, "sw0");
    EXPECT_EQ(spec.run.until, SimTime::ms(5));
    EXPECT_EQ(spec.run.threads, 2);
    EXPECT_EQ(spec.run.window, SimTime::ns(500));
    EXPECT_EQ(spec.run.measure_from, SimTime::ms(1));
    EXPECT_EQ(spec.run.measure_until, SimTime::ms(4));
}

TEST(Scenario, ASummaryCountsWhatThereIs) {
    const auto loaded = load_text(
        "name: x\ntopology: hpcc_320\nsweep: {seed: [1, 2]}\n"
        "workloads: [{kind: permutation, bytes: 1 MB}]\nexpectations: [never drops, deadlocks == 0]\n");
    EXPECT_EQ(summary_of(*loaded.runs), "x: 2 runs of 320 hosts, 1 workload, 2 expectations");
}

TEST(Scenario, AMapOfAHundredThousandKeysIsReadInOneGo) {
    // Looking each key up among the others would take minutes.
    std::string text = "hosts: 2\n";
    for (int i = 0; i < 100'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
    DiagnosticSink sink;
    EXPECT_FALSE(parse_scenario(text, "s.yaml", testing::scenario_options(), sink).has_value());
    EXPECT_EQ(sink.count(), 100'000U);
}

TEST(Scenario, ANumberWithoutItsUnitIsAnError) {
    for (const char* text : {"workloads: [{kind: permutation, bytes: 100}]", "switch: {ecn: {kmin: 5}}",
                             "run: {until: 3}", "transport: {payload: 1000}", "topology: {kind: hpcc_320, delay: 1}",
                             "expectations: ['fct.p99 < 5']", "cc: {algorithm: dcqcn, rpg_ai_rate: 40}"}) {
        EXPECT_NE(errors_of(text).find(" has no unit; expected "), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace simverbs::scenarios
