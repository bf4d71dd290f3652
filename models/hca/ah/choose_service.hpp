// What a packet of an address vector asks for on Ethernet: the one place where SL and traffic class meet.
#pragma once

#include <cstdint>

#include "models/hca/hca_config.hpp"
#include "models/hca/verbs_types.hpp"

namespace simverbs::hca {

/// Asked of every node on the way, and what stands in the packet's header for it.
struct ChosenService {
    uint8_t number = 0;         ///< Packet::priority
    uint8_t traffic_class = 0;  ///< on the wire
};

/// Traffic class of the DSCP that stands for a priority, its class selector.
[[nodiscard]] constexpr uint8_t class_selector(uint8_t priority) noexcept {
    return static_cast<uint8_t>(priority << 5);
}

/// Untagged frames are trusted by DSCP: the traffic class's, or where it is 0 that of the SL as an 802.1p priority.
/// Tagged ones by PCP: the SL, or where it is 0 what the port makes of the DSCP. What asks for neither has the port's
/// own priority. RoCE v1 has no DSCP.
[[nodiscard]] constexpr ChosenService choose_service(const HcaPortConfig& port, uint8_t sl, uint8_t traffic_class,
                                                     GidType type) noexcept {
    const bool is_tagged = port.vlan.has_value();
    const auto dscp = static_cast<uint8_t>(type == GidType::RoceV1 ? 0 : traffic_class >> 2);
    const auto of_sl = static_cast<uint8_t>(sl & 7);
    if (dscp != 0 && (of_sl == 0 || !is_tagged)) return {port.service_of_dscp[dscp], traffic_class};
    const uint8_t priority = of_sl != 0 ? of_sl : port.priority;
    const bool has_dscp = !is_tagged && type != GidType::RoceV1;
    return {priority, has_dscp ? class_selector(priority) : traffic_class};
}

}  // namespace simverbs::hca
