// How many bytes a packet takes on a link.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/wire/frame_overhead.hpp"
#include "models/wire/link_type.hpp"
#include "models/wire/packet.hpp"

namespace simverbs::link {

/// What kind of link: with Packet::framing it says the wire::LinkType of each packet.
enum class LinkLayer : uint8_t { Ethernet = 0, InfiniBand = 1 };

/// Link type of packets with this framing on this layer.
[[nodiscard]] constexpr wire::LinkType link_type(LinkLayer layer, uint32_t framing) noexcept {
    if (layer == LinkLayer::InfiniBand)
        return framing == wire::kFramingBasic ? wire::LinkType::InfiniBandLocal : wire::LinkType::InfiniBandGlobal;
    switch (framing) {
        case wire::kFramingIpv6:
            return wire::LinkType::RoceV2Ipv6;
        case wire::kFramingRoceV1:
            return wire::LinkType::RoceV1;
        default:
            return wire::LinkType::RoceV2Ipv4;
    }
}

namespace detail {

using OverheadTable = std::array<std::array<uint8_t, 256>, 8>;

/// Bytes beside payload and pad by (layer, framing) and opcode; Ethernet padding left out.
constexpr OverheadTable make_overhead_table() {
    OverheadTable table{};
    for (uint32_t row = 0; row < table.size(); ++row) {
        const wire::LinkType type = link_type(static_cast<LinkLayer>(row >> 2), row & 3);
        for (uint32_t opcode = 0; opcode < 256; ++opcode) {
            const auto frame = wire::frame_overhead(type, static_cast<uint8_t>(opcode), 0);
            table[row][opcode] = static_cast<uint8_t>(frame.wire_bytes() - frame.ethernet_padding);
        }
    }
    return table;
}
inline constexpr OverheadTable kOverhead = make_overhead_table();

/// Shortest Ethernet frame with FCS, preamble and gap.
inline constexpr uint32_t kMinEthernetWireBytes =
    wire::kMinEthernetBytes + wire::kFcsBytes + wire::kPreambleBytes + wire::kInterframeGapBytes;

}  // namespace detail

/// Byte times that `packet` occupies a link (preamble and gap included on Ethernet); `vlan`: frames are 802.1Q-tagged.
[[nodiscard]] constexpr uint32_t packet_bytes(LinkLayer layer, const wire::Packet& packet, bool vlan = false) noexcept {
    const uint32_t payload = (packet.payload_bytes + 3U) & ~3U;
    const uint32_t row = static_cast<uint32_t>(layer) * 4 + packet.framing;
    const uint32_t bytes = payload + detail::kOverhead[row][packet.opcode] + (vlan ? 4U : 0U);
    return layer == LinkLayer::Ethernet ? std::max(bytes, detail::kMinEthernetWireBytes) : bytes;
}

}  // namespace simverbs::link
