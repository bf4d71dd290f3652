#include "scenarios/lang/lab_library.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::known_profiles;
using testing::library_dir;

LabSpec library_lab(std::string_view name) {
    DiagnosticSink sink;
    const auto path = find_lab(name, library_dir(), sink);
    auto lab = path ? load_lab_file(*path, known_profiles(), sink) : std::nullopt;
    EXPECT_EQ(sink.to_string(), "");
    return lab.value_or(LabSpec{});
}

TEST(LabLibrary, EveryLabLoadsAndIsNamedLikeItsFile) {
    const std::vector<std::string> names = list_labs(library_dir());
    EXPECT_EQ(names,
              (std::vector<std::string>{"back_to_back_cx5", "four_hosts", "four_hosts_ib", "one_switch_cx6_hdr100",
                                        "ten_hosts", "two_hosts_cx6_200g", "two_hosts_ib", "two_hosts_ib_far",
                                        "two_hosts_ib_lossy", "two_hosts_ideal", "two_hosts_lossy", "two_hosts_roce",
                                        "two_hosts_roce_100g", "two_hosts_roce_10g"}));
    for (const std::string& name : names) EXPECT_EQ(library_lab(name).name, name);
}

TEST(LabLibrary, EveryLabBeginsWithAParagraphOnWhatItIs) {
    for (const std::string& name : list_labs(library_dir())) {
        const std::string text = testing::file_text(library_dir() + "/" + name + ".yaml");
        EXPECT_TRUE(text.starts_with("# ")) << name;
        EXPECT_GT(text.find("\nname: "), 100U) << name;
    }
}

TEST(LabLibrary, TheDefaultLabIsTwoRoceHostsOnOneSwitch) {
    const LabSpec lab = library_lab(kDefaultLabName);
    ASSERT_EQ(lab.hosts.size(), 2U);
    EXPECT_EQ(lab.hosts[0].name, "h0");
    EXPECT_EQ(lab.hosts[1].name, "h1");
    for (const HostSpec& host : lab.hosts) {
        ASSERT_EQ(host.nics.size(), 1U);
        EXPECT_EQ(host.nics[0].device, "mlx5_0");
        EXPECT_EQ(host.nics[0].profile, "cx7-400g");
        EXPECT_EQ(host.nics[0].link_layer, LinkLayer::Ethernet);
    }
    ASSERT_EQ(lab.switches.size(), 1U);
    EXPECT_EQ(lab.switches[0].latency, sim::SimTime::ns(300));
    EXPECT_EQ(lab.links.size(), 2U);
    EXPECT_EQ(lab.clock, ClockKind::Virtual);
}

TEST(LabLibrary, TheInfiniBandLabIsInfiniBandThroughout) {
    const LabSpec lab = library_lab("two_hosts_ib");
    EXPECT_EQ(lab.hosts[0].nics[0].link_layer, LinkLayer::InfiniBand);
    EXPECT_EQ(lab.hosts[0].nics[0].mtu, 4096);
    EXPECT_EQ(lab.switches.at(0).link_layer, LinkLayer::InfiniBand);
    EXPECT_EQ(lab.switches.at(0).latency, sim::SimTime::ns(130));
}

TEST(LabLibrary, TheLossyLabsDropEvery1000thPacketOfTheFirstHostsCable) {
    for (const char* name : {"two_hosts_lossy", "two_hosts_ib_lossy"}) {
        const LabSpec lab = library_lab(name);
        ASSERT_EQ(lab.links.size(), 2U);
        ASSERT_EQ(lab.links[0].faults.size(), 1U);
        EXPECT_EQ(lab.links[0].faults[0].kind, FaultKind::Drop);
        EXPECT_EQ(lab.links[0].faults[0].every, 1000);
        EXPECT_EQ(lab.links[0].faults[0].direction, FaultDirection::Both);
        EXPECT_TRUE(lab.links[1].faults.empty());
    }
}

TEST(FindLab, APathIsTakenAsItIs) {
    DiagnosticSink sink;
    EXPECT_EQ(find_lab("./mine", library_dir(), sink), "./mine");
    EXPECT_EQ(find_lab("mine.yaml", library_dir(), sink), "mine.yaml");
    EXPECT_TRUE(sink.empty());
}

TEST(FindLab, AWrongNameIsAnsweredWithTheNearestOne) {
    DiagnosticSink sink;
    EXPECT_EQ(find_lab("two_host_roce", library_dir(), sink), std::nullopt);
    EXPECT_TRUE(sink.to_string().starts_with("there is no lab 'two_host_roce'; expected one of back_to_back_cx5, "));
    EXPECT_TRUE(sink.to_string().ends_with(", or the path of a lab file; did you mean 'two_hosts_roce'?\n"));
}

TEST(FindLab, AMissingLibraryIsNamed) {
    DiagnosticSink sink;
    EXPECT_EQ(find_lab("two_hosts_roce", "/nonexistent", sink), std::nullopt);
    EXPECT_EQ(sink.to_string(),
              "there is no lab 'two_hosts_roce'; expected a lab in the library '/nonexistent', which has none, or the "
              "path of a lab file\n");
}

}  // namespace
}  // namespace simverbs::scenarios
