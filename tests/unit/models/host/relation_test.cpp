#include "models/host/relation.hpp"

#include <gtest/gtest.h>

#include "tests/support/platforms.hpp"

namespace simverbs::host {
namespace {

TEST(Describe, DrawsTheTreeAndSaysWhichLinksAreDegraded) {
    PlatformSpec p = test::two_socket();
    p.description = "for tests";
    p.switches[0].acs = true;
    p.nics[0].slot = {3, 8, 256};
    EXPECT_EQ(describe(p),
              "two_socket: for tests\n"
              "node0 (socket 0, 64 GiB, 1200 Gb/s)\n"
              "+- root0\n"
              "|  +- plx0  gen4 x16  ACS\n"
              "|  |  +- nic0  gen3 x8 (downgraded: the device can do gen4 x16)\n"
              "|  |  `- gpu0  gen4 x16  H100, 80 GiB\n"
              "|  `- gpu3  gen4 x16  H100, 80 GiB\n"
              "`- root1\n"
              "   `- gpu1  gen4 x16  H100, 80 GiB\n"
              "node1 (socket 1, 64 GiB, 1200 Gb/s)\n"
              "+- root2\n"
              "|  `- nic1  gen4 x16\n"
              "`- root3\n"
              "   `- gpu2  gen4 x16  H100, 80 GiB\n");
}

TEST(RelationMatrix, HasGpusFirstAsNvidiaSmiHas) {
    EXPECT_EQ(relation_matrix(test::two_socket()),
              "           gpu0   gpu1   gpu2   gpu3   nic0   nic1\n"
              "gpu0          X   NODE    SYS    PHB    PIX    SYS\n"
              "gpu1       NODE      X    SYS   NODE   NODE    SYS\n"
              "gpu2        SYS    SYS      X    SYS    SYS   NODE\n"
              "gpu3        PHB   NODE    SYS      X    PHB    SYS\n"
              "nic0        PIX   NODE    SYS    PHB      X    SYS\n"
              "nic1        SYS    SYS   NODE    SYS    SYS      X\n");
}

TEST(Relations, OfDirectNvlinksAreBetweenTheirGpusOnly) {
    PlatformSpec p = test::two_socket();
    p.nvlink.links = {{0, 3, 4}};
    EXPECT_EQ(to_string(relation_between(p, 2, 5)), "NV4");
    EXPECT_EQ(to_string(relation_between(p, 5, 2)), "NV4");
    EXPECT_EQ(to_string(relation_between(p, 2, 3)), "NODE");
}

}  // namespace
}  // namespace simverbs::host
