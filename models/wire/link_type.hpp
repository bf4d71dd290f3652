#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace simverbs::wire {

/// How transport packets are carried. `InfiniBandGlobal` is InfiniBand with a GRH.
enum class LinkType : std::uint8_t { InfiniBandLocal, InfiniBandGlobal, RoceV1, RoceV2Ipv4, RoceV2Ipv6 };

inline constexpr std::array kAllLinkTypes = {LinkType::InfiniBandLocal, LinkType::InfiniBandGlobal, LinkType::RoceV1,
                                             LinkType::RoceV2Ipv4, LinkType::RoceV2Ipv6};

constexpr bool is_infiniband(LinkType link) noexcept {
    return link == LinkType::InfiniBandLocal || link == LinkType::InfiniBandGlobal;
}
constexpr bool is_ethernet(LinkType link) noexcept {
    return !is_infiniband(link);
}
constexpr bool has_grh(LinkType link) noexcept {
    return link == LinkType::InfiniBandGlobal || link == LinkType::RoceV1;
}

constexpr std::string_view name_of(LinkType link) noexcept {
    switch (link) {
        case LinkType::InfiniBandLocal:
            return "InfiniBand";
        case LinkType::InfiniBandGlobal:
            return "InfiniBand with GRH";
        case LinkType::RoceV1:
            return "RoCE v1";
        case LinkType::RoceV2Ipv4:
            return "RoCE v2 over IPv4";
        case LinkType::RoceV2Ipv6:
            return "RoCE v2 over IPv6";
    }
    return "?";
}

}  // namespace simverbs::wire
