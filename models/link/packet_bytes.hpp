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

constexpr uint32_t overhead_row(LinkLayer layer, bool vlan, uint32_t framing) noexcept {
    return static_cast<uint32_t>(layer) * 8 + uint32_t{vlan} * 4 + framing;
}
using OverheadTable = std::array<std::array<uint8_t, 256>, 16>;

/// Bytes beside payload and pad by (layer, tag, framing) and opcode; Ethernet padding left out.
constexpr OverheadTable make_overhead_table() {
    OverheadTable table{};
    for (uint32_t row = 0; row < table.size(); ++row) {
        const wire::LinkType type = link_type(static_cast<LinkLayer>(row >> 3), row & 3);
        if ((row & 3) == wire::kFramingRaw) {
            constexpr size_t kAround = wire::kFcsBytes + wire::kPreambleBytes + wire::kInterframeGapBytes;
            for (uint32_t opcode = 0; opcode < 256; ++opcode)
                table[row][opcode] = static_cast<uint8_t>(kAround - opcode % 4);
            continue;
        }
        for (uint32_t opcode = 0; opcode < 256; ++opcode) {
            const auto frame = wire::frame_overhead(type, static_cast<uint8_t>(opcode), 0);
            const uint32_t tag = (row & 4) != 0 ? 4 : 0;
            table[row][opcode] = static_cast<uint8_t>(frame.wire_bytes() - frame.ethernet_padding + tag);
        }
    }
    return table;
}
inline constexpr OverheadTable kOverhead = make_overhead_table();

/// By layer: the shortest Ethernet frame with FCS, preamble and gap; InfiniBand has no such limit.
inline constexpr std::array<uint32_t, 2> kMinWireBytes = {
    wire::kMinEthernetBytes + wire::kFcsBytes + wire::kPreambleBytes + wire::kInterframeGapBytes, 0};

}  // namespace detail

/// Byte times that `packet` occupies a link (preamble and gap included on Ethernet); `vlan`: frames are 802.1Q-tagged.
[[nodiscard]] constexpr uint32_t packet_bytes(LinkLayer layer, const wire::Packet& packet, bool vlan = false) noexcept {
    const uint32_t payload = (packet.payload_bytes + 3U) & ~3U;
    const uint32_t bytes =
        payload + detail::kOverhead[detail::overhead_row(layer, vlan, packet.framing)][packet.opcode];
    return std::max(bytes, detail::kMinWireBytes[static_cast<uint32_t>(layer)]);
}

}  // namespace simverbs::link
