// Shortest paths of a fabric: at each switch a group of ports towards each leaf switch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::topologies {

/// No way there.
constexpr uint16_t kNoRoute = 0xFFFF;
/// The destination's leaf is this switch: RoutingPlan::port_of_host says which port.
constexpr uint16_t kHere = 0xFFFE;
/// Leaf of a host that has no link to a switch.
constexpr uint32_t kNoLeaf = UINT32_MAX;

/// What a switch knows. Groups are shared by all the leaves that have the same next hops.
struct SwitchRoutes {
    std::vector<uint16_t> group_of_leaf;  ///< by leaf number; kNoRoute, kHere or a group
    std::vector<uint32_t> group_begin;    ///< group g is ports[group_begin[g] … group_begin[g + 1])
    std::vector<uint16_t> ports;          ///< rising within a group

    [[nodiscard]] std::size_t groups() const noexcept { return group_begin.size() - 1; }
    [[nodiscard]] std::span<const uint16_t> group(std::size_t index) const {
        return std::span(ports).subspan(group_begin[index], group_begin[index + 1] - group_begin[index]);
    }
    /// All ports on a shortest path to a leaf; empty if it is here or out of reach.
    [[nodiscard]] std::span<const uint16_t> ports_to(uint32_t leaf) const {
        const uint16_t index = group_of_leaf[leaf];
        return index >= kHere ? std::span<const uint16_t>() : group(index);
    }
};

/// Leaf switches are those with hosts, numbered in the order of the switches.
struct RoutingPlan {
    std::vector<uint32_t> leaf_switches;  ///< switch of each leaf
    std::vector<uint32_t> leaf_of_host;   ///< of its first link that works, or kNoLeaf
    std::vector<uint16_t> port_of_host;   ///< port of that link at the leaf
    std::vector<SwitchRoutes> switches;   ///< by switch
};

enum class RoutingPolicy : uint8_t {
    MinHop,  ///< all shortest paths
    UpDown,  ///< paths that never go up again once they have gone down (Autonet, 1991; OpenSM's updn): no credit loops
};

/// Paths counted in links. Switches forward, hosts do not. `dead_links[i]`: link i does not exist (may be empty). The
/// topology must be valid, with levels for UpDown, and no switch may have a port number above 65533.
[[nodiscard]] RoutingPlan plan_routes(const Topology& topology, const std::vector<bool>& dead_links = {},
                                      RoutingPolicy policy = RoutingPolicy::MinHop);

/// What "up" means: switches by their distance to the roots (those of the highest level, or the first of them if not
/// all can be reached that way), then by number; a smaller place is further up. Each place occurs once.
[[nodiscard]] std::vector<uint32_t> up_down_places(const Topology& topology, const std::vector<bool>& dead_links = {});

}  // namespace simverbs::scenarios::topologies
