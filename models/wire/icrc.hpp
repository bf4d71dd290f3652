#pragma once

#include <cstdint>
#include <span>

#include "models/wire/link_type.hpp"

namespace simverbs::wire {

/// Invariant CRC of a packet. `packet` begins with the first header that the CRC covers (InfiniBand: LRH, RoCEv1: GRH,
/// RoCEv2: IP) and ends before the ICRC. Fields that change on the way count as ones:
/// LRH.VL; GRH/IPv6 class, flow label, hop limit; IPv4 TOS, TTL, checksum; UDP checksum; BTH byte 4.
/// On Ethernet eight bytes 0xFF stand in for the LRH. A GRH is recognised by LRH.LNH, IPv4 options by IHL.
/// Goes on the wire low byte first (`store_le32`).
/// The packet must reach to the end of its BTH; of a shorter one the result is 0.
/// Source: IBTA vol. 1, 7.8.1; annexes A16 (RoCEv1) and A17 (RoCEv2).
std::uint32_t icrc(LinkType link, std::span<const std::uint8_t> packet) noexcept;

}  // namespace simverbs::wire
