// A fabric of a topology, routed: engine, switches, links, and hosts that send flows or run programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "models/fabric/adapters.hpp"
#include "models/fabric/multicast_tree.hpp"
#include "models/flow/flow_nic.hpp"
#include "models/flow/flow_table.hpp"
#include "models/link/link.hpp"
#include "models/switch/switch.hpp"
#include "models/wire/packet_extra.hpp"
#include "scenarios/topologies/routing_plan.hpp"
#include "scenarios/topologies/topology.hpp"
#include "sim/engine.hpp"
#include "sim/stuck.hpp"

namespace simverbs::scenarios::run {

/// A fault of one direction of a link (`link`: its number in the topology).
struct FabricFault {
    uint32_t link = 0;
    bool from_a = true;  ///< of the packets that leave the link's end a
    link::LinkFault fault;
    /// The packets of these alone, where `by_flow`.
    std::vector<flow::FlowIndex> flows;
    bool by_flow = false;
};

/// A port that pauses its peer without end: that of end a of a link, or of end b.
struct FabricStorm {
    std::string name;
    uint32_t link = 0;
    bool at_a = true;
    uint32_t priority = 3;
    sim::SimTime from;
    sim::SimTime until = sim::SimTime::max();
};

/// An adapter for programs, instead of FlowNics.
struct FabricAdapter {
    /// What it is like; leaves, link rates and VL buffers of its ports are filled in. Its profile must outlive the
    /// fabric.
    fabric::NicSpec nic;
    static constexpr flow::HostIndex kNoCable = UINT32_MAX;
    std::vector<flow::HostIndex> hosts;  ///< of the topology: one for each of its ports, or kNoCable
};

/// Where a host of the topology is a port of an adapter.
struct AdapterPort {
    uint32_t adapter = 0;
    uint8_t port = 0;  ///< from 1; 0: it is none
};
/// By host; empty without adapters.
[[nodiscard]] std::vector<AdapterPort> adapter_ports(std::span<const FabricAdapter> adapters, size_t hosts);

/// What all switches, links and NICs have in common. Members that depend on a port's speed are functions of it.
struct FlowFabricConfig {
    sim::EngineConfig engine;
    link::LinkLayer layer = link::LinkLayer::Ethernet;
    /// Of every switch; path, ports, priorities, seed and (where it is 0) headroom are filled in. A lossless headroom
    /// of 0 means pfc::headroom of the longest and fastest link of the switch.
    fabric::SwitchConfig switches;
    bool headroom_auto = true;                     ///< fill in a headroom of 0
    std::vector<fabric::SwitchConfig> per_switch;  ///< instead of `switches`, by switch
    bool pfc = true;                               ///< pause frames for buffer.lossless
    std::vector<bool> own_red;                     ///< by switch: `red` does not count for it
    std::vector<std::optional<int>> shifts;        ///< by switch: HPCC's a_shift, one less per doubling over host_rate
    sim::BitRate host_rate;                        ///< of the slowest host, for `shifts`
    std::function<ecn::RedParams(sim::BitRate)> red;  ///< of a port by its speed; none: switches.ecn.red
    /// Of every NIC; path, host, paths and the peer's classes are filled in.
    flow::FlowNicConfig nics;
    std::vector<link::ServiceMap> nic_classes;  ///< by host, instead of nics.classes; empty: none
    bool vlan = false;                          ///< frames carry an 802.1Q tag
    const cc::CongestionControl* cc = nullptr;  ///< required
    /// The base RTT that congestion control is told: of the QP's own path, or the longest of the fabric for all.
    bool uniform_base_rtt = false;
    topologies::RoutingPolicy routing = topologies::RoutingPolicy::MinHop;
    std::vector<FabricFault> faults;  ///< beside the topology's packet loss
    std::vector<FabricStorm> storms;
    std::vector<FabricAdapter> adapters;
    std::vector<fabric::HostSpec> complex_hosts;  ///< whose inside is simulated; their NICs are places in `adapters`
};

/// What stands in the way of a fabric, and what it is about.
struct FabricProblem {
    enum class About : uint8_t {
        Topology,
        Storm,          ///< FlowFabricConfig::storms[index]
        Buffer,         ///< of switch `index`, as what follows
        VlBuffer,       ///< of any switch
        VlArbitration,  ///< its weight of `vl`
    };
    std::string text;  ///< a sentence for people
    About about = About::Topology;
    size_t index = 0;
    uint32_t vl = 0;
};

/// How a run ended.
enum class FlowRunEnd : uint8_t {
    Idle,       ///< nothing is scheduled, and no flow is under way
    Stuck,      ///< flows are under way, and nothing has progressed for the limit's patience (or can ever)
    TimeLimit,  ///< the limit's time has come
};
struct FlowRunLimit {
    sim::SimTime time = sim::SimTime::max();
    /// Simulated time without progress after which flows count as stuck. Pauses are renewed and flow control goes on
    /// in a deadlock, so that the engine never becomes idle. Zero: long enough for a requester to give up by itself.
    sim::SimTime patience;
};
struct FlowRunResult {
    FlowRunEnd end = FlowRunEnd::Idle;
    /// Who waits for what. Not empty when stuck, and when flows never began because those that they wait for failed.
    std::string dump;
};

/// Owns one simulation of flows, programs' adapters, or both. Build, run engine(), read results.
class FlowFabric final : public flow::Paths, public sim::StuckReporter {
  public:
    /// The topology must be valid (topologies::validate), the plan sound. Hosts must have one link each, and no flow
    /// may begin or end at an adapter. `memory`: of programs, for adapters.
    FlowFabric(const topologies::Topology& topology, flow::FlowPlan plan, const FlowFabricConfig& config,
               host::HostMemory* memory = nullptr);
    ~FlowFabric() override;

