// What a node makes of the service that a packet's header asks for (Packet::priority).
#pragma once

#include <array>
#include <cstdint>

namespace simverbs::link {

/// InfiniBand: the VL of each SL (SL2VL table). Ethernet: the priority of each number that stands for a DSCP or PCP;
/// numbers 0 to 7 are PCP p and DSCP 8p, whoever builds the fabric gives the others to further DSCPs.
using ServiceMap = std::array<uint8_t, 16>;

/// Every service is its own class.
inline constexpr ServiceMap kOwnClasses{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// As OpenSM has it with QoS: VL = SL, VL 15 being management's.
inline constexpr ServiceMap kUsualVls{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7};

/// The classes (bit c: class c) of some services (bit s: service s).
[[nodiscard]] constexpr uint16_t classes_of(uint16_t services, const ServiceMap& map) noexcept {
    uint32_t classes = 0;
    for (uint32_t s = 0; s < map.size(); ++s)
        if (((services >> s) & 1) != 0) classes |= 1U << map[s];
    return static_cast<uint16_t>(classes);
}

}  // namespace simverbs::link
