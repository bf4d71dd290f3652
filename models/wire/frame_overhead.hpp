#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/wire/ethernet_header.hpp"
#include "models/wire/grh.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/ipv6_header.hpp"
#include "models/wire/link_type.hpp"
#include "models/wire/lrh.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/udp_header.hpp"
#include "models/wire/vlan_tag.hpp"

namespace simverbs::wire {

inline constexpr std::size_t kIcrcBytes = 4;
inline constexpr std::size_t kVcrcBytes = 2;
inline constexpr std::size_t kFcsBytes = 4;
inline constexpr std::size_t kPreambleBytes = 8;
inline constexpr std::size_t kInterframeGapBytes = 12;
/// Smallest Ethernet frame without its FCS (IEEE 802.3, 3.2.8).
inline constexpr std::size_t kMinEthernetBytes = 60;

/// Bytes that fill `payload_bytes` up to a multiple of four: BTH.PadCnt.
constexpr std::size_t pad_bytes(std::size_t payload_bytes) noexcept {
    return (0 - payload_bytes) & 3;
}

/// Bytes in front of the BTH.
constexpr std::size_t link_header_bytes(LinkType link, bool vlan = false) noexcept {
    const std::size_t ethernet = EthernetHeader::size + (vlan ? VlanTag::size : 0);
    switch (link) {
        case LinkType::InfiniBandLocal:
            return Lrh::size;
        case LinkType::InfiniBandGlobal:
            return Lrh::size + Grh::size;
        case LinkType::RoceV1:
            return ethernet + Grh::size;
        case LinkType::RoceV2Ipv4:
            return ethernet + Ipv4Header::size + UdpHeader::size;
        case LinkType::RoceV2Ipv6:
            return ethernet + Ipv6Header::size + UdpHeader::size;
    }
    return 0;
}

/// Where the bytes of a packet go.
struct FrameOverhead {
    /// LRH/GRH or Ethernet/IP/UDP (or GRH), with the VLAN tag.
    std::size_t link_headers = 0;
    /// BTH and the extended transport headers.
    std::size_t transport_headers = 0;
    std::size_t payload = 0;
    std::size_t pad = 0;
    std::size_t icrc = kIcrcBytes;
    /// Zeros behind the ICRC of a very short Ethernet frame.
    std::size_t ethernet_padding = 0;
    /// VCRC or FCS.
    std::size_t link_crc = 0;
    /// Preamble and interframe gap: not bytes of the frame, but time on the wire. 0 on InfiniBand.
    std::size_t preamble_and_gap = 0;

    /// The frame up to, not including, VCRC or FCS.
    [[nodiscard]] constexpr std::size_t bytes_before_link_crc() const noexcept {
        return link_headers + transport_headers + payload + pad + icrc + ethernet_padding;
    }
    /// The frame with VCRC or FCS: what buffers, credits and byte counters see.
    [[nodiscard]] constexpr std::size_t frame_bytes() const noexcept { return bytes_before_link_crc() + link_crc; }
    /// What a capture holds: the VCRC belongs to it, the FCS does not.
    [[nodiscard]] constexpr std::size_t captured_bytes() const noexcept {
        return bytes_before_link_crc() + (link_crc == kVcrcBytes ? kVcrcBytes : 0);
    }
    /// Byte times that the packet occupies its link.
    [[nodiscard]] constexpr std::size_t wire_bytes() const noexcept { return frame_bytes() + preamble_and_gap; }
    /// Everything on the wire that is not payload.
    [[nodiscard]] constexpr std::size_t overhead_bytes() const noexcept { return wire_bytes() - payload; }
};

/// Sizes of a packet with `transport_header_bytes` (OpcodeInfo::header_bytes) in front of `payload_bytes`.
constexpr FrameOverhead frame_overhead_of_headers(LinkType link, std::size_t transport_header_bytes,
                                                  std::size_t payload_bytes, bool vlan = false) noexcept {
    FrameOverhead frame;
    frame.link_headers = link_header_bytes(link, vlan);
    frame.transport_headers = transport_header_bytes;
    frame.payload = payload_bytes;
    frame.pad = pad_bytes(payload_bytes);
    if (is_infiniband(link)) {
        frame.link_crc = kVcrcBytes;
        return frame;
    }
    const std::size_t unpadded = frame.bytes_before_link_crc();
    frame.ethernet_padding = std::max(unpadded, kMinEthernetBytes) - unpadded;
    frame.link_crc = kFcsBytes;
    frame.preamble_and_gap = kPreambleBytes + kInterframeGapBytes;
    return frame;
}

/// The same for an opcode; a reserved opcode counts as a bare BTH.
constexpr FrameOverhead frame_overhead(LinkType link, std::uint8_t opcode, std::size_t payload_bytes,
                                       bool vlan = false) noexcept {
    // By index, not through find_opcode: g++ 12 with UBSan does not take its pointer for a constant.
    const std::uint8_t row = detail::kOpcodeIndex[opcode];
    const std::size_t headers = row == detail::kNoRow ? Bth::size : kOpcodeTable[row].header_bytes;
    return frame_overhead_of_headers(link, headers, payload_bytes, vlan);
}

namespace detail {
constexpr std::size_t middle_overhead(LinkType link) noexcept {
    return frame_overhead(link, make_opcode(Transport::Rc, BaseOpcode::WriteMiddle), 4096).overhead_bytes();
}
}  // namespace detail

static_assert(detail::middle_overhead(LinkType::InfiniBandLocal) == 26);
static_assert(detail::middle_overhead(LinkType::InfiniBandGlobal) == 66);
static_assert(detail::middle_overhead(LinkType::RoceV1) == 94);
static_assert(detail::middle_overhead(LinkType::RoceV2Ipv4) == 82);
static_assert(detail::middle_overhead(LinkType::RoceV2Ipv6) == 102);

}  // namespace simverbs::wire
