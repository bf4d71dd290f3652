// Packets of another implementation (Linux Soft-RoCE, tests/support/captures): their ICRCs, checksums and UDP ports
// must be what models/wire computes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "models/wire/byte_order.hpp"
#include "models/wire/ethernet_header.hpp"
#include "models/wire/frame_builder.hpp"
#include "models/wire/icrc.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/ipv6_header.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/roce_udp_port.hpp"
#include "models/wire/udp_header.hpp"
#include "tests/unit/models/wire/pcap_file.hpp"

namespace simverbs::wire {
namespace {

using Span = std::span<const std::uint8_t>;

struct RocePacket {
    FrameSpec spec;
    Span ip_to_icrc;  // without the ICRC
    std::uint32_t icrc = 0;
};

/// Takes a RoCEv2 frame apart into what would build it; nullopt for any other frame.
std::optional<RocePacket> take_apart(Span frame) {
    const auto ethernet = EthernetHeader::decode(frame);
    if (!ethernet) return std::nullopt;
    RocePacket packet;
    FrameSpec& spec = packet.spec;
    spec.source_mac = ethernet->source;
    spec.destination_mac = ethernet->destination;
    Span ip_bytes = frame.subspan(EthernetHeader::size);
    std::size_t udp_at = 0;
    if (ethernet->ethertype == kEthertypeIpv4) {
        const auto ip = Ipv4Header::decode(ip_bytes);
        if (!ip || ip->protocol != kIpProtocolUdp) return std::nullopt;
        EXPECT_EQ(internet_checksum(ip_bytes.first(Ipv4Header::size)), 0);
        spec.link = LinkType::RoceV2Ipv4;
        spec.source_gid = gid_from_ipv4(ip->source);
        spec.destination_gid = gid_from_ipv4(ip->destination);
        spec.traffic_class = ip->tos;
        spec.ecn = static_cast<Ecn>(ip->tos & 3);
        spec.hop_limit = ip->ttl;
        spec.ipv4_identification = ip->identification;
        ip_bytes = ip_bytes.first(ip->total_length);
        udp_at = Ipv4Header::size;
    } else if (ethernet->ethertype == kEthertypeIpv6) {
        const auto ip = Ipv6Header::decode(ip_bytes);
        if (!ip || ip->next_header != kIpProtocolUdp) return std::nullopt;
        spec.link = LinkType::RoceV2Ipv6;
        spec.source_gid = ip->source;
        spec.destination_gid = ip->destination;
        spec.traffic_class = ip->traffic_class;
        spec.ecn = static_cast<Ecn>(ip->traffic_class & 3);
        spec.flow_label = ip->flow_label;
        spec.hop_limit = ip->hop_limit;
        ip_bytes = ip_bytes.first(Ipv6Header::size + ip->payload_length);
        udp_at = Ipv6Header::size;
    } else {
        return std::nullopt;
    }
    const auto udp = UdpHeader::decode(ip_bytes.subspan(udp_at));
    if (!udp || udp->destination_port != kRoceV2UdpPort) return std::nullopt;
    spec.udp_source_port = udp->source_port;
    packet.ip_to_icrc = ip_bytes.first(ip_bytes.size() - kIcrcBytes);
    packet.icrc = load_le32(ip_bytes, packet.ip_to_icrc.size());

    Span rest = packet.ip_to_icrc.subspan(udp_at + UdpHeader::size);
    const auto take = [&rest](bool present, auto& header) {
        if (!present) return;
        const auto decoded = std::remove_reference_t<decltype(header)>::decode(rest);
        ASSERT_TRUE(decoded);
        header = *decoded;
        rest = rest.subspan(std::remove_reference_t<decltype(header)>::size);
    };
    take(true, spec.bth);
    const OpcodeInfo* info = find_opcode(spec.bth.opcode);
    if (info == nullptr) return std::nullopt;
    take(info->has_deth, spec.deth);
    take(info->has_reth, spec.reth);
    take(info->has_atomic_eth, spec.atomic_eth);
    take(info->has_aeth, spec.aeth);
    take(info->has_atomic_ack_eth, spec.atomic_ack_eth);
    take(info->has_imm_dt, spec.imm_dt);
    take(info->has_ieth, spec.ieth);
    spec.payload = rest.first(rest.size() - spec.bth.pad_cnt);
    return packet;
}

class Captures : public testing::TestWithParam<std::pair<const char*, std::size_t>> {
  protected:
    void SetUp() override {
        const char* folder = std::getenv("SIMVERBS_TEST_CAPTURES");
        ASSERT_NE(folder, nullptr) << "run through meson test, which says where the captures are";
        const PcapFile file(std::string(folder) + "/" + GetParam().first);
        ASSERT_TRUE(file.ok);
        for (const auto& record : file.records) frames_.push_back(record.frame);
    }
    std::vector<std::vector<std::uint8_t>> frames_;
};

INSTANTIATE_TEST_SUITE_P(SoftRoce, Captures,
                         testing::Values(std::pair{"rc_fetch_add.pcap", 10}, std::pair{"rc_rnr_retries.pcap", 28},
                                         std::pair{"rc_pingpong_ipv6.pcap", 30}, std::pair{"ud_with_cm.pcap", 8}));

TEST_P(Captures, EveryIcrcIsWhatWeCompute) {
    std::size_t packets = 0;
    for (const auto& frame : frames_) {
        const auto packet = take_apart(frame);
        if (!packet) continue;
        ++packets;
        EXPECT_EQ(icrc(packet->spec.link, packet->ip_to_icrc), packet->icrc) << "packet " << packets;
    }
    EXPECT_EQ(packets, GetParam().second);
}

TEST_P(Captures, EveryFrameIsBuiltAgainByteForByte) {
    for (const auto& frame : frames_) {
        const auto packet = take_apart(frame);
        if (!packet) continue;
        std::vector<std::uint8_t> again(frame.size());
        ASSERT_EQ(build_frame(packet->spec, again), frame.size());
        // Soft-RoCE's UDP checksum is its own affair: ours is 0, and the ICRC does not cover it.
        const std::size_t checksum_at = link_header_bytes(packet->spec.link) - 2;
        again[checksum_at] = frame[checksum_at];
        again[checksum_at + 1] = frame[checksum_at + 1];
        EXPECT_EQ(again, frame) << opcode_name(packet->spec.bth.opcode);
    }
}

}  // namespace
}  // namespace simverbs::wire
