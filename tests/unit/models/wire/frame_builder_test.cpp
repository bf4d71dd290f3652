#include "models/wire/frame_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/wire/byte_order.hpp"
#include "models/wire/ethernet_header.hpp"
#include "models/wire/grh.hpp"
#include "models/wire/icrc.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/ipv6_header.hpp"
#include "models/wire/lrh.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/roce_udp_port.hpp"
#include "models/wire/udp_header.hpp"
#include "models/wire/vcrc.hpp"

namespace simverbs::wire {
namespace {

using Bytes = std::vector<std::uint8_t>;

FrameSpec example(LinkType link) {
    FrameSpec spec;
    spec.link = link;
    spec.source_mac = *parse_mac("02:00:00:00:00:01");
    spec.destination_mac = *parse_mac("02:00:00:00:00:02");
    spec.udp_source_port = 0xD234;
    spec.source_lid = 0x11;
    spec.destination_lid = 0x22;
    spec.sl = 3;
    spec.vl = 1;
    const bool ipv4 = link == LinkType::RoceV2Ipv4;
    spec.source_gid = ipv4 ? gid_from_ipv4(0x0A000001) : link_local_gid(spec.source_mac);
    spec.destination_gid = ipv4 ? gid_from_ipv4(0x0A000002) : link_local_gid(spec.destination_mac);
    spec.traffic_class = 26 << 2;
    spec.ecn = Ecn::Ect0;
    spec.hop_limit = 61;
    spec.flow_label = 0x12345;
    spec.bth.opcode = 0x04;
    spec.bth.dest_qp = Qpn(0x99);
    spec.bth.psn = Psn(0x123456);
    return spec;
}

Bytes built(const FrameSpec& spec) {
    Bytes frame(5000, 0xEE);
    frame.resize(build_frame(spec, frame));
    return frame;
}

class EveryLink : public testing::TestWithParam<LinkType> {};
INSTANTIATE_TEST_SUITE_P(Link, EveryLink, testing::ValuesIn(kAllLinkTypes));

TEST_P(EveryLink, FrameIsAsLongAsFrameOverheadSaysForEveryOpcodeAndLength) {
    const Bytes payload(4096, 0x5A);
    for (const OpcodeInfo& info : kOpcodeTable) {
        for (const std::size_t length : {0, 1, 2, 3, 4, 255, 256, 4096}) {
            for (const bool vlan : {false, true}) {
                FrameSpec spec = example(GetParam());
                spec.bth.opcode = info.opcode;
                spec.payload = std::span(payload).first(length);
                if (vlan) spec.vlan = VlanTag{3, false, 7, 0};
                const bool legal = info.has_payload || length == 0;
                const std::size_t expected =
                    legal ? frame_overhead(GetParam(), info.opcode, length, vlan).captured_bytes() : 0;
                ASSERT_EQ(built(spec).size(), expected) << info.name << " " << length;
            }
        }
    }
}

TEST_P(EveryLink, TheBthAndEveryExtensionHeaderComeBack) {
    const std::size_t bth_at = link_header_bytes(GetParam());
    for (const OpcodeInfo& info : kOpcodeTable) {
        FrameSpec spec = example(GetParam());
        spec.bth.opcode = info.opcode;
        spec.xrceth = {0x1234};
        spec.deth = {0x80010000, Qpn(5)};
        spec.feth = {1, 3};
        spec.reth = {0x1122334455667788, 0x99AABBCC, 4096};
        spec.atomic_eth = {0x1122334455667788, 0x99AABBCC, 7, 8};
        spec.aeth = {0x1F, 0x777};
        spec.atomic_ack_eth = {0x0123456789ABCDEF};
        spec.imm_dt = {0xCAFEBABE};
        spec.ieth = {0xDEADBEEF};
        const Bytes frame = built(spec);
        std::span<const std::uint8_t> rest = std::span(frame).subspan(bth_at);
        ASSERT_EQ(Bth::decode(rest), spec.bth) << info.name;
        rest = rest.subspan(Bth::size);
        const auto expect_next = [&]<typename Header>(bool present, const Header& header) {
            if (!present) return;
            EXPECT_EQ(Header::decode(rest), header) << info.name;
            rest = rest.subspan(Header::size);
        };
        expect_next(info.has_xrceth, spec.xrceth);
        expect_next(info.has_deth, spec.deth);
        expect_next(info.has_feth, spec.feth);
        expect_next(info.has_reth, spec.reth);
        expect_next(info.has_atomic_eth, spec.atomic_eth);
        expect_next(info.has_aeth, spec.aeth);
        expect_next(info.has_atomic_ack_eth, spec.atomic_ack_eth);
        expect_next(info.has_imm_dt, spec.imm_dt);
        expect_next(info.has_ieth, spec.ieth);
    }
}

TEST_P(EveryLink, PayloadIsGatheredFromItsPiecesAndPadded) {
    Bytes data(40);
    std::iota(data.begin(), data.end(), std::uint8_t{1});
    FrameSpec spec = example(GetParam());
    spec.payload = std::span(data).first(7);
    spec.payload_tail = std::span(data).subspan(7, 20);
    spec.payload_zeros = 3;
    const Bytes frame = built(spec);
    const std::size_t at = link_header_bytes(GetParam()) + Bth::size;
    EXPECT_EQ(Bth::decode(std::span(frame).subspan(at - Bth::size))->pad_cnt, 2);
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 27, frame.begin() + static_cast<std::ptrdiff_t>(at)));
    for (std::size_t i = 27; i < 32; ++i) EXPECT_EQ(frame[at + i], 0);

