#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/wire/aeth.hpp"
#include "models/wire/atomic_ack_eth.hpp"
#include "models/wire/atomic_eth.hpp"
#include "models/wire/bth.hpp"
#include "models/wire/deth.hpp"
#include "models/wire/ecn.hpp"
#include "models/wire/feth.hpp"
#include "models/wire/frame_overhead.hpp"
#include "models/wire/gid.hpp"
#include "models/wire/ieth.hpp"
#include "models/wire/imm_dt.hpp"
#include "models/wire/link_type.hpp"
#include "models/wire/mac_address.hpp"
#include "models/wire/reth.hpp"
#include "models/wire/vlan_tag.hpp"
#include "models/wire/xrceth.hpp"

namespace simverbs::wire {

/// Everything that decides the bytes of a transport packet. Fields that the link type or the opcode has no use for are
/// ignored; lengths, BTH.PadCnt, checksums and CRCs are computed. The UDP checksum is 0 over IPv4.
struct FrameSpec {
    LinkType link = LinkType::RoceV2Ipv4;

    // Ethernet
    MacAddress source_mac;
    MacAddress destination_mac;
    /// Present if the frame is tagged; `ethertype` in it is ignored.
    std::optional<VlanTag> vlan;
    std::uint16_t udp_source_port = 0xC000;
    std::uint16_t ipv4_identification = 0;

    // InfiniBand
    std::uint16_t source_lid = 0;
    std::uint16_t destination_lid = 0;
    std::uint8_t sl = 0;
    std::uint8_t vl = 0;

    // GRH or IP. RoCEv2 over IPv4 takes the addresses out of ::ffff:a.b.c.d GIDs.
    Gid source_gid;
    Gid destination_gid;
    /// On RoCEv2 the upper six bits are the DSCP and `ecn` replaces the lower two.
    std::uint8_t traffic_class = 0;
    Ecn ecn = Ecn::NotEct;
    /// TTL on IPv4.
    std::uint8_t hop_limit = 64;
    /// 20 bits; GRH and IPv6.
    std::uint32_t flow_label = 0;

    // Transport; `bth.opcode` says which of the others are in the packet.
    Bth bth;
    XrcEth xrceth;
    Deth deth;
    Feth feth;
    Reth reth;
    AtomicEth atomic_eth;
    Aeth aeth;
    AtomicAckEth atomic_ack_eth;
    ImmDt imm_dt;
    Ieth ieth;

    // Payload: the two pieces in this order, then zeros (for traffic that has lengths only).
    std::span<const std::uint8_t> payload;
    std::span<const std::uint8_t> payload_tail;
    std::size_t payload_zeros = 0;

    [[nodiscard]] std::size_t payload_bytes() const noexcept {
        return payload.size() + payload_tail.size() + payload_zeros;
    }
};

/// Sizes of the frame that `build_frame` makes. A reserved opcode counts as a bare BTH.
[[nodiscard]] FrameOverhead frame_size(const FrameSpec& spec) noexcept;

/// Writes the frame as a capture holds it: Ethernet without FCS, InfiniBand from the LRH to the VCRC.
/// Returns the bytes written, `frame_size(spec).captured_bytes()`; 0 (contents of `out` undefined) if `out` is too
/// short, the opcode is reserved, it has no payload but the spec does, or the payload does not fit the length fields.
/// Allocates nothing. `out` and the payload must not overlap.
[[nodiscard]] std::size_t build_frame(const FrameSpec& spec, std::span<std::uint8_t> out) noexcept;

}  // namespace simverbs::wire
