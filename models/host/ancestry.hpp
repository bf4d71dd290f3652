// What a device of a platform hangs below.
#pragma once

#include <cstdint>
#include <vector>

#include "models/host/host_complex.hpp"
#include "models/host/platform_spec.hpp"

namespace simverbs::host {

/// Where an adapter or a GPU sits.
[[nodiscard]] inline const DeviceSlotSpec& slot_of(const PlatformSpec& p, AgentId a) {
    if (a < p.nics.size()) return p.nics[a];
    return p.gpus[a - p.nics.size()];
}

/// The host bridge above all switches.
[[nodiscard]] inline uint16_t bridge_above(const PlatformSpec& p, UpstreamSpec up) {
    while (up.kind == UpstreamSpec::Kind::Switch) up = p.switches[up.index].upstream;
    return up.index;
}

/// Switches above a device, nearest first.
[[nodiscard]] inline std::vector<uint16_t> switches_above(const PlatformSpec& p, AgentId a) {
    std::vector<uint16_t> found;
    for (UpstreamSpec up = slot_of(p, a).upstream; up.kind == UpstreamSpec::Kind::Switch;
         up = p.switches[up.index].upstream)
        found.push_back(up.index);
    return found;
}

/// The NUMA node at the bridge above: nearest to what hangs there.
[[nodiscard]] inline MemoryId nearest_node(const PlatformSpec& p, UpstreamSpec up) {
    return p.bridges[bridge_above(p, up)].numa_node;
}
/// The same of a device (its numa_node in sysfs, its CPU affinity).
[[nodiscard]] inline MemoryId nearest_node(const PlatformSpec& p, AgentId a) {
    return nearest_node(p, slot_of(p, a).upstream);
}

}  // namespace simverbs::host
