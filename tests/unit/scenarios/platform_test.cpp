// Hosts with an inside: built-in platforms, files, overrides, and where adapters come to sit.
#include <gtest/gtest.h>

#include <fstream>

#include "scenarios/lang/platform.hpp"
#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

/// The inside of host `h0`; an empty one after a failure.
host::PlatformSpec inside_of(const std::string& text) {
    const auto loaded = testing::load(text);
    EXPECT_EQ(loaded.errors, "");
    if (!loaded.lab || loaded.lab->hosts.empty() || loaded.lab->hosts[0].inside == nullptr) return {};
    return loaded.lab->hosts[0].inside->spec;
}

TEST(Platform, WithoutOne_TheHostIsIdeal) {
    const auto loaded = testing::load("hosts: 2\n");
    ASSERT_TRUE(loaded.lab);
    EXPECT_EQ(loaded.lab->hosts[0].inside, nullptr);
}

TEST(Platform, EveryBuiltInOneCanBeUsedAsItIs) {
    for (const KnownPlatform& known : testing::known_platforms()) {
        const auto spec = inside_of("hosts: 2\nplatform: " + known.name + "\n");
        EXPECT_EQ(spec.name, known.name);
        EXPECT_EQ(spec.nics.size(), 1U) << known.name;
        EXPECT_FALSE(spec.description.empty()) << known.name;
    }
}

TEST(Platform, DgxA100_HasEightOfEachBelowFourSwitches) {
    const auto spec = inside_of("hosts:\n  h0: {platform: dgx_a100, nics: 8}\n  h1: {}\n");
    ASSERT_EQ(spec.nics.size(), 8U);
    ASSERT_EQ(spec.gpus.size(), 8U);
    EXPECT_EQ(spec.switches.size(), 4U);
    EXPECT_EQ(spec.nvlink.switched_links, 12);
    for (uint16_t i = 0; i < 8; ++i) {
        EXPECT_EQ(spec.nics[i].name, "rail" + std::to_string(i));
        EXPECT_EQ(spec.nics[i].upstream.kind, host::UpstreamSpec::Kind::Switch);
        EXPECT_EQ(spec.nics[i].upstream.index, i / 2);
        EXPECT_EQ(spec.gpus[i].upstream.index, i / 2);
    }
    EXPECT_EQ(spec.bridges[0].numa_node, 3);
}

TEST(Platform, AdaptersThatNameASlotGetIt_TheOthersWhatIsFree) {
    const auto spec =
        inside_of("hosts:\n  h0: {platform: two_socket, nics: {a: {}, b: {slot: nic0}, c: {}}}\n  h1: {}\n");
    ASSERT_EQ(spec.nics.size(), 3U);
    EXPECT_EQ(spec.nics[0].name, "nic1");
    EXPECT_EQ(spec.nics[1].name, "nic0");
    EXPECT_EQ(spec.nics[2].name, "nic2");
}

TEST(Platform, OneThatIsLikeAnotherChangesWhatItSaysAndNothingElse) {
    const auto plain = inside_of("hosts: {h0: {platform: two_socket}, h1: {}}\n");
    const auto changed = inside_of(
        "hosts: {h0: {platform: {like: two_socket, slots: {nic0: {width: 8}}, acs: true, iommu: {}, ddio: false}}, h1: "
        "{}}\n");
    EXPECT_EQ(plain.nics[0].slot.lanes, 16);
    EXPECT_EQ(changed.nics[0].slot.lanes, 8);
    EXPECT_EQ(changed.nics[0].slot.generation, plain.nics[0].slot.generation);
    EXPECT_EQ(changed.gpus.size(), plain.gpus.size());
    EXPECT_FALSE(plain.switches[0].acs);
    EXPECT_TRUE(changed.switches[0].acs);
    EXPECT_FALSE(plain.iommu.enabled);
    EXPECT_TRUE(changed.iommu.enabled);
    EXPECT_TRUE(plain.numa_nodes[1].ddio);
    EXPECT_FALSE(changed.numa_nodes[1].ddio);
}

TEST(Platform, AFileIsLookedForBesideTheFileThatNamesIt_AndIsCalledAsItsName) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "platform_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "mine.yaml") << "like: workstation\nslots: {slot1: {gen: 3}}\n";
    std::ofstream(folder / "lab.yaml") << "hosts: {h0: {platform: ./mine.yaml}, h1: {}}\n";
    DiagnosticSink sink;
    const auto lab = load_lab_file((folder / "lab.yaml").string(), testing::known_profiles(), sink);
    ASSERT_TRUE(lab) << sink.to_string();
    EXPECT_EQ(lab->hosts[0].inside->spec.name, "mine");
    EXPECT_EQ(lab->hosts[0].inside->spec.nics[0].slot.generation, 3);
    EXPECT_EQ(lab->hosts[0].inside->spec.gpus.size(), 1U);
    std::filesystem::remove_all(folder);
}

TEST(Platform, SwitchesMayStandInAnyOrder) {
    const auto spec = inside_of(
        "hosts:\n  h0:\n    platform:\n      switches: {inner: {under: outer}, outer: {under: root0}}\n"
        "      slots: {deep: {under: inner}}\n  h1: {}\n");
    ASSERT_EQ(spec.switches.size(), 2U);
    EXPECT_EQ(spec.switches[0].name, "outer");
    EXPECT_EQ(spec.switches[1].upstream.kind, host::UpstreamSpec::Kind::Switch);
    EXPECT_EQ(spec.switches[1].upstream.index, 0);
    EXPECT_EQ(spec.nics[0].upstream.index, 1);
}

TEST(Platform, TheLabsPlatformIsThatOfEveryHostThatNamesNone) {
    const auto loaded = testing::load("hosts: {h0: {}, h1: {platform: workstation}}\nplatform: two_socket\n");
    ASSERT_TRUE(loaded.lab) << loaded.errors;
    EXPECT_EQ(loaded.lab->hosts[0].inside->spec.name, "two_socket");
    EXPECT_EQ(loaded.lab->hosts[1].inside->spec.name, "workstation");
}

}  // namespace
}  // namespace simverbs::scenarios
