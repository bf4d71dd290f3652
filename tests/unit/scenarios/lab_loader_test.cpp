#include "scenarios/lang/lab_loader.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::load;
using testing::Loaded;

LabSpec lab_of(std::string_view text) {
    Loaded loaded = load(text);
    EXPECT_EQ(loaded.errors, "");
    return loaded.lab.value_or(LabSpec{});
}

std::vector<std::string> host_names(const LabSpec& lab) {
    std::vector<std::string> names;
    for (const HostSpec& host : lab.hosts) names.push_back(host.name);
    return names;
}

TEST(LabLoader, OneLineIsALab) {
    const LabSpec lab = lab_of("hosts: 3\n");
    EXPECT_EQ(lab.name, "lab");
    EXPECT_EQ(lab.seed, 1U);
    EXPECT_EQ(lab.topology, "single_switch");
    EXPECT_EQ(host_names(lab), (std::vector<std::string>{"h0", "h1", "h2"}));
    EXPECT_EQ(lab.hosts[2].nics.at(0).path, "hosts.h2.nics[0]");
}

TEST(LabLoader, HostsMayBeANumberAListOrAMap) {
    EXPECT_EQ(host_names(lab_of("hosts: [alice, {name: bob}, {}]\n")),
              (std::vector<std::string>{"alice", "bob", "h2"}));
    EXPECT_EQ(host_names(lab_of("hosts: {alice: , bob: {}}\n")), (std::vector<std::string>{"alice", "bob"}));
    EXPECT_EQ(host_names(lab_of("hosts: [{name: n, count: 3}, {count: 2}]\n")),
              (std::vector<std::string>{"n0", "n1", "n2", "h3", "h4"}));
}

TEST(LabLoader, NicsMayBeANumberAListOrAMap) {
    const LabSpec lab = lab_of(
        "hosts:\n"
        "  a: {nics: 2}\n"
        "  b: {nics: [ens1, {device: ens2, ports: 2}]}\n"
        "  c: {nics: {rdma0: {profile: ideal}}}\n"
        "  d: {nics: [{profile: ideal}]}\n");
    EXPECT_EQ(lab.hosts[0].nics.at(1).device, "mlx5_1");
    EXPECT_EQ(lab.hosts[1].nics.at(0).device, "ens1");
    EXPECT_EQ(lab.hosts[1].nics.at(1).ports, 2);
    EXPECT_EQ(lab.hosts[2].nics.at(0).device, "rdma0");
    EXPECT_EQ(lab.hosts[2].nics.at(0).path, "hosts.c.nics.rdma0");
    EXPECT_EQ(lab.hosts[3].nics.at(0).device, "simverbs0");
    EXPECT_EQ(lab.links.size(), 7U);
}

TEST(LabLoader, ANicInheritsFromTheLabsNicAndOverridesIt) {
    const LabSpec lab = lab_of(
        "nic: {profile: cx5-100g, mtu: 1500 B, parameters: {doorbell: 100 ns, inline: 64 B}}\n"
        "hosts: {a: {nics: [{mtu: 9000 B, parameters: {inline: 128 B}}]}, b: }\n");
    const NicSpec& a = lab.hosts[0].nics[0];
    EXPECT_EQ(a.profile, "cx5-100g");
    EXPECT_EQ(a.mtu, 9000);
    EXPECT_EQ(a.parameters.at("doorbell").text, "100 ns");
    EXPECT_EQ(a.parameters.at("inline").text, "128 B");
    EXPECT_EQ(to_string(a.parameters.at("inline").position), "lab.yaml:2:55");
    EXPECT_EQ(a.parameters.at("inline").path, "hosts.a.nics[0].parameters.inline");
    EXPECT_EQ(lab.hosts[1].nics[0].mtu, 1500);
}

TEST(LabLoader, TheLinkLayerFollowsTheProfileUnlessItIsGiven) {
    EXPECT_EQ(lab_of("nic: ndr-400g\n").hosts[0].nics[0].link_layer, LinkLayer::InfiniBand);
    EXPECT_EQ(lab_of("nic: cx6-200g\n").hosts[0].nics[0].link_layer, LinkLayer::Ethernet);
    const LabSpec lab = lab_of("nic: {profile: cx6-200g, link_layer: InfiniBand}\n");
    EXPECT_EQ(lab.hosts[0].nics[0].link_layer, LinkLayer::InfiniBand);
    EXPECT_TRUE(lab.hosts[0].nics[0].roce_versions.empty());
}

