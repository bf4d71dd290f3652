// How far two devices of a host are from each other, in the words of nvidia-smi topo -m.
#pragma once

#include <string>

#include "models/host/host_complex.hpp"
#include "models/host/platform_spec.hpp"

namespace simverbs::host {

/// Source: the legend of `nvidia-smi topo -m`.
enum class Distance : uint8_t {
    Self,    ///< X
    NvLink,  ///< NV#: bonded NVLinks
    Pix,     ///< at most one PCIe switch
    Pxb,     ///< several PCIe switches, no host bridge
    Phb,     ///< a host bridge
    Node,    ///< host bridges of one NUMA node
    Sys,     ///< the link between NUMA nodes
};

struct Relation {
    Distance distance = Distance::Sys;
    uint8_t nvlinks = 0;  ///< with NvLink

    [[nodiscard]] bool operator==(const Relation&) const noexcept = default;
};

/// "X", "NV12", "PIX", "PXB", "PHB", "NODE", "SYS".
[[nodiscard]] std::string to_string(Relation r);

[[nodiscard]] Relation relation_between(const PlatformSpec& platform, AgentId a, AgentId b);

/// The matrix of all agents, GPUs first, as nvidia-smi topo -m prints it.
[[nodiscard]] std::string relation_matrix(const PlatformSpec& platform);

/// The host as a tree: NUMA nodes, bridges, switches, devices, with their links.
[[nodiscard]] std::string describe(const PlatformSpec& platform);

/// "gen4 x16".
[[nodiscard]] std::string to_string(const pcie::LinkSpec& link);

}  // namespace simverbs::host
