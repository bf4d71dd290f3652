// A packet as it travels through the model: 32 bytes, by value.
#pragma once

#include <cstdint>

#include "sim/sim_time.hpp"

namespace simverbs::wire {

/// Dense number of an HCA port in the fabric: what routing tables are indexed by. Addresses (GID, LID, MAC) map to it.
using LeafId = uint32_t;

/// From here on, destinations are groups of ports: switches copy their packets. Fabrics have fewer ports than this.
inline constexpr LeafId kFirstGroup = 0x3F000;
inline constexpr uint32_t kMostGroups = 0x1000;
[[nodiscard]] constexpr bool is_group(LeafId dest) noexcept {
    return dest >= kFirstGroup;
}
/// Of an address that nobody has any more: the first switch drops it.
inline constexpr LeafId kNowhere = kFirstGroup - 1;

/// Bits of Packet::flags. AckReq, Solicited, MigReq, Fecn and Becn are the BTH's.
enum PacketFlag : uint8_t {
    kAckReq = 1 << 0,
    kSolicited = 1 << 1,
    kMigReq = 1 << 2,
    kFecn = 1 << 3,  ///< InfiniBand FECN; on RoCE: the IP ECN field is Ce
    kBecn = 1 << 4,
    kEcnCapable = 1 << 5,  ///< the IP ECN field is Ect0 (or Ce with kFecn)
    kCorrupt = 1 << 6,     ///< a fault flipped bits: the receiver's ICRC check fails
    kTrimmed = 1 << 7,     ///< payload cut off by a trimming switch
};

/// Headers in front of the BTH, together with the link's layer. Addresses that need them are in the PacketExtra.
enum Framing : uint32_t {
    kFramingBasic = 0,   ///< Ethernet: RoCE v2 over IPv4; InfiniBand: LRH alone
    kFramingIpv6 = 1,    ///< Ethernet: RoCE v2 over IPv6; InfiniBand: LRH and GRH
    kFramingRoceV1 = 2,  ///< Ethernet: RoCE v1
    kFramingRaw = 3,     ///< Ethernet: the payload is the whole frame but its FCS, no BTH
};

/// The opcode of a raw frame is none of the BTH's. It says by how many bytes the frame is shorter than a multiple of
/// four: so its length on the wire is found as that of packets, which are padded, without a look at the framing.
[[nodiscard]] constexpr uint8_t raw_opcode(uint32_t frame_bytes) noexcept {
    constexpr uint32_t kUnused = 0xE0;
    return static_cast<uint8_t>(kUnused + (0U - frame_bytes) % 4);
}

/// Index of a PacketExtra in its slab; kNoExtra for packets that need none.
using ExtraIndex = uint32_t;
inline constexpr ExtraIndex kNoExtra = 0xFFFFFFFF;

/// One packet. `arrival` is the arrival of its header at the receiving node (cut-through; the tail arrives
/// serialisation time later). An empty ring slot has arrival == SimTime::max().
/// The AETH (and the MSN in it) is inline, other extension headers and real payload are in the PacketExtra.
struct Packet {
    sim::SimTime arrival = sim::SimTime::max();
    uint32_t dest : 18 = 0;      ///< LeafId of the destination port
    uint32_t framing : 2 = 0;    ///< Framing: headers in front of the BTH
    uint32_t priority : 4 = 0;   ///< service: SL; 802.1p priority, or a number for its DSCP (link/service_map.hpp)
    uint32_t ttl : 8 = 0;        ///< hops left
    uint32_t dest_qp : 24 = 0;   ///< BTH DestQP
    uint32_t opcode : 8 = 0;     ///< BTH opcode (CNP: 0x81)
    uint32_t psn : 24 = 0;       ///< BTH PSN
    uint32_t flags : 8 = 0;      ///< PacketFlag bits
    uint32_t aeth_msn : 24 = 0;  ///< AETH MSN
    uint32_t aeth_syndrome : 8 = 0;
    ExtraIndex extra = kNoExtra;  ///< kNoExtra for scenario flows' data and ACKs
    uint16_t payload_bytes = 0;   ///< payload without pad; headers follow from opcode and link type
    uint16_t flow_hash = 0;       ///< entropy for ECMP: the UDP source port on RoCEv2
};
static_assert(sizeof(Packet) == 32);

}  // namespace simverbs::wire
