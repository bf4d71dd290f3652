#include "models/host/pci_functions.hpp"

#include <gtest/gtest.h>

#include <set>

#include "models/host/ancestry.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs::host {
namespace {

std::string listing(const PlatformSpec& p) {
    constexpr const char* kKinds[] = {"root port", "upstream port", "downstream port", "nic", "gpu"};
    std::string text;
    for (const PciFunction& f : pci_functions(p))
        text += to_string(f.address) + ' ' + kKinds[static_cast<size_t>(f.kind)] + ' ' + std::to_string(f.index) + '\n';
    return text;
}

TEST(PciFunctions, AreEnumeratedDepthFirstBelowEachHostBridge) {
    EXPECT_EQ(listing(test::two_socket()),
              "0000:00:01.0 root port 0\n"
              "0000:01:00.0 upstream port 0\n"
              "0000:02:00.0 downstream port 0\n"
              "0000:03:00.0 nic 0\n"
              "0000:02:01.0 downstream port 0\n"
              "0000:04:00.0 gpu 0\n"
              "0000:00:02.0 root port 0\n"
              "0000:05:00.0 gpu 3\n"
              "0000:40:01.0 root port 1\n"
              "0000:41:00.0 gpu 1\n"
              "0000:80:01.0 root port 2\n"
              "0000:81:00.0 nic 1\n"
              "0000:c0:01.0 root port 3\n"
              "0000:c1:00.0 gpu 2\n");
}

TEST(PciFunctions, PortsKnowTheBusesBelowThem) {
    const auto found = pci_functions(test::two_socket());
    EXPECT_EQ(found[0].first_bus, 1);
    EXPECT_EQ(found[0].last_bus, 4);
    EXPECT_EQ(found[1].first_bus, 2);
    EXPECT_EQ(found[1].last_bus, 4);
    EXPECT_EQ(found[2].first_bus, 3);
    EXPECT_EQ(found[2].last_bus, 3);
    for (const PciFunction& f : found)
        if (f.above) {
            const PciFunction& above = found[*f.above];
            EXPECT_LE(above.first_bus, f.address.bus);
            EXPECT_GE(above.last_bus, f.address.bus);
        }
}

TEST(PciFunctions, NoTwoHaveOneAddress) {
    for (const auto& p : {test::two_socket(), test::hgx_h100(), test::one_adapter()}) {
        std::set<std::string> seen;
        for (const PciFunction& f : pci_functions(p)) EXPECT_TRUE(seen.insert(to_string(f.address)).second);
        for (AgentId a = 0; a < p.nics.size() + p.gpus.size(); ++a)
            EXPECT_TRUE(seen.contains(to_string(address_of(pci_functions(p), p, a))));
    }
}

TEST(PciFunctions, ManyBridgesHaveADomainEach) {
    PlatformSpec p = test::one_adapter();
    p.bridges.clear();
    p.nics.clear();
    for (uint16_t i = 0; i < 200; ++i) {
        p.bridges.push_back(test::bridge("root" + std::to_string(i), 0));
        p.nics.push_back(test::nic("nic" + std::to_string(i), test::under_bridge(i)));
    }
    EXPECT_EQ(to_string(address_of(pci_functions(p), p, 199)), "00c7:01:00.0");
}

TEST(PciFunctions, SayAsLspciWhatIsDowngraded) {
    PlatformSpec p = test::one_adapter({4, 16, 256});
    EXPECT_EQ(link_text(pci_functions(p)[1]), "LnkCap: Speed 16GT/s, Width x16\nLnkSta: Speed 16GT/s, Width x16\n");
    p.nics[0].slot = {1, 8, 256};
    EXPECT_EQ(link_text(pci_functions(p)[1]),
              "LnkCap: Speed 16GT/s, Width x16\nLnkSta: Speed 2.5GT/s (downgraded), Width x8 (downgraded)\n");
}

TEST(PciFunctions, DevicesAreNextToTheirBridgesNode) {
    EXPECT_EQ(nearest_node(test::two_socket(), 0), 0);
    EXPECT_EQ(nearest_node(test::two_socket(), 1), 1);
}

}  // namespace
}  // namespace simverbs::host
