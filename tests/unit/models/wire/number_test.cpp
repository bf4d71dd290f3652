#include <gtest/gtest.h>

#include "models/wire/psn.hpp"
#include "models/wire/qpn.hpp"
#include "models/wire/roce_udp_port.hpp"

namespace simverbs::wire {
namespace {

TEST(Psn, DistanceIsSignedAndCrossesZero) {
    EXPECT_EQ(Psn::distance(Psn(5), Psn(9)), 4);
    EXPECT_EQ(Psn::distance(Psn(9), Psn(5)), -4);
    EXPECT_EQ(Psn::distance(Psn(0xFFFFFE), Psn(3)), 5);
    EXPECT_EQ(Psn::distance(Psn(3), Psn(0xFFFFFE)), -5);
}

TEST(Psn, TheFarSideOfTheCircleIsBehind) {
    EXPECT_EQ(Psn::distance(Psn(0), Psn(0x7FFFFF)), 0x7FFFFF);
    EXPECT_EQ(Psn::distance(Psn(0), Psn(0x800000)), -Psn::kWindow);
    EXPECT_EQ(Psn::distance(Psn(0x800000), Psn(0)), -Psn::kWindow);
}

TEST(Psn, AddingTheDistanceLeadsFromOneToTheOther) {
    for (const std::uint32_t from : {0u, 1u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu, 0x123456u}) {
        for (const std::uint32_t to : {0u, 1u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu, 0xFEDCBAu}) {
            EXPECT_EQ(Psn(from) + Psn::distance(Psn(from), Psn(to)), Psn(to));
            EXPECT_EQ(Psn(to) - Psn::distance(Psn(from), Psn(to)), Psn(from));
        }
    }
}

TEST(Psn, StepsWrapAndHighBitsAreCutOff) {
    EXPECT_EQ(Psn(0xFFFFFF).next(), Psn(0));
    EXPECT_EQ(Psn(0).previous(), Psn(0xFFFFFF));
    EXPECT_EQ(Psn(0xAB000001).value(), 1u);
    Psn psn(0xFFFFFF);
    ++psn;
    psn += 2;
    psn -= 5;
    EXPECT_EQ(psn, Psn(0xFFFFFD));
}

template <typename T>
concept Ordered = requires(T a, T b) {
    a < b;
};
static_assert(!Ordered<Psn>);
static_assert(Ordered<Qpn>);

TEST(Qpn, KeepsTwentyFourBits) {
    EXPECT_EQ(Qpn(0xFF123456).value(), 0x123456u);
    EXPECT_EQ(std::hash<Qpn>{}(Qpn(7)), std::hash<Qpn>{}(Qpn(0x01000007)));
}

TEST(RoceUdpPort, IsTheSameInBothDirectionsAndInTheDynamicRange) {
    for (std::uint32_t qpn = 0x11; qpn < 0x400; qpn += 7) {
        const std::uint16_t port = roce_udp_source_port(0, Qpn(qpn), Qpn(qpn * 3));
        EXPECT_GE(port, 0xC000);
        EXPECT_EQ(port, roce_udp_source_port(0, Qpn(qpn * 3), Qpn(qpn)));
    }
}

TEST(RoceUdpPort, FoldsTheFlowLabel) {
    EXPECT_EQ(roce_udp_source_port(0x00001, Qpn(), Qpn()), 0xC001);
    EXPECT_EQ(roce_udp_source_port(0x04000, Qpn(), Qpn()), 0xC001);
    EXPECT_EQ(roce_udp_source_port(0xFFFFF, Qpn(), Qpn()), 0xC000 | (0x3FFF ^ 0x3F));
    // 0x11 * 0x12 = 0x132: too small for the shifts to change anything.
    EXPECT_EQ(roce_flow_label(Qpn(0x11), Qpn(0x12)), 0x132u);
    EXPECT_EQ(roce_udp_source_port(0, Qpn(0x11), Qpn(0x12)), 0xC132);
    // 0x100000 * 0x100000 = 2^40: bit 40 comes down by 20 to bit 20 (not in the label), then by 40 to bit 0.
    EXPECT_EQ(roce_flow_label(Qpn(0x100000), Qpn(0x100000)), 1u);
}

}  // namespace
}  // namespace simverbs::wire
