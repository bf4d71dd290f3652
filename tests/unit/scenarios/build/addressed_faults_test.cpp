// Where a scenario's faults act on the links of its lab, and on which packets.
#include "scenarios/build/addressed_faults.hpp"

#include <gtest/gtest.h>

#include "scenarios/build/known_profiles.hpp"
#include "scenarios/build/lab_builder.hpp"
#include "scenarios/lang/scenario_loader.hpp"

namespace simverbs::scenarios {
namespace {

using sim::SimTime;

constexpr const char* kTwoHosts = "name: s\nhosts: 2\nnic: ideal\nprograms: [{host: h0, command: ls}]\nfaults:\n";

struct Placed {
    BuiltLab built;
    std::string problems;
};

Placed place(const std::string& faults, const std::string& head = kTwoHosts) {
    DiagnosticSink sink;
    Placed out;
    const LabOptions lab = lab_options();
    const auto runs = parse_scenario(head + faults, "s.yaml", {lab, {}, {}}, sink);
    EXPECT_EQ(sink.to_string(), "");
    if (!runs) return out;
    auto built = build_lab(runs->front().lab, sink);
    if (built) {
        out.built = std::move(*built);
        add_faults(runs->front().lab, runs->front().faults, out.built.fabric, sink);
    }
    out.problems = sink.to_string();
    return out;
}

/// Faults of link `link`: those of packets towards the switch, and from it.
size_t up(const Placed& p, size_t link) {
    const fabric::LinkSpec& l = p.built.fabric.links.at(link);
    return (l.a.is_switch ? l.faults_b_to_a : l.faults_a_to_b).size();
}
size_t down(const Placed& p, size_t link) {
    const fabric::LinkSpec& l = p.built.fabric.links.at(link);
    return (l.a.is_switch ? l.faults_a_to_b : l.faults_b_to_a).size();
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
    const link::LinkFault& f = p.built.fabric.links[0].faults_a_to_b[0];
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
    const auto& match = p.built.fabric.links[0].faults_a_to_b[0].match;
    ASSERT_TRUE(match.has_value());
    EXPECT_EQ(match->opcode, 0x11U);
    EXPECT_EQ(match->dest_qp, 17U);
    EXPECT_EQ(match->psn, 0xFFFFFFU);
    EXPECT_EQ(match->nth, 2U);
}

TEST(AddressedFaults, AFlapEndsAfterItsCount) {
    const Placed p = place("  - {link: h0, flap: {from: 1 ms, period: 2 ms, down: 1 ms, count: 3}}\n");
    ASSERT_EQ(up(p, 0), 1U);
    const link::LinkFault& f = p.built.fabric.links[0].faults_a_to_b[0];
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
        EXPECT_EQ(p.built.fabric.links[1].faults_a_to_b.at(0).from, SimTime::us(5));
    }
    const Placed p = place("  - {kill: {switch: sw0, at: 5 us}}\n");
    EXPECT_EQ(up(p, 0) + down(p, 0) + up(p, 1) + down(p, 1), 4U);
}

TEST(AddressedFaults, AHostsNameIsNotThatOfALongerOne) {
    const Placed p = place("  - {kill: {host: h1, at: 5 us}}\n",
                           "name: s\nhosts: 12\nnic: ideal\nprograms: [{host: h0, command: ls}]\nfaults:\n");
    size_t faults = 0;
    for (size_t i = 0; i < 12; ++i) faults += up(p, i) + down(p, i);
    EXPECT_EQ(faults, 2U);
    EXPECT_EQ(up(p, 1), 1U);
}

TEST(AddressedFaults, WhatALabCannotDoIsSaidAllAtOnce) {
    const Placed p = place(
        "  - {link: h0, drop: {match: {flow: 3}}}\n"
        "  - {link: h0, pause_storm: {from: 1 us}}\n"
        "  - {link: h0 - h1, down: {from: 1 us}}\n");
    EXPECT_NE(p.problems.find("faults[0]: programs have queue pairs, not flows; expected 'qpn' instead of 'flow'"),
              std::string::npos)
        << p.problems;
    EXPECT_NE(p.problems.find("faults[1]: links between programs have no pause frames"), std::string::npos);
    EXPECT_NE(p.problems.find("faults[2]: there is no link at 'h0' to 'h1'"), std::string::npos);
}

}  // namespace
}  // namespace simverbs::scenarios
