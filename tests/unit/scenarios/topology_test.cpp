#include "scenarios/lang/topology.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::load;

LabSpec lab_of(std::string_view text) {
    testing::Loaded loaded = load(text);
    EXPECT_EQ(loaded.errors, "");
    return loaded.lab.value_or(LabSpec{});
}

/// "h0.mlx5_0/1-sw0/1 h1.mlx5_0/1-sw0/2".
std::string wiring(const LabSpec& lab) {
    std::string out;
    for (const LinkSpec& link : lab.links) {
        out += (out.empty() ? "" : " ") + to_string(lab, link.a) + "-" + to_string(lab, link.b);
    }
    return out;
}

TEST(Topology, SingleSwitchWiresEveryPortToOneSwitch) {
    const LabSpec lab = lab_of("hosts: [{nics: [{ports: 2}]}, h1]\n");
    EXPECT_EQ(wiring(lab), "h0.mlx5_0/1-sw0/1 h0.mlx5_0/2-sw0/2 h1.mlx5_0/1-sw0/3");
    EXPECT_EQ(lab.switches.at(0).ports, 3);
}

TEST(Topology, TheGeneratedSwitchTakesItsPropertiesFromTheTemplateAndTheSwitchesOfTheLab) {
    const LabSpec plain = lab_of("switch: {latency: 1 us, forwarding: store-and-forward, buffer: 1 MiB}\n");
    EXPECT_EQ(plain.switches.at(0).latency, sim::SimTime::us(1));
    EXPECT_EQ(plain.switches.at(0).forwarding, Forwarding::StoreAndForward);
    EXPECT_EQ(plain.switches.at(0).buffer, 1'048'576);
    const LabSpec named = lab_of(
        "switch: {latency: 1 us}\nswitches: {tor: {ports: 32}}\n"
        "topology: {kind: single_switch, switch: tor}\n");
    ASSERT_EQ(named.switches.size(), 1U);
    EXPECT_EQ(named.switches[0].ports, 32);
    EXPECT_EQ(named.switches[0].latency, sim::SimTime::us(1));
}

TEST(Topology, BackToBackJoinsEachPortToItsCounterpart) {
    EXPECT_EQ(wiring(lab_of("topology: back_to_back\nhosts: [{nics: 2}, {nics: 2}]\n")),
              "h0.mlx5_0/1-h1.mlx5_0/1 h0.mlx5_1/1-h1.mlx5_1/1");
}

TEST(Topology, LinksWithoutATopologyAreExplicit) {
    const LabSpec lab = lab_of(
        "switches: [sw0, sw1]\n"
        "links:\n"
        "  - {a: h0, b: sw0}\n"
        "  - {a: h1.mlx5_0/1, b: sw1, rate: 25 Gb/s, length: 30 m}\n"
        "  - {a: sw0, b: sw1/1}\n");
    EXPECT_EQ(lab.topology, "explicit");
    // Port 1 of sw1 is taken by the last link, which names it.
    EXPECT_EQ(wiring(lab), "h0.mlx5_0/1-sw0/1 h1.mlx5_0/1-sw1/2 sw0/2-sw1/1");
    EXPECT_EQ(lab.links[0].rate, std::nullopt);
    EXPECT_EQ(lab.links[1].rate, sim::BitRate::gbps(25));
    EXPECT_EQ(lab.links[1].length, Length::m(30));
    EXPECT_EQ(to_string(lab.links[1].position), "lab.yaml:4:5");
}

TEST(Topology, TheLinkLayerReachesSwitchesThatHaveNoHosts) {
    const LabSpec lab = lab_of(
        "nic: ndr-400g\n"
        "switches: [leaf0, spine, leaf1]\n"
        "links: [{a: leaf0, b: spine}, {a: spine, b: leaf1}, {a: h0, b: leaf0}, {a: h1, b: leaf1}]\n");
    for (const SwitchSpec& made : lab.switches) {
        EXPECT_EQ(made.link_layer, LinkLayer::InfiniBand);
        EXPECT_EQ(made.latency, sim::SimTime::ns(130));
    }
}

TEST(Topology, AnAdjustedCableNamedFromItsOtherEndTurnsItsFaultsRound) {
    const LabSpec lab = lab_of(
        "topology: single_switch\n"
        "links: [{a: sw0, b: h1, length: 5 m, faults: {drop_every: 2, direction: a_to_b}}]\n");
    EXPECT_EQ(wiring(lab), "h0.mlx5_0/1-sw0/1 h1.mlx5_0/1-sw0/2");
    EXPECT_EQ(lab.links[0].length, Length::m(2));
    EXPECT_EQ(lab.links[1].length, Length::m(5));
    EXPECT_EQ(lab.links[1].faults.at(0).direction, FaultDirection::BToA);
}

TEST(Topology, EveryRowOfTheRegistryHasASchemaWithItsKind) {
    for (const TopologyGenerator& generator : topology_generators()) {
        EXPECT_NE(generator.schema->find("kind"), nullptr) << generator.kind;
        EXPECT_EQ(generator.schema->name, "topology " + std::string(generator.kind));
    }
}

}  // namespace
}  // namespace simverbs::scenarios