    /// What stands in the way of building that; empty if nothing does.
    [[nodiscard]] static std::vector<FabricProblem> problems_with(const topologies::Topology& topology,
                                                                  const flow::FlowPlan& plan,
                                                                  const FlowFabricConfig& config);

    /// Runs until everything has ended, is stuck, or the limit is reached.
    FlowRunResult run_until_done(const FlowRunLimit& limit = {});

    [[nodiscard]] sim::Engine& engine() noexcept { return *engine_; }
    [[nodiscard]] const wire::PacketPool& pool() const noexcept { return pool_; }
    /// Of host i, where has_flows(i).
    [[nodiscard]] flow::FlowNic& nic(size_t i) noexcept { return *nics_[i]; }
    /// Whether host i can have flows: it has no adapter.
    [[nodiscard]] bool has_flows(size_t i) const noexcept { return nics_[i] != nullptr; }
    [[nodiscard]] fabric::Adapters& adapters() noexcept { return adapters_; }
    [[nodiscard]] const fabric::Adapters& adapters() const noexcept { return adapters_; }
    /// Adapter and port (from 1) of host i, where it has no flows.
    [[nodiscard]] AdapterPort adapter_port(size_t i) const noexcept { return adapter_ports_[i]; }
    [[nodiscard]] fabric::Switch& fabric_switch(size_t i) noexcept { return *switches_[i]; }
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
    /// What a node makes of services.
    [[nodiscard]] const link::ServiceMap& classes_of(topologies::NodeRef node) const;
    /// Pauses that a storm has sent.
    [[nodiscard]] uint64_t storm_frames(const FabricStorm& storm) const;
    /// Payload of a flow that has arrived in order so far.
    [[nodiscard]] sim::ByteCount bytes_received(flow::FlowIndex flow) const {
        return nics_[flows_->spec(flow).dst]->bytes_received(flow);
    }
    /// Packets sent over links so far.
    [[nodiscard]] uint64_t hops() const;
    /// Flows that have ended, in success or not; that are under way.
    [[nodiscard]] uint64_t ended() const;
    /// When the next flow begins by itself, max() if none.
    [[nodiscard]] sim::SimTime next_start() const;
    [[nodiscard]] uint64_t active() const;
    /// Throws a failed check if packets or buffer bytes are missing.
    void check_conservation() const;
    /// Switches that have dropped packets of a lossless priority, and by how much their headroom was too small, one
    /// line each; empty if none has.
    [[nodiscard]] std::string lossless_drops() const;
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
    void make_adapters();
    void make_switch(uint32_t index, std::span<const uint32_t> links, unsigned partition);
    void wire();
    void set_faults(uint32_t link_index);
    void set_storms();
    [[nodiscard]] bool has_flow_control(const topologies::Link& l) const;
    [[nodiscard]] std::string never_begun() const;
    void route();
    void prepare_multicast();
    void find_longest_rtt();
    [[nodiscard]] PathSum walk(flow::HostIndex src, flow::HostIndex dst) const;
    void set_port_rules(fabric::Switch& s, const topologies::LinkEnd& end, sim::BitRate rate) const;

    topologies::Topology topology_;
    FlowFabricConfig config_;
    topologies::RoutingPlan routes_;
    std::unique_ptr<sim::Engine> engine_;
    std::unique_ptr<flow::FlowTable> flows_;
    fabric::Adapters adapters_;
    wire::PacketPool pool_;
    std::vector<std::vector<Peer>> switch_peers_;  ///< by switch, then port
    std::vector<Peer> host_peer_;
    std::vector<std::unique_ptr<link::Link>> links_;
    std::vector<std::unique_ptr<fabric::Switch>> switches_;
    std::unique_ptr<fabric::MulticastTree> multicast_;  ///< null without adapters
    std::vector<std::unique_ptr<flow::FlowNic>> nics_;  ///< by host; null: an adapter's port
    std::vector<AdapterPort> adapter_ports_;            ///< by host; empty without adapters
    uint16_t services_ = 0;
    sim::SimTime longest_rtt_;
};

}  // namespace simverbs::scenarios::run
