#pragma once

#include <cstdint>

#include "models/wire/qpn.hpp"

namespace simverbs::wire {

/// Registered destination port of RoCEv2 (IANA; IBTA annex A17).
inline constexpr std::uint16_t kRoceV2UdpPort = 4791;

/// The 20-bit flow label that the kernel derives from the two QPNs if the address handle has none.
constexpr std::uint32_t roce_flow_label(Qpn local, Qpn remote) noexcept {
    std::uint64_t v = std::uint64_t{local.value()} * remote.value();
    v ^= v >> 20;
    v ^= v >> 40;
    return static_cast<std::uint32_t>(v & 0xFFFFF);
}

/// RoCEv2 UDP source port of a connection, always in 0xC000…0xFFFF; equal for all packets of a QP pair, so that
/// ECMP keeps them on one path. `flow_label` 0 means "derive it from the QPNs".
/// Source: the kernel's rdma_calc_flow_label / rdma_flow_label_to_udp_sport, which user space and drivers share.
constexpr std::uint16_t roce_udp_source_port(std::uint32_t flow_label, Qpn local, Qpn remote) noexcept {
    const std::uint32_t label = flow_label != 0 ? flow_label : roce_flow_label(local, remote);
    const std::uint32_t low = label & 0x03FFF;
    const std::uint32_t high = (label & 0xFC000) >> 14;
    return static_cast<std::uint16_t>((low ^ high) | 0xC000);
}

}  // namespace simverbs::wire
