// What the generators share: nodes with names, ports in order, checks of parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::topologies {

/// Of a kind of link.
struct LinkParameters {
    sim::BitRate rate = sim::BitRate::gbps(100);
    sim::SimTime delay = sim::SimTime::ns(10);  ///< 2 m of cable
};

/// Adds nodes and links. Names are the prefix and the number among those of the prefix.
class TopologyBuilder {
  public:
    NodeRef add_host(uint32_t pod, uint32_t server, uint32_t rail = 0);
    NodeRef add_switch(std::string_view prefix, SwitchTier tier, uint32_t level, uint32_t pod);
    /// `count` links between a and b, each at the next free port of either.
    void connect(NodeRef a, NodeRef b, const LinkParameters& link, uint32_t count = 1);
    [[nodiscard]] Topology finish() && { return std::move(topology_); }

  private:
    uint32_t next_port(NodeRef node);

    Topology topology_;
    std::map<std::string, uint32_t, std::less<>> used_names_;
    std::vector<uint32_t> host_ports_;
    std::vector<uint32_t> switch_ports_;
};

/// Collects what is wrong with parameters.
class ParameterChecks {
  public:
    void add(std::string parameter, std::string problem, std::string expected = {}, std::string hint = {});
    /// At least `least`, and few enough that products do not overflow.
    void check_count(std::string_view parameter, uint64_t value, uint64_t least);
    void check_link(std::string_view parameter, const LinkParameters& link);
    /// Within kMaxHosts, kMaxSwitches, kMaxLinks. Call it when the counts are right.
    void check_size(double hosts, double switches, double links);
    [[nodiscard]] bool empty() const noexcept { return sink_.empty(); }
    [[nodiscard]] Problems problems() const { return sink_.sorted(); }

  private:
    DiagnosticSink sink_;
};

}  // namespace simverbs::scenarios::topologies