    FrameSpec whole = example(GetParam());
    Bytes joined(data.begin(), data.begin() + 27);
    joined.resize(30);
    whole.payload = joined;
    EXPECT_EQ(built(whole), frame);
}

TEST_P(EveryLink, ABufferOneByteTooShortIsRefused) {
    const FrameSpec spec = example(GetParam());
    const std::size_t size = frame_size(spec).captured_bytes();
    Bytes buffer(size + 1, 0xEE);
    EXPECT_EQ(build_frame(spec, std::span(buffer).first(size - 1)), 0u);
    EXPECT_EQ(build_frame(spec, buffer), size);
    EXPECT_EQ(buffer[size], 0xEE) << "written behind the frame";
}

TEST_P(EveryLink, ReservedOpcodesAndHugePayloadsAreRefused) {
    FrameSpec spec = example(GetParam());
    spec.payload_zeros = 100'000;
    Bytes buffer(200'000);
    EXPECT_EQ(build_frame(spec, buffer), 0u);
    spec.payload_zeros = 0;
    spec.bth.opcode = 0x40;
    EXPECT_EQ(build_frame(spec, buffer), 0u);
}

TEST(BuildFrame, RoceV2OverIpv4) {
    FrameSpec spec = example(LinkType::RoceV2Ipv4);
    spec.payload_zeros = 256;
    const Bytes frame = built(spec);
    const auto ethernet = EthernetHeader::decode(frame);
    EXPECT_EQ(ethernet->source, spec.source_mac);
    EXPECT_EQ(ethernet->destination, spec.destination_mac);
    EXPECT_EQ(ethernet->ethertype, kEthertypeIpv4);
    const auto ip_bytes = std::span(frame).subspan(EthernetHeader::size);
    const auto ip = Ipv4Header::decode(ip_bytes);
    EXPECT_EQ(internet_checksum(ip_bytes.first(Ipv4Header::size)), 0);
    EXPECT_EQ(ip->total_length, ip_bytes.size());
    EXPECT_EQ(ip->tos, (26 << 2) | 2);
    EXPECT_EQ(ip->ttl, 61);
    EXPECT_EQ(ip->source, 0x0A000001u);
    EXPECT_EQ(ip->destination, 0x0A000002u);
    EXPECT_TRUE(ip->dont_fragment);
    const auto udp = UdpHeader::decode(ip_bytes.subspan(Ipv4Header::size));
    EXPECT_EQ(udp->source_port, 0xD234);
    EXPECT_EQ(udp->destination_port, kRoceV2UdpPort);
    EXPECT_EQ(udp->length, ip_bytes.size() - Ipv4Header::size);
    EXPECT_EQ(load_le32(ip_bytes, ip_bytes.size() - 4),
              icrc(LinkType::RoceV2Ipv4, ip_bytes.first(ip_bytes.size() - 4)));
}

TEST(BuildFrame, RoceV2OverIpv6) {
    FrameSpec spec = example(LinkType::RoceV2Ipv6);
    spec.ecn = Ecn::Ce;
    const Bytes frame = built(spec);
    EXPECT_EQ(EthernetHeader::decode(frame)->ethertype, kEthertypeIpv6);
    const auto ip_bytes = std::span(frame).subspan(EthernetHeader::size);
    const auto ip = Ipv6Header::decode(ip_bytes);
    EXPECT_EQ(ip->traffic_class, (26 << 2) | 3);
    EXPECT_EQ(ip->flow_label, 0x12345u);
    EXPECT_EQ(ip->payload_length, ip_bytes.size() - Ipv6Header::size);
    EXPECT_EQ(ip->hop_limit, 61);
    EXPECT_EQ(ip->source, spec.source_gid);
    EXPECT_EQ(ip->destination, spec.destination_gid);

    Bytes summed(frame.begin() + 14 + 8, frame.end());  // both addresses, then UDP and everything behind it
    const std::size_t udp_bytes = summed.size() - 32;
    for (const std::size_t byte : {udp_bytes >> 8, udp_bytes & 0xFF, std::size_t{0}, std::size_t{17}}) {
        summed.push_back(static_cast<std::uint8_t>(byte));
    }
    EXPECT_EQ(internet_checksum(summed), 0);
    EXPECT_EQ(load_le32(ip_bytes, ip_bytes.size() - 4),
              icrc(LinkType::RoceV2Ipv6, ip_bytes.first(ip_bytes.size() - 4)));
}

TEST(BuildFrame, RoceV1HasAGrhBehindItsEthertype) {
    const FrameSpec spec = example(LinkType::RoceV1);
    const Bytes frame = built(spec);
    EXPECT_EQ(EthernetHeader::decode(frame)->ethertype, kEthertypeRoceV1);
    const auto grh = Grh::decode(std::span(frame).subspan(EthernetHeader::size));
    EXPECT_EQ(grh->pay_len, frame.size() - EthernetHeader::size - Grh::size);
    EXPECT_EQ(grh->t_class, 26 << 2) << "a GRH has no ECN bits";
    EXPECT_EQ(grh->nxt_hdr, Grh::kNxtHdrIba);
    EXPECT_EQ(grh->sgid, spec.source_gid);
}

TEST(BuildFrame, InfiniBandEndsWithAVcrcOverEverything) {
    for (const LinkType link : {LinkType::InfiniBandLocal, LinkType::InfiniBandGlobal}) {
        FrameSpec spec = example(link);
        spec.payload_zeros = 100;
        const Bytes frame = built(spec);
        const auto before_vcrc = std::span(frame).first(frame.size() - kVcrcBytes);
        EXPECT_EQ(load_le16(frame, before_vcrc.size()), vcrc(before_vcrc));
        const auto lrh = Lrh::decode(frame);
        EXPECT_EQ(lrh->pkt_len * 4u, before_vcrc.size());
        EXPECT_EQ(lrh->lnh, has_grh(link) ? LinkNextHeader::IbaGlobal : LinkNextHeader::IbaLocal);
        EXPECT_EQ(lrh->dlid, 0x22);
        EXPECT_EQ(lrh->slid, 0x11);
        EXPECT_EQ(lrh->sl, 3);
        EXPECT_EQ(lrh->vl, 1);
        if (has_grh(link)) {
            const auto grh = Grh::decode(std::span(frame).subspan(Lrh::size));
            EXPECT_EQ(grh->pay_len, before_vcrc.size() - Lrh::size - Grh::size);
        }
    }
}

TEST(BuildFrame, ATagCarriesThePriorityAndTheEthertypeBehindIt) {
    FrameSpec spec = example(LinkType::RoceV2Ipv4);
    spec.payload_zeros = 64;
    const Bytes untagged = built(spec);
    spec.vlan = VlanTag{5, false, 0x234, 0};
    const Bytes tagged = built(spec);
    EXPECT_EQ(EthernetHeader::decode(tagged)->ethertype, kEthertypeVlan);
    EXPECT_EQ(VlanTag::decode(std::span(tagged).subspan(14)), (VlanTag{5, false, 0x234, kEthertypeIpv4}));
    EXPECT_TRUE(std::equal(untagged.begin() + 14, untagged.end(), tagged.begin() + 18, tagged.end()))
        << "the tag must change neither packet nor ICRC";
}

TEST(BuildFrame, ACnpHasSixteenZeroBytesBehindItsBth) {
    FrameSpec spec = example(LinkType::RoceV2Ipv4);
    spec.bth.opcode = kCnpOpcode;
    spec.bth.becn = true;
    const Bytes frame = built(spec);
    ASSERT_EQ(frame.size(), 14u + 20 + 8 + 12 + 16 + 4);
    EXPECT_TRUE(std::all_of(frame.end() - 20, frame.end() - 4, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(BuildFrame, AnEmptySendIsFilledUpWithZerosBehindItsIcrc) {
    const Bytes frame = built(example(LinkType::RoceV2Ipv4));
    ASSERT_EQ(frame.size(), kMinEthernetBytes);
    EXPECT_EQ(Ipv4Header::decode(std::span(frame).subspan(14))->total_length, 20 + 8 + 12 + 4);
    EXPECT_EQ(frame[58], 0);
    EXPECT_EQ(frame[59], 0);
}

}  // namespace
}  // namespace simverbs::wire
