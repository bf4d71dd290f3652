// A fabric as plain data: hosts, switches and the links between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/length.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::topologies {

/// Pod of a node that belongs to none (a core switch).
constexpr uint32_t kNoPod = UINT32_MAX;

enum class SwitchTier : uint8_t {
    Leaf,         ///< has hosts: ToR, leaf, dragonfly router
    Aggregation,  ///< within a pod, above the leaves
    Core          ///< joins pods: core, spine
};

/// One endpoint: a NIC port with an address of its own. Its number is flow::HostIndex.
struct Host {
    std::string name;
    uint32_t pod = kNoPod;
    uint32_t server = 0;  ///< machine that it is in
    uint32_t rail = 0;    ///< number in that machine
    uint16_t lid = 0;     ///< 0: not assigned
};

struct Switch {
    std::string name;
    SwitchTier tier = SwitchTier::Leaf;
    uint32_t level = 0;  ///< links to the nearest host, less one
    uint32_t pod = kNoPod;
    uint16_t lid = 0;  ///< 0: not assigned
};

/// A host or a switch by its number among those.
struct NodeRef {
    bool is_switch = false;
    uint32_t index = 0;
    bool operator==(const NodeRef&) const = default;
};

struct LinkEnd {
    NodeRef node;
    uint32_t port = 0;  ///< unique at the node; generators count from 0 in the order of the links
};

struct Link {
    LinkEnd a;
    LinkEnd b;
    sim::BitRate rate;  ///< of each direction
    sim::SimTime delay;
    double packet_loss = 0;  ///< probability that a packet is lost
};

/// Hosts and switches are numbered pod by pod, so that neighbours lie near each other in memory.
struct Topology {
    std::vector<Host> hosts;
    std::vector<Switch> switches;
    std::vector<Link> links;

    [[nodiscard]] const std::string& name_of(NodeRef node) const {
        return node.is_switch ? switches[node.index].name : hosts[node.index].name;
    }
};

/// Everything that is wrong with a generator's parameters; empty: the topology is made. `Diagnostic::path` is the
/// parameter's name; file and place are the caller's to add.
using Problems = std::vector<Diagnostic>;

/// What generators refuse beyond: memory of a few GiB.
constexpr uint64_t kMaxHosts = uint64_t{1} << 20;
constexpr uint64_t kMaxSwitches = uint64_t{1} << 16;
constexpr uint64_t kMaxLinks = uint64_t{1} << 22;

/// 5 ns a metre: light in fibre at two thirds of its speed.
[[nodiscard]] constexpr sim::SimTime cable_delay(Length length) {
    return sim::SimTime::ps(length.in_mm() * 5);
}

/// Whether a simulation can be built from it: link ends exist, no port has two cables, rates are positive, delays not
/// negative, names unique, every host has a link, and everybody can reach everybody. Reports every problem; `path` is
/// "links[4]", "hosts.h3" or "switches.tor1".
bool validate(const Topology& topology, DiagnosticSink& sink);

/// Every node, pod by pod (hosts, then switches of each), then those of no pod: the numbering of an engine.
[[nodiscard]] std::vector<NodeRef> nodes_pod_by_pod(const Topology& topology);

/// Rate of the links from a switch to hosts and lower levels over that of the links to higher levels; infinite if it
/// has none of these.
[[nodiscard]] double oversubscription(const Topology& topology, uint32_t switch_index);

}  // namespace simverbs::scenarios::topologies
