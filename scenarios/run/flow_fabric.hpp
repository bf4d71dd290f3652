// A fabric whose hosts send flows: engine, NICs, switches and links of a topology, routed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "models/flow/flow_nic.hpp"
#include "models/flow/flow_table.hpp"
#include "models/link/link.hpp"
#include "models/switch/switch.hpp"
#include "models/wire/packet_extra.hpp"
#include "scenarios/run/build_faults.hpp"
#include "scenarios/topologies/routing_plan.hpp"
#include "scenarios/topologies/topology.hpp"
#include "sim/engine.hpp"
#include "sim/stuck.hpp"

namespace simverbs::scenarios::run {

/// What all switches, links and NICs have in common. Members that depend on a port's speed are functions of it.
struct FlowFabricConfig {
    sim::EngineConfig engine;
    link::LinkLayer layer = link::LinkLayer::Ethernet;
    /// Of every switch; path, ports, priorities, seed and (where it is 0) headroom are filled in. A lossless headroom
    /// of 0 means pfc::headroom of the longest and fastest link of the switch.
    fabric::SwitchConfig switches;
    std::vector<fabric::SwitchConfig> per_switch;  ///< instead of `switches`, by switch
    bool pfc = true;                               ///< pause frames for buffer.lossless
    std::vector<bool> own_red;                     ///< by switch: `red` does not count for it
    std::vector<std::optional<int>> shifts;        ///< by switch: HPCC's a_shift, one less per doubling over host_rate
    sim::BitRate host_rate;                        ///< of the slowest host, for `shifts`
    std::vector<LinkFaultSet> faults;              ///< by link
    std::function<ecn::RedParams(sim::BitRate)> red;  ///< of a port by its speed; none: switches.ecn.red
    /// Of every NIC; path, host and paths are filled in.
    flow::FlowNicConfig nics;
    const cc::CongestionControl* cc = nullptr;  ///< required
    /// The base RTT that congestion control is told: of the QP's own path, or the longest of the fabric for all.
    bool uniform_base_rtt = false;
};

/// Owns one simulation of flows. Build, run engine(), read results.
class FlowFabric final : public flow::Paths, public sim::StuckReporter {
  public:
    /// The topology must be valid (topologies::validate), the plan sound. Hosts must have one link each.
    FlowFabric(const topologies::Topology& topology, flow::FlowPlan plan, const FlowFabricConfig& config);
    ~FlowFabric() override;

    /// What stands in the way of building that, a sentence each for people; empty if nothing does.
    [[nodiscard]] static std::vector<std::string> problems_with(const topologies::Topology& topology,
                                                                const flow::FlowPlan& plan,
                                                                const FlowFabricConfig& config);

    [[nodiscard]] sim::Engine& engine() noexcept { return *engine_; }
    [[nodiscard]] flow::FlowTable& flows() noexcept { return *flows_; }
    [[nodiscard]] const flow::FlowTable& flows() const noexcept { return *flows_; }
    [[nodiscard]] const flow::FlowNic& nic(size_t i) const noexcept { return *nics_[i]; }
    [[nodiscard]] size_t nic_count() const noexcept { return nics_.size(); }
    [[nodiscard]] const fabric::Switch& fabric_switch(size_t i) const noexcept { return *switches_[i]; }
    [[nodiscard]] size_t switch_count() const noexcept { return switches_.size(); }
    [[nodiscard]] link::Link& fabric_link(size_t i) noexcept { return *links_[i]; }
    [[nodiscard]] const topologies::Topology& topology() const noexcept { return topology_; }
    [[nodiscard]] const FlowFabricConfig& config() const noexcept { return config_; }

    /// Time that `bytes` of payload take from `src` to `dst` and the last ACK back with nothing else under way:
    /// what slowdowns are relative to.
    [[nodiscard]] sim::SimTime ideal_time(flow::HostIndex src, flow::HostIndex dst, sim::ByteCount bytes) const;
    /// Packets sent over links so far.
    [[nodiscard]] uint64_t hops() const;
    /// Flows that have ended, in success or not.
    [[nodiscard]] uint64_t ended() const;
    /// When the next flow begins by itself, max() if none.
    [[nodiscard]] sim::SimTime next_start() const;
    /// Throws a failed check if packets or buffer bytes are missing.
    void check_conservation() const;
    /// Switches and priorities that wait for each other in a circle, one line each; empty if there is none.
    [[nodiscard]] std::string pause_cycle() const;
    /// Bytes of NICs, switches and links.
    [[nodiscard]] size_t memory() const;

    // flow::Paths
    [[nodiscard]] cc::PathFacts facts(flow::HostIndex src, flow::HostIndex dst) const override;
    // sim::StuckReporter
    [[nodiscard]] bool outstanding() const override;
    [[nodiscard]] uint64_t progress() const override;
    void describe(std::string& out) const override;

  private:
    struct Peer {
        topologies::NodeRef node;
        uint32_t port = 0;
        uint32_t link = 0;
    };
    struct PathSum {
        sim::SimTime latency;  ///< propagation and pipelines, one way
        sim::BitRate slowest;
        uint32_t links = 0;
        uint32_t store_and_forward = 0;  ///< switches on the way that wait for a packet's tail
    };
    void number_ports();
    void make_nodes();
    void make_switch(uint32_t index, unsigned partition);
    void wire();
    void route();
    void find_longest_rtt();
    [[nodiscard]] unsigned partition_of(uint32_t pod, uint32_t index, size_t count) const;
    [[nodiscard]] PathSum walk(flow::HostIndex src, flow::HostIndex dst) const;
    [[nodiscard]] bool is_lossless(topologies::NodeRef node) const;
    void set_port_rules(fabric::Switch& s, const topologies::LinkEnd& end, sim::BitRate rate) const;

    topologies::Topology topology_;
    FlowFabricConfig config_;
    topologies::RoutingPlan routes_;
    std::unique_ptr<sim::Engine> engine_;
    std::unique_ptr<flow::FlowTable> flows_;
    wire::PacketPool pool_;
    std::vector<std::vector<Peer>> switch_peers_;  ///< by switch, then port
    std::vector<Peer> host_peer_;
    std::vector<std::unique_ptr<link::Link>> links_;
    std::vector<std::unique_ptr<fabric::Switch>> switches_;
    std::vector<std::unique_ptr<flow::FlowNic>> nics_;
    uint16_t priorities_ = 0;
    sim::SimTime longest_rtt_;
};

}  // namespace simverbs::scenarios::run
