#include <gtest/gtest.h>

#include "models/wire/frame_overhead.hpp"

namespace simverbs::wire {
namespace {

constexpr std::uint8_t kMiddle = make_opcode(Transport::Rc, BaseOpcode::WriteMiddle);

/// Payload share of the wire in hundredths of a percent, rounded.
long efficiency(LinkType link, std::size_t mtu) {
    const FrameOverhead frame = frame_overhead(link, kMiddle, mtu);
    return static_cast<long>(10000.0 * static_cast<double>(mtu) / static_cast<double>(frame.wire_bytes()) + 0.5);
}

TEST(FrameOverhead, EfficiencyOfFullPackets) {
    // Rows: MTU; columns: IB local, IB with GRH, RoCEv1, RoCEv2/IPv4, RoCEv2/IPv6.
    const std::pair<std::size_t, std::array<long, 5>> table[] = {
        {256, {9078, 7950, 7314, 7574, 7151}},
        {1024, {9752, 9394, 9159, 9259, 9094}},
        {4096, {9937, 9841, 9776, 9804, 9757}},
    };
    for (const auto& [mtu, percent] : table) {
        for (std::size_t i = 0; i < kAllLinkTypes.size(); ++i) {
            EXPECT_EQ(efficiency(kAllLinkTypes[i], mtu), percent[i]) << name_of(kAllLinkTypes[i]) << ", MTU " << mtu;
        }
    }
}

TEST(FrameOverhead, ExtensionHeadersAndPadAreAdded) {
    const auto plain = frame_overhead(LinkType::RoceV2Ipv4, 0x07, 1024);
    const auto with_reth = frame_overhead(LinkType::RoceV2Ipv4, 0x06, 1024);
    EXPECT_EQ(with_reth.wire_bytes(), plain.wire_bytes() + 16);
    const auto odd = frame_overhead(LinkType::InfiniBandLocal, 0x04, 5);
    EXPECT_EQ(odd.pad, 3u);
    EXPECT_EQ(odd.frame_bytes(), 26u + 8u);
    EXPECT_EQ(odd.preamble_and_gap, 0u);
}

TEST(FrameOverhead, AcksByLinkType) {
    EXPECT_EQ(frame_overhead(LinkType::InfiniBandLocal, 0x11, 0).wire_bytes(), 30u);
    EXPECT_EQ(frame_overhead(LinkType::RoceV2Ipv4, 0x11, 0).frame_bytes(), 66u);
    EXPECT_EQ(frame_overhead(LinkType::RoceV2Ipv4, 0x11, 0).wire_bytes(), 86u);
}

TEST(FrameOverhead, ShortEthernetFramesAreFilledUpTo64Bytes) {
    const auto empty_send = frame_overhead(LinkType::RoceV2Ipv4, 0x04, 0);
    EXPECT_EQ(empty_send.ethernet_padding, 2u);
    EXPECT_EQ(empty_send.frame_bytes(), 64u);
    EXPECT_EQ(empty_send.captured_bytes(), 60u);
    EXPECT_EQ(frame_overhead(LinkType::RoceV2Ipv4, 0x04, 0, true).ethernet_padding, 0u);
}

TEST(FrameOverhead, AVlanTagIsFourBytesOnEthernetOnly) {
    for (const LinkType link : kAllLinkTypes) {
        const auto without = frame_overhead(link, kMiddle, 256).wire_bytes();
        EXPECT_EQ(frame_overhead(link, kMiddle, 256, true).wire_bytes(), without + (is_ethernet(link) ? 4 : 0));
    }
}

TEST(FrameOverhead, PadFillsUpToFour) {
    for (std::size_t bytes = 0; bytes < 20; ++bytes) {
        EXPECT_EQ((bytes + pad_bytes(bytes)) % 4, 0u);
        EXPECT_LT(pad_bytes(bytes), 4u);
    }
}

}  // namespace
}  // namespace simverbs::wire
