// Where a scenario's faults act on the links of its fabric, and on which packets.
#include "scenarios/run/build_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/wire/opcode_table.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_schemas.hpp"
#include "scenarios/run/build_fabric.hpp"

namespace simverbs::scenarios::run {
namespace {

using sim::SimTime;

constexpr const char* kTwoHosts = "name: s\nhosts: 2\nnic: ideal\nprograms: [{host: h0, command: ls}]\n";

struct Placed {
    BuiltTopology topology;
    BuiltFaults built;
    std::string problems;
    std::vector<ScenarioSpec> runs;
};

Placed place(const std::string& faults, const std::string& head = kTwoHosts) {
    DiagnosticSink sink;
    Placed out;
    auto runs = parse_scenario(head + (faults.starts_with("  -") ? "faults:\n" : "") + faults, "s.yaml",
                               scenario_options(), sink);
    EXPECT_EQ(sink.to_string(), "");
    if (!runs) return out;
    out.runs = std::move(*runs);
    auto topology = build_topology(out.runs.front(), sink);
    if (topology) {
        out.topology = std::move(*topology);
        const BuiltAdapters adapters = build_adapters(out.runs.front(), out.topology, sink);
        out.built = build_faults(out.runs.front(), out.topology, adapters, BuiltWorkloads(), sink);
    }
    out.problems = sink.to_string();
    return out;
}

/// Faults of link `link` that act on packets towards the switch (or from it).
std::vector<link::LinkFault> faults_of(const Placed& p, uint32_t link, bool up) {
    std::vector<link::LinkFault> out;
    for (const FabricFault& f : p.built.links)
        if (f.link == link && (f.from_a != p.topology.topology.links.at(link).a.node.is_switch) == up)
            out.push_back(f.fault);
    return out;
}
size_t up(const Placed& p, uint32_t link) {
    return faults_of(p, link, true).size();
}
size_t down(const Placed& p, uint32_t link) {
    return faults_of(p, link, false).size();
}

TEST(AddressedFaults, DirectionsFollowTheEndThatIsNamedFirst) {
    for (const char* link : {"h1", "h1 - sw0", "h1.simverbs0/1", "h1 - sw0/2"}) {
        const Placed p = place(std::string("  - {link: ") + link + ", direction: a_to_b, drop: {packet: 3}}\n");
        EXPECT_EQ(p.problems, "");
        EXPECT_EQ(up(p, 1), 1U) << link;
        EXPECT_EQ(up(p, 0) + down(p, 0) + down(p, 1), 0U) << link;
    }
    for (const char* link : {"sw0/2", "sw0 - h1", "sw0/2 - h1"}) {
        const Placed p = place(std::string("  - {link: ") + link + ", direction: a_to_b, drop: {packet: 3}}\n");
        EXPECT_EQ(p.problems, "");
        EXPECT_EQ(down(p, 1), 1U) << link;
        EXPECT_EQ(up(p, 0) + down(p, 0) + up(p, 1), 0U) << link;
    }
}

TEST(AddressedFaults, BothDirectionsIsTheDefault) {
    const Placed p = place("  - {link: h0, duplicate: {every: 3, most: 7}, from: 1 us, until: 2 us}\n");
    ASSERT_EQ(up(p, 0), 1U);
    ASSERT_EQ(down(p, 0), 1U);
    const link::LinkFault f = faults_of(p, 0, true).at(0);
    EXPECT_EQ(f.kind, link::FaultKind::Duplicate);
    EXPECT_EQ(f.every, 3U);
    EXPECT_EQ(f.most, 7U);
    EXPECT_EQ(f.from, SimTime::us(1));
    EXPECT_EQ(f.until, SimTime::us(2));
    EXPECT_EQ(f.path, "fault0");
}

TEST(AddressedFaults, OpcodesHaveTheirNames) {
    const Placed p =
        place("  - {link: h0, drop: {match: {opcode: RC_ACKNOWLEDGE, qpn: 17, psn: 0xffffff, iteration: 2}}}\n");
    ASSERT_EQ(up(p, 0), 1U);
    const auto match = faults_of(p, 0, true).at(0).match;
    ASSERT_TRUE(match.has_value());
    EXPECT_EQ(match->opcode, 0x11U);
    EXPECT_EQ(match->dest_qp, 17U);
    EXPECT_EQ(match->psn, 0xFFFFFFU);
    EXPECT_EQ(match->nth, 2U);
}

TEST(AddressedFaults, AFlapEndsAfterItsCount) {
    const Placed p = place("  - {link: h0, flap: {from: 1 ms, period: 2 ms, down: 1 ms, count: 3}}\n");
    ASSERT_EQ(up(p, 0), 1U);
    const link::LinkFault f = faults_of(p, 0, true).at(0);
    EXPECT_EQ(f.kind, link::FaultKind::Down);
    EXPECT_EQ(f.period, SimTime::ms(2));
    EXPECT_EQ(f.down_time, SimTime::ms(1));
    EXPECT_EQ(f.until, SimTime::ms(7));
}

TEST(AddressedFaults, WhatDiesTakesAllItsLinksDown) {
    for (const char* victim : {"host: h1", "nic: h1", "nic: h1.simverbs0", "port: sw0/2", "port: h1.simverbs0/1"}) {
        const Placed p = place(std::string("  - {kill: {") + victim + ", at: 5 us}}\n");
        EXPECT_EQ(p.problems, "");
        EXPECT_EQ(up(p, 0) + down(p, 0), 0U) << victim;
        EXPECT_EQ(up(p, 1), 1U) << victim;
        EXPECT_EQ(down(p, 1), 1U) << victim;
        EXPECT_EQ(faults_of(p, 1, true).at(0).from, SimTime::us(5));
    }
    const Placed p = place("  - {kill: {switch: sw0, at: 5 us}}\n");
    EXPECT_EQ(up(p, 0) + down(p, 0) + up(p, 1) + down(p, 1), 4U);
}

TEST(AddressedFaults, AHostsNameIsNotThatOfALongerOne) {
    const Placed p = place("  - {kill: {host: h1, at: 5 us}}\n",
                           "name: s\nhosts: 12\nnic: ideal\nprograms: [{host: h0, command: ls}]\n");
    size_t faults = 0;
    for (uint32_t i = 0; i < 12; ++i) faults += up(p, i) + down(p, i);
    EXPECT_EQ(faults, 2U);
    EXPECT_EQ(up(p, 1), 1U);
}

TEST(AddressedFaults, WhatALabCannotDoIsSaidAllAtOnce) {
    const Placed p = place(
        "  - {link: h0, drop: {match: {flow: 3}}}\n"
        "  - {link: h0 - h1, down: {from: 1 us}}\n");
    EXPECT_NE(p.problems.find(
                  "faults[0].drop.match.flow: programs have queue pairs, not flows; expected 'qpn' instead of 'flow'"),
              std::string::npos)
        << p.problems;
    EXPECT_NE(p.problems.find("faults[1].link: there is no link at 'h0' to 'h1'"), std::string::npos);
}

TEST(AddressedFaults, AnAdapterOfProgramsCannotStormWhichIsToldWhereTheFaultStands) {
    DiagnosticSink sink;
    const auto runs = parse_scenario(std::string(kTwoHosts) + "faults: [{link: h0, pause_storm: {from: 1 us}}]\n",
                                     "s.yaml", scenario_options(), sink);
    ASSERT_TRUE(runs) << sink.to_string();
    EXPECT_FALSE(plan_scenario(runs->front(), sink));
    EXPECT_EQ(
        sink.to_string(),
        "s.yaml:5:17: faults[0].link: 'fault0' is a pause storm of h0, which runs programs: a host of flows, or the "
        "switch's end of the link, can have one\n");
}

constexpr const char* kTwoPrograms =
    "name: s\nhosts: 2\nnic: ideal\nprograms: [{name: a, host: h0, command: ls}, {name: b, host: h1, command: ls}]\n";
constexpr const char* kTwoOfInfiniBand =
    "name: s\nhosts: 2\nnic: {profile: cx7-400g, link_layer: InfiniBand}\n"
    "programs: [{name: a, host: h0, command: ls}, {name: b, host: h1, command: ls}]\n";

TEST(PortFaults, APortThatIsDownLosesBothWaysUntilItIsActive) {
    const Placed p = place("  - {port_state: {port: h1, state: down, at: 5 us, for: 2 us}}\n", kTwoPrograms);
    EXPECT_EQ(p.problems, "");
    ASSERT_EQ(up(p, 1) + down(p, 1), 2U);
    EXPECT_EQ(faults_of(p, 1, true)[0].from, SimTime::us(5));
    EXPECT_EQ(faults_of(p, 1, true)[0].until, SimTime::us(7));
    ASSERT_EQ(p.built.ports.size(), 1U);
    EXPECT_EQ(p.built.ports[0].host, 1U);
    EXPECT_EQ(p.built.ports[0].port, 1);
}

TEST(PortFaults, APortGoesUpWhenAnotherFaultSaysSo) {
    const Placed p = place(
        "  - {port_state: {port: h1, state: down, at: 5 us}}\n  - {port_state: {port: h1, state: active, at: 9 us}}\n",
        kTwoPrograms);
    EXPECT_EQ(p.problems, "");
    ASSERT_EQ(up(p, 1), 1U);
    EXPECT_EQ(faults_of(p, 1, true)[0].until, SimTime::us(9));
    EXPECT_EQ(p.built.ports.size(), 2U);
}

TEST(PortFaults, AnArmedPortReceivesButSendsNothing) {
    const Placed p = place("  - {port_state: {port: h1, state: armed, at: 5 us}}\n", kTwoOfInfiniBand);
    EXPECT_EQ(p.problems, "");
    EXPECT_EQ(up(p, 1), 1U);
    EXPECT_EQ(down(p, 1), 0U);
}

TEST(PortFaults, ACableThatFlapsIsSeenByTheAdapterAtItsEnd_ASilentFreezeByNobody) {
    EXPECT_EQ(place("  - {link: h1, flap: {period: 9 us, down: 1 us}}\n", kTwoPrograms).built.ports.size(), 1U);
    EXPECT_EQ(
        place("  - {link: h1, direction: a_to_b, flap: {period: 9 us, down: 1 us}}\n", kTwoPrograms).built.ports.size(),
        0U);
    const Placed frozen = place("  - {freeze: {nic: h1, at: 3 us, for: 1 us}}\n", kTwoPrograms);
    EXPECT_EQ(frozen.built.ports.size(), 0U);
    ASSERT_EQ(up(frozen, 1) + down(frozen, 1), 2U);
    EXPECT_EQ(faults_of(frozen, 1, true)[0].until, SimTime::us(4));
    const Placed dead = place("  - {kill: {nic: h1, at: 3 us}}\n", kTwoPrograms);
    ASSERT_EQ(dead.built.ports.size(), 1U);
    EXPECT_TRUE(dead.built.ports[0].is_victim);
}

TEST(PortFaults, WhatEthernetLacksIsSaid) {
    const Placed p = place(
        "  - {change_pkey: {port: h0, pkey: 1, at: 1 us}}\n"
        "  - {port_event: {port: h0, event: sm_change, at: 1 us}}\n"
        "  - {port_state: {port: h0, state: armed, at: 1 us}}\n",
        kTwoPrograms);
    EXPECT_NE(p.problems.find("faults[0]: a RoCE port has one P_Key, 0xffff, for ever"), std::string::npos);
    EXPECT_NE(p.problems.find("faults[1]: Ethernet has no subnet manager"), std::string::npos) << p.problems;
    EXPECT_NE(p.problems.find("faults[2]: an Ethernet port is down or active"), std::string::npos);
}

TEST(PortFaults, OnlyAdaptersOfProgramsHavePortsThatChange) {
    const Placed p = place(
        "  - {port_state: {port: sw0/1, state: down, at: 1 us}}\n  - {change_gid: {port: h1, index: 1, at: 1 us}}\n");
    EXPECT_NE(p.problems.find("faults[0].port_state.port: 'sw0/1' is no port of a program's adapter"),
              std::string::npos)
        << p.problems;
    EXPECT_NE(p.problems.find("faults[1].change_gid.port: 'h1' is no port of a program's adapter"), std::string::npos);
}

TEST(AddressedFaults, EveryOpcodeOfTheWireCanBeNamed) {
    const auto names = kPacketMatchSchema.find("opcode")->choices;
    EXPECT_EQ(names.size(), wire::kOpcodeTable.size());
    for (const wire::OpcodeInfo& info : wire::kOpcodeTable)
        EXPECT_NE(std::ranges::find(names, info.name), names.end()) << info.name;
}

TEST(LinksOwnFaults, AreThoseOfTheirCables) {
    const Placed p =
        place("topology: single_switch\nlinks: [{a: h1, b: sw0, faults: {drop_every: 7, direction: a_to_b}}]\n");
    EXPECT_EQ(p.problems, "");
    EXPECT_EQ(up(p, 0) + down(p, 0) + down(p, 1), 0U);
    ASSERT_EQ(up(p, 1), 1U);
    EXPECT_EQ(faults_of(p, 1, true)[0].every, 7U);
}

TEST(LinksOwnFaults, OfAGeneratedFabricGoWhereTheAdjustmentSays) {
    for (const char* ends : {"a: h3, b: tor1", "a: tor1, b: h3"}) {
        const bool from_host = ends[3] == 'h';
        const Placed p = place(std::string("links: [{") + ends + ", faults: {drop_every: 7, direction: a_to_b}}]\n",
                               "name: s\nnic: ideal\ntopology: {kind: fat_tree, k: 4}\n"
                               "programs: [{host: h0, command: ls}]\n");
        EXPECT_EQ(p.problems, "");
        ASSERT_EQ(p.built.links.size(), 1U) << ends;
        EXPECT_EQ(up(p, p.built.links[0].link), from_host ? 1U : 0U) << ends;
        EXPECT_EQ(p.topology.port_name(p.topology.topology.links[p.built.links[0].link].a), "h3");
    }
}

}  // namespace
}  // namespace simverbs::scenarios::run
