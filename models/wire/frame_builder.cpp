#include "models/wire/frame_builder.hpp"

#include <algorithm>
#include <array>

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

/// Largest transport packet that every length field can express (the LRH's is the tightest: 2^11 − 1 words).
constexpr std::size_t kMaxPacketBytes = 2047 * 4;

/// Writes headers one behind the other into a buffer that is known to be large enough.
class Cursor {
  public:
    explicit Cursor(std::span<std::uint8_t> out) noexcept : out_(out) {}

    template <typename Header>
    void put(const Header& header) noexcept {
        at_ += header.encode(out_.subspan(at_));
    }
    void put_bytes(std::span<const std::uint8_t> bytes) noexcept {
        std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ += bytes.size();
    }
    void put_zeros(std::size_t count) noexcept {
        std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(at_), count, std::uint8_t{0});
        at_ += count;
    }
    void put_le32(std::uint32_t value) noexcept {
        store_le32(out_, at_, value);
        at_ += 4;
    }
    void put_le16(std::uint16_t value) noexcept {
        store_le16(out_, at_, value);
        at_ += 2;
    }
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

  private:
    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
};

constexpr std::uint16_t ethertype_of(LinkType link) noexcept {
    switch (link) {
        case LinkType::RoceV1:
            return kEthertypeRoceV1;
        case LinkType::RoceV2Ipv4:
            return kEthertypeIpv4;
        case LinkType::RoceV2Ipv6:
            return kEthertypeIpv6;
        case LinkType::InfiniBandLocal:
        case LinkType::InfiniBandGlobal:
            break;
    }
    return 0;
}

std::uint8_t class_with_ecn(const FrameSpec& spec) noexcept {
    return static_cast<std::uint8_t>((spec.traffic_class & 0xFC) | static_cast<std::uint8_t>(spec.ecn));
}

/// `transport_bytes`: from the BTH to the end of the ICRC.
void put_lrh(Cursor& cursor, const FrameSpec& spec, std::size_t transport_bytes) noexcept {
    const bool global = spec.link == LinkType::InfiniBandGlobal;
    Lrh lrh;
    lrh.vl = spec.vl;
    lrh.sl = spec.sl;
    lrh.lnh = global ? LinkNextHeader::IbaGlobal : LinkNextHeader::IbaLocal;
    lrh.dlid = spec.destination_lid;
    lrh.slid = spec.source_lid;
    lrh.pkt_len = static_cast<std::uint16_t>((Lrh::size + (global ? Grh::size : 0) + transport_bytes) / 4);
    cursor.put(lrh);
}

void put_grh(Cursor& cursor, const FrameSpec& spec, std::size_t transport_bytes) noexcept {
    Grh grh;
    grh.t_class = spec.traffic_class;
    grh.flow_label = spec.flow_label;
    grh.pay_len = static_cast<std::uint16_t>(transport_bytes);
    grh.hop_lmt = spec.hop_limit;
    grh.sgid = spec.source_gid;
    grh.dgid = spec.destination_gid;
    cursor.put(grh);
}

void put_ethernet(Cursor& cursor, const FrameSpec& spec) noexcept {
    const std::uint16_t ethertype = ethertype_of(spec.link);
    cursor.put(EthernetHeader{spec.destination_mac, spec.source_mac, spec.vlan ? kEthertypeVlan : ethertype});
    if (spec.vlan) {
        VlanTag tag = *spec.vlan;
        tag.ethertype = ethertype;
        cursor.put(tag);
    }
}

void put_ip(Cursor& cursor, const FrameSpec& spec, std::size_t udp_bytes) noexcept {
    if (spec.link == LinkType::RoceV2Ipv4) {
        Ipv4Header ip;
        ip.tos = class_with_ecn(spec);
        ip.total_length = static_cast<std::uint16_t>(Ipv4Header::size + udp_bytes);
        ip.identification = spec.ipv4_identification;
        ip.ttl = spec.hop_limit;
        ip.source = spec.source_gid.ipv4();
        ip.destination = spec.destination_gid.ipv4();
        ip.set_checksum();
        cursor.put(ip);
        return;
    }
    Ipv6Header ip;
    ip.traffic_class = class_with_ecn(spec);
    ip.flow_label = spec.flow_label;
    ip.payload_length = static_cast<std::uint16_t>(udp_bytes);
    ip.hop_limit = spec.hop_limit;
    ip.source = spec.source_gid;
    ip.destination = spec.destination_gid;
    cursor.put(ip);
}

