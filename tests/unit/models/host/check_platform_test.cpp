#include "models/host/check_platform.hpp"

#include <gtest/gtest.h>

#include "tests/support/platforms.hpp"

namespace simverbs::host {
namespace {

std::string problems(const PlatformSpec& p) {
    std::string text;
    for (const PlatformProblem& x : check_platform(p)) text += x.where + ": " + x.problem + '\n';
    return text;
}

TEST(CheckPlatform, TheTestsPlatformsAreInOrder) {
    for (const auto& p : {test::one_adapter(), test::two_socket(), test::hgx_h100(), test::dgx_a100()})
        EXPECT_EQ(problems(p), "") << p.name;
}

TEST(CheckPlatform, NothingIsNoHost) {
    EXPECT_NE(problems({}).find("numa_nodes: there are none"), std::string::npos);
}

TEST(CheckPlatform, SaysWhereAndWhatIsWrongOfEverythingAtOnce) {
    PlatformSpec p = test::two_socket();
    p.gpus[1].slot.lanes = 12;
    p.nics[0].max_read_request = 300;
    p.switches[0].upstream = test::under_switch(0);
    p.bridges[1].name = "root0";
    EXPECT_EQ(problems(p),
              "bridges[1].name: something else is called 'root0', too\n"
              "switches[0].under: switch 0 is not listed before it\n"
              "nics[0].max_read_request: MRRS is not 300: 128, 256, 512, 1024, 2048 or 4096 bytes\n"
              "gpus[1].slot: no link has 12 lanes: 1, 2, 4, 8 or 16\n");
}

TEST(CheckPlatform, AListHasAnEnd) {
    PlatformSpec p = test::one_adapter();
    p.nics.resize(257, p.nics[0]);
    for (size_t i = 0; i < p.nics.size(); ++i) p.nics[i].name = "nic" + std::to_string(i);
    EXPECT_EQ(problems(p), "nics: there are 257; at most 256 are possible\n");
}

TEST(CheckPlatform, ANumaNodeThatNoLinkReachesIsAMistake) {
    PlatformSpec p = test::two_socket();
    p.numa_links.clear();
    EXPECT_EQ(problems(p), "numa_nodes[1]: no way of numa_links leads from node0 to node1\n");
}

TEST(CheckPlatform, DevicesUnderWhatIsNotThereAreMistakes) {
    PlatformSpec p = test::one_adapter();
    p.nics[0].upstream = test::under_bridge(3);
    EXPECT_EQ(problems(p), "nics[0].under: there is no host bridge 3: there are 1\n");
    p.nics[0].upstream = test::under_switch(0);
    EXPECT_EQ(problems(p), "nics[0].under: switch 0 is not listed before it\n");
}

}  // namespace
}  // namespace simverbs::host