TEST(LabLoader, IdentityIsReadAsNumbers) {
    const LabSpec lab = lab_of(
        "hosts:\n"
        "  a: {nics: [{address: 10.0.1.2, mac: '02:00:00:00:0a:ff', guid: '0x0002c90300a0b1c2', gid: 'fd00::1'}]}\n"
        "  b: {nics: [{vlan: 7, priority: 3, ipv6: true, roce_versions: v2}]}\n");
    const NicSpec& a = lab.hosts[0].nics[0];
    EXPECT_EQ(a.address, 0x0A000102U);
    EXPECT_EQ(a.mac, 0x020000000AFFU);
    EXPECT_EQ(a.guid, 0x0002C90300A0B1C2U);
    EXPECT_EQ(a.gid->front(), 0xFD);
    EXPECT_EQ(a.gid->back(), 0x01);
    const NicSpec& b = lab.hosts[1].nics[0];
    EXPECT_EQ(b.vlan, 7);
    EXPECT_EQ(b.priority, 3);
    EXPECT_TRUE(b.ipv6);
    EXPECT_EQ(b.roce_versions, std::vector{RoceVersion::V2});
    EXPECT_EQ(lab_of("nic: ndr-400g\nhosts: [{nics: [{lid: 12}]}, b]\n").hosts[0].nics[0].lid, 12);
}

TEST(LabLoader, EveryLinkFaultIsRead) {
    const LabSpec lab = lab_of(
        "topology: back_to_back\n"
        "link:\n"
        "  faults:\n"
        "    - {direction: a_to_b, drop_every: 1000, corrupt_probability: 1e-3}\n"
        "    - {direction: b_to_a, duplicate_every: 7, delay: {every: 9, by: 5 us}}\n"
        "    - {reorder: {probability: 1 %, behind: 3}, down: {from: 1 ms, until: 2 ms}}\n"
        "    - down: {from: 3 ms}\n");
    const std::vector<FaultSpec>& faults = lab.links.at(0).faults;
    ASSERT_EQ(faults.size(), 7U);
    EXPECT_EQ(faults[0].kind, FaultKind::Drop);
    EXPECT_EQ(faults[0].direction, FaultDirection::AToB);
    EXPECT_EQ(faults[1].kind, FaultKind::Corrupt);
    EXPECT_DOUBLE_EQ(faults[1].probability.value(), 1e-3);
    EXPECT_EQ(faults[2].kind, FaultKind::Duplicate);
    EXPECT_EQ(faults[2].direction, FaultDirection::BToA);
    EXPECT_EQ(faults[3].kind, FaultKind::Delay);
    EXPECT_EQ(faults[3].every, 9);
    EXPECT_EQ(faults[3].by, sim::SimTime::us(5));
    EXPECT_EQ(faults[4].kind, FaultKind::Reorder);
    EXPECT_EQ(faults[4].behind, 3);
    EXPECT_DOUBLE_EQ(faults[4].probability.value(), 0.01);
    EXPECT_EQ(faults[5].kind, FaultKind::Down);
    EXPECT_EQ(faults[5].from, sim::SimTime::ms(1));
    EXPECT_EQ(faults[5].until, sim::SimTime::ms(2));
    EXPECT_EQ(faults[6].until, sim::SimTime::max());
    EXPECT_EQ(to_string(faults[3].position), "lab.yaml:5:54");
    EXPECT_EQ(faults[3].path, "link.faults[1].delay");
}

TEST(LabLoader, FaultsOfALinkReplaceThoseOfTheTemplate) {
    const LabSpec lab = lab_of(
        "link: {faults: {drop_every: 10}, rate: 25 Gb/s}\n"
        "topology: single_switch\n"
        "links: [{a: h0, b: sw0, faults: {corrupt_every: 5}}]\n");
    EXPECT_EQ(lab.links[0].faults.at(0).kind, FaultKind::Corrupt);
    EXPECT_EQ(lab.links[0].rate, sim::BitRate::gbps(25));
    EXPECT_EQ(lab.links[1].faults.at(0).kind, FaultKind::Drop);
}

TEST(LabLoader, WithoutAListOfProfilesEveryNameIsAccepted) {
    EXPECT_EQ(load("nic: my-nic\n", LabOptions{}).errors, "");
    EXPECT_EQ(load("nic: my-nic\n", LabOptions{}).lab->hosts[0].nics[0].profile, "my-nic");
}

TEST(LabLoader, ALabMayBePartOfALargerDocument) {
    DiagnosticSink sink;
    const YamlPtr root = parse_yaml("lab: {hosts: 2, nic: cx9}\n", "s.yaml", sink);
    ASSERT_NE(root, nullptr);
    EXPECT_FALSE(read_lab(*root->find("lab"), "lab", testing::known_profiles(), sink).has_value());
    EXPECT_TRUE(sink.to_string().starts_with("s.yaml:1:22: lab.nic.profile: 'cx9' is not a profile"))
        << sink.to_string();
}

TEST(LabLoader, TheLargestLabIsLoadedWithoutAWait) {
    EXPECT_EQ(lab_of("hosts: 65000\n").links.size(), 65000U);
}

}  // namespace
}  // namespace simverbs::scenarios
