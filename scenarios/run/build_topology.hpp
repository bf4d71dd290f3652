// From a scenario's topology to a fabric of hosts, switches and links.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "models/link/packet_bytes.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::run {

/// What a host of a topology is: one port of a NIC of a host of the scenario.
struct HostPort {
    uint32_t host = 0;              ///< number among the scenario's hosts
    uint32_t nic = 0;               ///< number in that host
    int port = 1;                   ///< from 1
    const NicSpec* spec = nullptr;  ///< what the NIC is like; null if the scenario does not say
};

/// A link, and whether the end that was named first is its end b.
struct FoundLink {
    uint32_t link = 0;
    bool is_turned = false;
};

/// A topology as the simulation needs it. Hosts with several ports, or NICs, have one entry for each ("h0", then
/// "h0.mlx5_1/1").
struct BuiltTopology {
    topologies::Topology topology;
    link::LinkLayer layer = link::LinkLayer::Ethernet;
    std::vector<const SwitchSpec*> switches;      ///< by switch: what it is like
    const SwitchSpec* switch_template = nullptr;  ///< the `switch` section
    std::vector<HostPort> host_ports;             ///< by host: what it is
    struct OwnFault {
        uint32_t link = 0;
        const FaultSpec* fault = nullptr;
        bool is_turned = false;  ///< its end a is the link's end b
    };
    std::vector<OwnFault> own_faults;  ///< that the descriptions of links have
    std::map<std::string, flow::HostIndex, std::less<>> host_numbers;
    std::map<std::string, uint32_t, std::less<>> switch_numbers;
    std::vector<topologies::NodeRef> hpcc_nodes;  ///< of an HPCC file: by the file's number

    /// The host called so ("h3", or "h3.mlx5_0/1").
    [[nodiscard]] std::optional<flow::HostIndex> find_host(std::string_view name) const;
    /// Whether `name` is one of `end`, its node or its NIC: "h3", "h3.mlx5_0", "h3.mlx5_0/1", "h3/1", "tor0", "tor0/5".
    [[nodiscard]] bool is_called(const topologies::LinkEnd& end, std::string_view name) const;
    /// The first link with an end called so, or between the two.
    [[nodiscard]] std::optional<FoundLink> find_link(const LinkRef& ref) const;
    /// "h3" or "tor0/5", as scenarios name ports: those of a switch count from 1.
    [[nodiscard]] std::string port_name(const topologies::LinkEnd& end) const;
    uint32_t port_offset = 1;  ///< from a switch port's number in the topology to its name
};

/// Reports a name of a place that is not there, with those that are.
void report_unknown_place(const BuiltTopology& topology, const PlaceRef& place, std::string_view what,
                          DiagnosticSink& sink);

/// Reports those that are neither a host nor a switch nor a port of the fabric.
void check_places(const BuiltTopology& topology, std::span<const PlaceRef> places, DiagnosticSink& sink);

/// Every problem goes to `sink`; nullopt if it keeps the parts from being known. `spec` must outlive the result.
[[nodiscard]] std::optional<BuiltTopology> build_topology(const ScenarioSpec& spec, DiagnosticSink& sink);

/// A text file as a whole; reports one that cannot be read at `position`.
[[nodiscard]] std::optional<std::string> read_text(const std::string& file, const SourcePosition& position,
                                                   const std::string& path, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
