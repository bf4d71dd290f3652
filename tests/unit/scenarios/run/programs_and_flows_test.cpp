// Adapters of programs and hosts of flows in one fabric. No program runs here: the adapters send lengths.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "models/hca/transport/work_source.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/unit/models/wire/pcap_file.hpp"

namespace simverbs::scenarios::run {
namespace {

using sim::SimTime;

/// So many messages of one length, all at once.
class Messages final : public hca::WorkSource {
  public:
    Messages(uint32_t count, uint32_t length) : left_(count), length_(length) {}
    bool next(hca::FlowMessage& message, SimTime) override {
        if (left_ == 0) return false;
        --left_;
        message = {hca::WrOpcode::RdmaWrite, length_, 0};
        return true;
    }
    void done(uint64_t, hca::WcStatus status, SimTime now) override {
        succeeded += status == hca::WcStatus::Success ? 1 : 0;
        last = now;
    }
    uint32_t succeeded = 0;
    SimTime last;

  private:
    uint32_t left_, length_;
};

/// A scenario's fabric, and connections between the adapters of its programs.
struct Built {
    std::vector<ScenarioSpec> specs;
    std::string problems;
    std::optional<BuiltScenario> scenario;
    std::vector<std::unique_ptr<Messages>> sources;

    [[nodiscard]] FlowFabric& fabric() { return *scenario->fabric; }
    hca::Hca& adapter(const std::string& host) {
        return fabric().adapters().nic(fabric().adapter_port(*scenario->topology.find_host(host)).adapter);
    }
    [[nodiscard]] hca::LinkCounts counts(const std::string& host) { return adapter(host).link_counts(1); }