/// Everything in front of the BTH; returns where the ICRC's coverage begins.
std::size_t put_link_headers(Cursor& cursor, const FrameSpec& spec, std::size_t transport_bytes) noexcept {
    if (is_infiniband(spec.link)) {
        put_lrh(cursor, spec, transport_bytes);
        if (has_grh(spec.link)) put_grh(cursor, spec, transport_bytes);
        return 0;
    }
    put_ethernet(cursor, spec);
    const std::size_t covered_from = cursor.at();
    if (has_grh(spec.link)) {
        put_grh(cursor, spec, transport_bytes);
        return covered_from;
    }
    const std::size_t udp_bytes = UdpHeader::size + transport_bytes;
    put_ip(cursor, spec, udp_bytes);
    cursor.put(UdpHeader{spec.udp_source_port, kRoceV2UdpPort, static_cast<std::uint16_t>(udp_bytes), 0});
    return covered_from;
}

/// IPv6 wants a UDP checksum (RFC 8200, 8.1); the ICRC does not cover it, so it comes last. `udp` ends with the ICRC.
void set_udp_checksum(const FrameSpec& spec, std::span<std::uint8_t> udp) noexcept {
    std::array<std::uint8_t, 2 * Gid::size + 8> pseudo_header{};
    std::copy(spec.source_gid.bytes.begin(), spec.source_gid.bytes.end(), pseudo_header.begin());
    std::copy(spec.destination_gid.bytes.begin(), spec.destination_gid.bytes.end(), pseudo_header.begin() + Gid::size);
    store_be32(pseudo_header, 2 * Gid::size, static_cast<std::uint32_t>(udp.size()));
    store_be32(pseudo_header, 2 * Gid::size + 4, kIpProtocolUdp);
    const std::uint16_t checksum = internet_checksum(udp, internet_sum(pseudo_header));
    store_be16(udp, 6, checksum == 0 ? 0xFFFF : checksum);
}

/// In the order of IBTA vol. 1, 9.2, "order of extended transport headers".
void put_transport_headers(Cursor& cursor, const FrameSpec& spec, const OpcodeInfo& info, std::size_t pad) noexcept {
    Bth bth = spec.bth;
    bth.pad_cnt = static_cast<std::uint8_t>(pad);
    cursor.put(bth);
    if (info.has_xrceth) cursor.put(spec.xrceth);
    if (info.has_deth) cursor.put(spec.deth);
    if (info.has_feth) cursor.put(spec.feth);
    if (info.has_reth) cursor.put(spec.reth);
    if (info.has_atomic_eth) cursor.put(spec.atomic_eth);
    if (info.has_aeth) cursor.put(spec.aeth);
    if (info.has_atomic_ack_eth) cursor.put(spec.atomic_ack_eth);
    if (info.has_imm_dt) cursor.put(spec.imm_dt);
    if (info.has_ieth) cursor.put(spec.ieth);
    if (info.has_cnp_reserved) cursor.put_zeros(kCnpReservedBytes);
}

}  // namespace

FrameOverhead frame_size(const FrameSpec& spec) noexcept {
    return frame_overhead(spec.link, spec.bth.opcode, spec.payload_bytes(), spec.vlan.has_value());
}

std::size_t build_frame(const FrameSpec& spec, std::span<std::uint8_t> out) noexcept {
    const OpcodeInfo* info = find_opcode(spec.bth.opcode);
    if (info == nullptr || (!info->has_payload && spec.payload_bytes() != 0)) return 0;
    const FrameOverhead size = frame_size(spec);
    const std::size_t transport_bytes = size.transport_headers + size.payload + size.pad + size.icrc;
    if (size.link_headers + transport_bytes > kMaxPacketBytes || out.size() < size.captured_bytes()) return 0;

    Cursor cursor(out.first(size.captured_bytes()));
    const std::size_t covered_from = put_link_headers(cursor, spec, transport_bytes);
    put_transport_headers(cursor, spec, *info, size.pad);
    cursor.put_bytes(spec.payload);
    cursor.put_bytes(spec.payload_tail);
    cursor.put_zeros(spec.payload_zeros + size.pad);
    cursor.put_le32(icrc(spec.link, out.subspan(covered_from, cursor.at() - covered_from)));
    if (is_infiniband(spec.link)) {
        cursor.put_le16(vcrc(out.first(cursor.at())));
    } else {
        if (spec.link == LinkType::RoceV2Ipv6) {
            set_udp_checksum(spec, out.subspan(covered_from + Ipv6Header::size, UdpHeader::size + transport_bytes));
        }
        cursor.put_zeros(size.ethernet_padding);
    }
    return cursor.at();
}

}  // namespace simverbs::wire