    /// What its packets ask for.
    struct Asked {
        uint8_t sl = 0;
        uint8_t traffic_class = 0;
    };
    hca::AhAttr address(const std::string& host, const Asked& asked) {
        hca::AhAttr ah;
        ah.port_num = 1;
        ah.sl = asked.sl;
        ah.traffic_class = asked.traffic_class;
        const hca::HcaPortConfig& port = adapter(host).config().ports[0];
        if (port.link_layer == hca::LinkLayer::InfiniBand) {
            ah.dlid = port.lid;
            return ah;
        }
        ah.is_global = true;
        ah.sgid_index = 1;
        ah.dgid = port.gids[1].gid;
        ah.hop_limit = 64;
        return ah;
    }
    Messages& send(const std::string& from, const std::string& to, uint32_t count, uint32_t length, uint8_t sl) {
        return send(from, to, count, length, Asked{sl});
    }
    Messages& send(const std::string& from, const std::string& to, uint32_t count, uint32_t length,
                   const Asked& asked) {
        sources.push_back(std::make_unique<Messages>(count, length));
        sources.push_back(std::make_unique<Messages>(0, 0));
        Messages& source = *sources[sources.size() - 2];
        hca::Hca& x = adapter(from);
        hca::Hca& y = adapter(to);
        const uint32_t qp = x.create_flow(hca::QpType::Rc, &source);
        const uint32_t peer = y.create_flow(hca::QpType::Rc, sources.back().get());
        hca::FlowPath path;
        path.ah = address(from, asked);
        path.dest_qpn = qp;
        EXPECT_EQ(y.connect_flow({0, fabric().engine().frontier(), nullptr}, peer, path), 0);
        path.ah = address(to, asked);
        path.dest_qpn = peer;
        EXPECT_EQ(x.connect_flow({0, fabric().engine().frontier(), nullptr}, qp, path), 0);
        return source;
    }
    [[nodiscard]] uint64_t drops() {
        uint64_t sum = 0;
        for (size_t s = 0; s < fabric().switch_count(); ++s)
            for (uint32_t p = 0; p < fabric().fabric_switch(s).config().ports; ++p) {
                const fabric::PortCounters c = fabric().fabric_switch(s).counters(p);
                sum += c.drops_full + c.drops_headroom;
            }
        return sum;
    }
};

Built build(const std::string& text) {
    Built out;
    DiagnosticSink sink;
    auto runs = parse_scenario("name: s\n" + text, "s.yaml", scenario_options(), sink);
    if (runs) {
        out.specs = std::move(*runs);
        out.scenario = plan_scenario(out.specs.front(), sink);
        if (out.scenario) make_fabric(*out.scenario);
    }
    out.problems = sink.to_string();
    return out;
}

std::string programs_on(const std::vector<std::string>& hosts) {
    std::string out = "programs:\n";
    for (const std::string& host : hosts) out += "  - {host: " + host + ", command: ls}\n";
    return out;
}

const std::string kFive =
    "hosts: 5\nnic: ideal\nlink: {rate: 100 Gb/s, delay: 100 ns}\n" + programs_on({"h0", "h1", "h2", "h3", "h4"});

TEST(AdaptersInFabrics, ThatArePausedLoseNothing) {
    Built b = build(kFive + "switch: {buffer: 1 MB, pfc: {priorities: 3}}\n");
    ASSERT_EQ(b.problems, "");
    std::vector<Messages*> sent;
    for (const char* from : {"h0", "h1", "h2"}) sent.push_back(&b.send(from, "h4", 20, 100000, 3));
    b.fabric().engine().run_until(SimTime::ms(20));
    for (const Messages* m : sent) EXPECT_EQ(m->succeeded, 20U);
    EXPECT_EQ(b.drops(), 0U);
    EXPECT_GT(b.counts("h0").pauses_received, 0U);
    EXPECT_GT(b.counts("h0").paused_time, SimTime::us(100));
    EXPECT_EQ(b.fabric().pool().in_use(), 0U);
    b.fabric().check_conservation();
}

TEST(AdaptersInFabrics, WithoutPauseTheSameTrafficLosesPackets) {
    Built b = build(kFive + "switch: {buffer: 1 MB, pfc: {enabled: false}}\n");
    ASSERT_EQ(b.problems, "");
    for (const char* from : {"h0", "h1", "h2"}) b.send(from, "h4", 20, 100000, 3);
    b.fabric().engine().run_until(SimTime::ms(20));
    EXPECT_GT(b.drops(), 0U);
}

/// Three adapters flood a fourth; class 3 alone is lossless.
struct Flood {
    uint64_t drops = 0;
    uint64_t pauses = 0;
};
Flood flood(const std::string& nic, const std::string& sw, const Built::Asked& asked) {
    Built b =
        build("hosts: 5\nnic: {profile: ideal" + nic + "}\nlink: {rate: 100 Gb/s, delay: 100 ns}\n" +
              programs_on({"h0", "h1", "h2", "h3", "h4"}) + "switch: {buffer: 1 MB, pfc: {priorities: 3}" + sw + "}\n");
    EXPECT_EQ(b.problems, "");
    if (!b.scenario) return {};
    for (const char* from : {"h0", "h1", "h2"}) b.send(from, "h4", 20, 100000, asked);
    b.fabric().engine().run_until(SimTime::ms(20));
    return {b.drops(), b.counts("h0").pauses_received};
}

TEST(ServicesOfPrograms, ATrafficClassHasThePriorityThatTheMapsGiveItsDscp) {
    const auto is_lossless = [](const Flood& f) { return f.drops == 0 && f.pauses > 0; };
    const auto is_lossy = [](const Flood& f) { return f.drops > 0 && f.pauses == 0; };
    EXPECT_TRUE(is_lossless(flood("", "", {0, 106}))) << "DSCP 26 is of class 3 without a map too";
    EXPECT_TRUE(is_lossy(flood("", "", {0, 40})));
    const std::string map = ", dscp_map: {10: 3, 26: 1}";
    EXPECT_TRUE(is_lossless(flood(map, map, {0, 40})));
    EXPECT_TRUE(is_lossy(flood(map, map, {0, 106})));
    EXPECT_TRUE(is_lossless(flood(map, map, {3, 0}))) << "an SL is a class selector, which the map leaves alone";
    EXPECT_TRUE(is_lossless(flood(map, map, {5, 40}))) << "a DSCP that is on the wire counts";
}

TEST(ServicesOfPrograms, AnAdapterThatMapsADscpElsewhereDoesNotStopWhatTheSwitchPauses) {
    const Flood deaf = flood("", ", dscp_map: {10: 3}", {0, 40});
    EXPECT_GT(deaf.drops, 0U);
    EXPECT_GT(deaf.pauses, 0U);
}

TEST(ServicesOfPrograms, ATagsPcpIsTheSlElseTheDscpsPriorityElseTheNics) {
    const auto pauses = [](const std::string& nic, const Built::Asked& asked) {
        return flood(", vlan: 7" + nic, "", asked).pauses > 0;
    };
    EXPECT_TRUE(pauses("", {3, 0}));
    EXPECT_FALSE(pauses("", {5, 106})) << "PCP 5: the switch does not look at DSCP 26";
    EXPECT_TRUE(pauses("", {0, 106}));
    EXPECT_FALSE(pauses(", dscp_map: {26: 5}", {0, 106}));
    EXPECT_TRUE(pauses(", priority: 3", {}));
    EXPECT_FALSE(pauses("", {}));
}

TEST(ServicesOfPrograms, AnUntaggedPacketThatAsksForNothingHasTheNicsPriority) {
    EXPECT_GT(flood(", priority: 3", "", {}).pauses, 0U);
    EXPECT_EQ(flood("", "", {}).pauses, 0U);
}

TEST(ServicesOfPrograms, MapsThatTellTooManyDscpsApartAreRefused) {
    // The switch gives each of nine DSCPs another priority than the NICs, and no two of them are treated alike.
    const auto map = [](int shift) {
        std::string text = "{";
        for (int i = 0; i < 9; ++i) text += fmt::format("{}: {}, ", 1 + 2 * i, (i + shift * (1 + i / 8)) % 8);
        return text.substr(0, text.size() - 2) + "}";
    };
    const Built b = build("hosts: 2\nnic: {profile: ideal, dscp_map: " + map(0) + "}\n" + programs_on({"h0", "h1"}) +
                          "switch: {dscp_map: " + map(1) + "}\n");
    EXPECT_EQ(
        b.problems,
        "s.yaml:1:1: topology: the dscp_maps tell more DSCPs apart than programs and flows can use in one "
        "scenario; expected maps of switches and NICs that agree, or flows of fewer DSCPs beside 0, 8, 16, … 56\n");
}

/// The frames that `host` sent and received, in a capture.
PcapFile frames_of(Built& b, const std::string& host) {
    const std::string path = testing::TempDir() + fmt::format("services-{}.pcap", ::getpid());
    const AdapterPort at = b.fabric().adapter_port(*b.scenario->topology.find_host(host));
    EXPECT_EQ(b.fabric().adapters().capture(at.adapter, at.port, path), "");
    b.send("h0", "h1", 3, 3000, Built::Asked{2, 26 << 2});
    b.fabric().engine().run_until(SimTime::ms(1));
    EXPECT_EQ(b.fabric().adapters().close_captures(), "");
    PcapFile file(path);
    std::remove(path.c_str());
    EXPECT_TRUE(file.ok);
    EXPECT_GE(file.records.size(), 4U) << "packets and acknowledgements";
    return file;
}

TEST(CapturesOfPrograms, FramesHaveTheTagsOfTheirPort) {
    Built b = build("hosts: 2\nnic: {profile: ideal, vlan: 7}\n" + programs_on({"h0", "h1"}));
    ASSERT_EQ(b.problems, "");
    for (const PcapFile::Record& record : frames_of(b, "h1").records) {
        EXPECT_EQ(record.frame[12] << 8 | record.frame[13], 0x8100);
        EXPECT_EQ(record.frame[14] << 8 | record.frame[15], 2 << 13 | 7) << "PCP and VLAN";
        EXPECT_EQ(record.frame[14 + 4 + 1] >> 2, 26) << "DSCP";
    }
}

TEST(CapturesOfPrograms, AnSlWithoutADscpIsAClassSelectorInUntaggedFrames) {
    Built b = build("hosts: 2\nnic: ideal\n" + programs_on({"h0", "h1"}));
    ASSERT_EQ(b.problems, "");
    b.send("h0", "h1", 1, 100, 3);
    const auto file = frames_of(b, "h0");
    size_t of_sl = 0;
    for (const PcapFile::Record& record : file.records) {
        const int dscp = record.frame[14 + 1] >> 2;
        EXPECT_TRUE(dscp == 24 || dscp == 26) << dscp;
        of_sl += dscp == 24 ? 1 : 0;
    }
    EXPECT_EQ(of_sl, 2U) << "a packet and its acknowledgement";
}

TEST(CapturesOfPrograms, CnpsHaveTheDscpOfTheirOwnClass) {
    Built b =
        build(kFive + "switch: {buffer: 2 MB, pfc: {priorities: 3}, ecn: {kmin: 50 KB, kmax: 200 KB}}\ncc: dcqcn\n");
    ASSERT_EQ(b.problems, "");
    for (const char* from : {"h2", "h3"}) b.send(from, "h1", 20, 100000, 3);
    b.send("h0", "h1", 20, 100000, 3);
    size_t cnps = 0;
    for (const PcapFile::Record& record : frames_of(b, "h1").records) {
        constexpr size_t kIp = 14, kBth = kIp + 20 + 8;
        constexpr uint8_t kCnp = 0x81;
        if (record.frame[kBth] != kCnp) continue;
        ++cnps;
        EXPECT_EQ(record.frame[kIp + 1] >> 2, 48);
    }
    EXPECT_GT(cnps, 0U);
}

TEST(CapturesOfPrograms, APacketsVlIsThatOfItsWay) {
    // Out of h0 by the adapters' table, to h1 by the switch's.
    Built b = build(
        "nic: ndr-400g\nhosts: [h0, h1]\nswitches: {sw0: {sl2vl: {2: 6}}}\n"
        "switch: {sl2vl: {2: 5}}\nlinks: [{a: h0, b: sw0}, {a: h1, b: sw0}]\n" +
        programs_on({"h0", "h1"}));
    ASSERT_EQ(b.problems, "");
    const auto file = frames_of(b, "h1");
    constexpr size_t kErfHeader = 16;
    size_t received = 0;
    for (const PcapFile::Record& record : file.records) {
        const auto lrh = std::span(record.frame).subspan(kErfHeader);
        EXPECT_EQ(lrh[1] >> 4, 2) << "SL";
        const bool is_received = (lrh[2] << 8 | lrh[3]) == b.adapter("h1").config().ports[0].lid;
        received += is_received ? 1 : 0;
        EXPECT_EQ(lrh[0] >> 4, is_received ? 6 : 5) << "VL";
    }
    EXPECT_GT(received, 0U);
    EXPECT_LT(received, file.records.size());
}

TEST(AdaptersInFabrics, APausedPriorityDoesNotHoldUpAnother) {
    const auto end_of_the_other = [](uint32_t messages_of_the_incast) {
        Built b = build(kFive + "switch: {buffer: 1 MB, pfc: {priorities: 3}}\n");
        for (const char* from : {"h0", "h1", "h2"}) b.send(from, "h4", messages_of_the_incast, 100000, 3);
        b.fabric().engine().run_until(SimTime::us(100));
        const Messages& other = b.send("h0", "h3", 10, 4096, 0);
        b.fabric().engine().run_until(SimTime::ms(40));
        EXPECT_EQ(other.succeeded, 10U);
        if (messages_of_the_incast != 0) {
            EXPECT_GT(b.counts("h0").paused_time, SimTime::us(200));
        }
        return other.last - SimTime::us(100);
    };
    // A third of the link is the incast's, whose packets go out in turn.
    EXPECT_LT(end_of_the_other(50), end_of_the_other(0) * 3);
}

TEST(AdaptersInFabrics, CountCreditsOnInfiniBand) {
    Built b =
        build("hosts: 5\nnic: {profile: ideal, link_layer: InfiniBand}\nlink: {rate: 100 Gb/s, delay: 100 ns}\n" +
              programs_on({"h0", "h1", "h2", "h4"}) + "workloads: [{kind: incast, senders: [h3], receiver: h3}]\n");
    EXPECT_NE(b.problems, "");  // a host does not send to itself
    b = build("hosts: 6\nnic: {profile: ideal, link_layer: InfiniBand}\nlink: {rate: 100 Gb/s, delay: 100 ns}\n" +
              programs_on({"h0", "h1", "h2", "h4"}) +
              "workloads: [{name: w, kind: flows, priority: 0, flows: [{src: h3, dst: h5, bytes: 1 MB}]}]\n");
    ASSERT_EQ(b.problems, "");
    std::vector<Messages*> sent;
    for (const char* from : {"h0", "h1", "h2"}) sent.push_back(&b.send(from, "h4", 20, 100000, 0));
    b.fabric().engine().run_until(SimTime::ms(20));
    for (const Messages* m : sent) EXPECT_EQ(m->succeeded, 20U);
    EXPECT_EQ(b.drops(), 0U);
    EXPECT_EQ(b.fabric().ended(), 1U);
    b.fabric().check_conservation();
}

TEST(AdaptersInFabrics, EveryGeneratorHasRoomForThem) {
    const std::pair<const char*, const char*> topologies[] = {
        {"{kind: back_to_back}", "h1"},    {"{kind: dumbbell, left_hosts: 2, right_hosts: 2}", "h3"},
        {"{kind: parking_lot}", "h2"},     {"{kind: leaf_spine}", "h15"},
        {"{kind: fat_tree, k: 4}", "h15"}, {"{kind: hpcc_320}", "h319"},
        {"{kind: rail_optimised}", "h63"}, {"{kind: dragonfly}", "h71"},
    };
    for (const char* layer : {"Ethernet", "InfiniBand"}) {
        for (const auto& [topology, far] : topologies) {
            Built b = build(fmt::format("topology: {}\nnic: {{profile: ideal, link_layer: {}}}\n", topology, layer) +
                            programs_on({"h0", far}));
            ASSERT_EQ(b.problems, "") << topology;
            const Messages& there = b.send("h0", far, 3, 10000, 0);
            const Messages& back = b.send(far, "h0", 3, 10000, 0);
            b.fabric().engine().run_until(SimTime::ms(1));
            EXPECT_EQ(there.succeeded, 3U) << topology << layer;
            EXPECT_EQ(back.succeeded, 3U) << topology << layer;
        }
    }
}

uint64_t counter(hca::Hca& hca, std::string_view name) {
    for (const hca::NamedCounter& c : hca.hw_counters(1))
        if (c.name == name) return c.value;
    ADD_FAILURE() << name;
    return 0;
}

const std::string kIncastSwitch =
    "switch: {buffer: 2 MB, pfc: {priorities: 3}, ecn: {kmin: 50 KB, kmax: 200 KB, pmax: 10 %}}\n";

TEST(CongestionControlOfAdapters, AnswersMarksWithCnpsAndSlowsSendersDownAsFlowsAre) {
    struct Seen {
        uint64_t pauses, bytes;  ///< from 10 ms to 20 ms
    };
    const auto adapters = [](const std::string& cc) {
        Built b = build(kFive + kIncastSwitch + "cc: " + cc + "\n");
        EXPECT_EQ(b.problems, "");
        for (const char* from : {"h0", "h1", "h2"}) b.send(from, "h4", 1000000, 65536, 3);
        b.fabric().engine().run_until(SimTime::ms(10));
        const Seen early{b.counts("h0").pauses_received, b.counts("h4").rx_bytes};
        b.fabric().engine().run_until(SimTime::ms(20));
        EXPECT_EQ(b.drops(), 0U);
        EXPECT_EQ(counter(b.adapter("h4"), "np_cnp_sent") > 0, cc != "none");
        EXPECT_EQ(counter(b.adapter("h0"), "rp_cnp_handled") > 0, cc != "none");
        EXPECT_GT(counter(b.adapter("h4"), "np_ecn_marked_roce_packets"), 0U);
        return Seen{b.counts("h0").pauses_received - early.pauses, b.counts("h4").rx_bytes - early.bytes};
    };
    const auto flows = [] {
        Built b = build("hosts: 5\nnic: ideal\nlink: {rate: 100 Gb/s, delay: 100 ns}\n" + kIncastSwitch +
                        "cc: dcqcn\nworkloads: [{kind: incast, senders: [h0, h1, h2], receiver: h4, bytes: 1 GB}]\n");
        EXPECT_EQ(b.problems, "");
        b.fabric().engine().run_until(SimTime::ms(10));
        const uint64_t early = b.fabric().nic(4).counters().rx_bytes;
        b.fabric().engine().run_until(SimTime::ms(20));
        return static_cast<double>(b.fabric().nic(4).counters().rx_bytes - early);
    };
    const Seen without = adapters("none");
    const Seen with = adapters("dcqcn");
    EXPECT_GT(without.pauses, 100U);
    EXPECT_LT(with.pauses, without.pauses / 20);
    const double of_flows = flows();
    EXPECT_GT(static_cast<double>(with.bytes), 0.85 * of_flows);
    EXPECT_LT(static_cast<double>(with.bytes), 1.15 * of_flows);
}

TEST(CongestionControlOfAdapters, SharesABottleneckWithFlowsOfTheSameAlgorithm) {
    Built b = build(
        "topology: {kind: dumbbell}\nnic: ideal\nlink: {rate: 100 Gb/s, delay: 1 us}\n"
        "switch: {buffer: 4 MB, pfc: {priorities: 3}}\ncc: dcqcn\n" +
        programs_on({"h0", "h2"}) + "workloads: [{name: w, kind: flows, flows: [{src: h1, dst: h3, bytes: 10 GB}]}]\n");
    ASSERT_EQ(b.problems, "");
    b.send("h0", "h2", 1000000, 65536, 3);
    b.fabric().engine().run_until(SimTime::ms(100));
    const uint64_t of_program = b.counts("h2").rx_bytes;
    const auto of_flow = static_cast<uint64_t>(b.fabric().bytes_received(0));
    b.fabric().engine().run_until(SimTime::ms(200));
    const auto program = static_cast<double>(b.counts("h2").rx_bytes - of_program);
    const auto flow = static_cast<double>(static_cast<uint64_t>(b.fabric().bytes_received(0)) - of_flow);
    EXPECT_GT(program + flow, 0.85 * 1.25e9);  // 100 Gb/s for 100 ms
    EXPECT_GT(program / (program + flow), 0.4);
    EXPECT_LT(program / (program + flow), 0.6);
}

TEST(CongestionControlOfAdapters, ThatNeedsMoreThanCnpsIsLeftOutAndSaid) {
    Built b = build(kFive + "cc: hpcc\n");
    ASSERT_EQ(b.problems, "");
    const RunResult result = describe(b.specs.front(), *b.scenario);
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_NE(result.warnings[0].find("no congestion control with 'hpcc'"), std::string::npos);
    // INT is in the flows' packets alone, whose records the adapters' packets share a pool with.
    const Messages& sent = b.send("h0", "h4", 100, 65536, 3);
    b.fabric().engine().run_until(SimTime::ms(20));
    EXPECT_EQ(sent.succeeded, 100U);
}

TEST(HostsOfPrograms, HaveTheAddressesOfTheirNumbers) {
    Built b = build("topology: {kind: fat_tree, k: 4}\nnic: cx7-400g\n" + programs_on({"h0", "h15"}));
    ASSERT_EQ(b.problems, "");
    const std::vector<ProgramHost>& hosts = b.scenario->adapters.hosts;
    ASSERT_EQ(hosts.size(), 16U);
    EXPECT_EQ(hosts[15].name, "h15");
    EXPECT_EQ(hosts[15].address, 0x0A000010U);
    ASSERT_EQ(hosts[15].nics.size(), 1U);
    EXPECT_EQ(hosts[15].nics[0].device, "mlx5_0");
    EXPECT_TRUE(hosts[7].nics.empty());
    EXPECT_EQ(b.scenario->adapters.of_programs, (std::vector<uint32_t>{0, 15}));
    EXPECT_FALSE(b.fabric().has_flows(15));
    EXPECT_TRUE(b.fabric().has_flows(7));
}

TEST(HostsOfPrograms, MayHavePortsWithoutCables) {
    Built b = build(
        "hosts: {a: {nics: [{device: mlx5_0, ports: 2}, {device: mlx5_1}]}, b: {nics: 1}}\nnic: cx7-400g\n"
        "switches: [sw]\ntopology: explicit\nlinks: [{a: a.mlx5_1, b: sw/1}, {a: a.mlx5_0/1, b: sw/2}, {a: b, b: "
        "sw/3}]\n" +
        programs_on({"a", "b"}));
    ASSERT_EQ(b.problems, "");
    EXPECT_EQ(b.scenario->topology.topology.hosts.size(), 3U);
    ASSERT_EQ(b.fabric().adapters().size(), 3U);
    EXPECT_EQ(b.fabric().adapters().nic(0).config().ports.size(), 2U);
    const Messages& sent = b.send("a", "b", 3, 10000, 0);
    b.fabric().engine().run_until(SimTime::ms(1));
    EXPECT_EQ(sent.succeeded, 3U);
}

TEST(FlowsBesidePrograms, AllHostsAreThoseWithoutPrograms) {
    Built b = build("topology: {kind: fat_tree, k: 4}\nnic: cx7-400g\n" + programs_on({"h0", "h15"}) +
                    "workloads:\n"
                    "  - {name: a, kind: all_to_all, bytes: 1 KB}\n"
                    "  - {name: i, kind: incast, senders: 4, receiver: h1, bytes: 1 KB}\n");
    ASSERT_EQ(b.problems, "");
    EXPECT_EQ(b.fabric().flows().size(), 14U * 13U + 4U);
    const RunResult result = run_scenario(b.specs.front(), *b.scenario, describe(b.specs.front(), *b.scenario), {});
    EXPECT_EQ(result.ending, RunEnding::Done);
    EXPECT_EQ(b.fabric().ended(), b.fabric().flows().size());
}

TEST(FlowsBesidePrograms, AtAHostOfProgramsAreRefusedOnceForEachHost) {
    const Built b =
        build("hosts: 4\nnic: ideal\n" + programs_on({"h0"}) +
              "workloads:\n"
              "  - {name: w, kind: flows, flows: [{src: h0, dst: h1, bytes: 1 B}, {src: h2, dst: h0, bytes: 1 B}]}\n");
    EXPECT_EQ(b.problems,
              "s.yaml:7:42: workloads[0].flows[0].src: 'h0' runs programs and cannot have flows too; expected another "
              "host for the flows, "
              "or for the programs; where a workload says 'all', hosts of programs are left out\n");
}

TEST(CapturesBesidePrograms, APortThatIsNotThereIsAnErrorWhateverElseIsWrong) {
    const std::string head = "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2}\n";
    Built b = build(head + programs_on({"h0"}) + "outputs: {pcap: leaf0/99}\n");
    EXPECT_NE(b.problems.find("outputs.pcap: the packets of 'leaf0/99' cannot be captured"), std::string::npos)
        << b.problems;
    b = build(head + programs_on({"h99"}) + "outputs: {pcap: leaf0/99}\n");
    EXPECT_NE(b.problems.find("there is no host 'h99'"), std::string::npos) << b.problems;
}

TEST(CapturesBesidePrograms, AreOfPortsOfPrograms) {
    const std::string head = "hosts: 4\nnic: ideal\n" + programs_on({"h0", "h1"});
    Built b = build(head + "outputs: {pcap: [h0, h1.simverbs0/1]}\n");
    ASSERT_EQ(b.problems, "");
    ASSERT_EQ(b.scenario->captures.size(), 2U);
    EXPECT_EQ(b.scenario->captures[1].host, "h1");
    EXPECT_EQ(b.scenario->captures[1].device, "simverbs0");
    b = build(head + "outputs: {pcap: [h0/1, h1.simverbs0]}\n");
    EXPECT_EQ(b.problems, "");
    EXPECT_EQ(b.scenario->captures.size(), 2U);
    b = build(head + "outputs: {pcap: [h2, sw0/1]}\n");
    EXPECT_NE(b.problems.find("outputs.pcap[0]: the packets of 'h2' cannot be captured"), std::string::npos)
        << b.problems;
    EXPECT_NE(b.problems.find("outputs.pcap[1]: the packets of 'sw0/1' cannot be captured"), std::string::npos);
}

/// Moves the engine in odd steps, as programs do, and notes when it was stopped.
class Stepper {
  public:
    static RunResult run(Built& b, SimTime step) {
        Sampling sampling;
        sampling.interval = SimTime::us(7);
        sampling.ports = {0, 1, 2};
        return run_scenario(b.specs.front(), *b.scenario, describe(b.specs.front(), *b.scenario), sampling,
                            {.programs = [&](sim::Watcher& watcher) {
                                sim::Engine& engine = b.fabric().engine();
                                for (SimTime t; t <= SimTime::us(100); t += step) {
                                    while (watcher.next_look() <= t) {
                                        engine.run_until(watcher.next_look());
                                        watcher.look();
                                    }
                                    engine.run_until(t);
                                }
                                return true;
                            }});
    }
};

/// Looks every 3 us, and notes when.
class EveryThree final : public sim::Watcher {
  public:
    [[nodiscard]] SimTime next_look() const override { return SimTime::us(3) * static_cast<int64_t>(looks + 1); }
    void look() override {
        at_frontier = at_frontier && engine.frontier() == next_look();
        ++looks;
    }
    explicit EveryThree(sim::Engine& e) : engine(e) {}
    sim::Engine& engine;
    uint64_t looks = 0;
    bool at_frontier = true;
};

TEST(RunsWatchedFromBeside, StopWhereTheWatcherWantsToLookAndComeOutTheSame) {
    const auto run = [](bool beside) {
        Built b =
            build("hosts: 3\nnic: ideal\nworkloads: [{kind: incast, senders: [h1, h2], receiver: h0, bytes: 1 MB}]\n");
        Sampling sampling;
        sampling.interval = SimTime::us(7);
        sampling.ports = {0, 1, 2};
        EveryThree watcher(b.fabric().engine());
        const RunResult result = run_scenario(b.specs.front(), *b.scenario, describe(b.specs.front(), *b.scenario),
                                              sampling, {.beside = beside ? &watcher : nullptr});
        if (beside) {
            EXPECT_EQ(watcher.looks, static_cast<uint64_t>(b.fabric().engine().frontier() / SimTime::us(3)));
            EXPECT_TRUE(watcher.at_frontier);
        }
        return result;
    };
    const RunResult with = run(true), without = run(false);
    EXPECT_EQ(with.simulated_time, without.simulated_time);
    EXPECT_GT(with.sample_times.size(), 5U);
    EXPECT_LE(std::max(with.sample_times.size(), without.sample_times.size()) -
                  std::min(with.sample_times.size(), without.sample_times.size()),
              1U);
}

TEST(RunsWithPrograms, AreSampledAtTheSameTimesHoweverTheEngineIsMoved) {
    const auto run = [](SimTime step) {
        Built b = build("hosts: 4\nnic: ideal\n" + programs_on({"h0"}) +
                        "workloads: [{kind: incast, senders: [h1, h2], receiver: h3, bytes: 1 MB}]\n");
        EXPECT_EQ(b.problems, "");
        return Stepper::run(b, step);
    };
    const RunResult a = run(SimTime::ns(250));
    const RunResult b = run(SimTime::ns(12500));
    ASSERT_GT(a.sample_times.size(), 14U);
    EXPECT_EQ(a.sample_times, b.sample_times);
    for (size_t p = 0; p < a.port_samples.size(); ++p)
        for (size_t i = 0; i < a.sample_times.size(); ++i)
            EXPECT_EQ(a.port_samples[p].counts[i].tx_bytes, b.port_samples[p].counts[i].tx_bytes) << p << ' ' << i;
    EXPECT_EQ(a.ending, RunEnding::Done);
}

}  // namespace
}  // namespace simverbs::scenarios::run
