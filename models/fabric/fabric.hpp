// A fabric: engine, adapters, switches and links, wired and routed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/fabric/adapters.hpp"
#include "models/fabric/fabric_spec.hpp"
#include "models/fabric/multicast_tree.hpp"
#include "models/hca/hca.hpp"
#include "models/hca/neighbour_table.hpp"
#include "models/host/payload_mover.hpp"
#include "models/link/link.hpp"
#include "models/switch/switch.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/engine.hpp"
#include "sim/stuck.hpp"

namespace simverbs::fabric {

/// Owns everything of one simulation. Built once; then an Engine runs it and drivers talk to its Hcas.
class Fabric {
  public:
    /// `memory`: real bytes behind the verbs; nullptr if all traffic is lengths only. Spec must be sound: indices in
    /// range, every link end used once, at least one port an adapter.
    Fabric(const FabricSpec& spec, sim::EngineConfig engine, host::HostMemory* memory);
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;
    ~Fabric();

    [[nodiscard]] sim::Engine& engine() noexcept { return engine_; }
    [[nodiscard]] hca::Hca& nic(size_t index) noexcept { return adapters_.nic(index); }
    [[nodiscard]] size_t nic_count() const noexcept { return adapters_.size(); }
    [[nodiscard]] Switch& fabric_switch(size_t index) noexcept { return *switches_.at(index); }
    [[nodiscard]] size_t switch_count() const noexcept { return switches_.size(); }
    [[nodiscard]] link::Link& fabric_link(size_t index) noexcept { return *links_.at(index); }
    [[nodiscard]] size_t link_count() const noexcept { return links_.size(); }
    /// nullptr if built without memory.
    [[nodiscard]] host::PayloadMover* mover() noexcept { return adapters_.mover(); }
    [[nodiscard]] wire::PacketPool& pool() noexcept { return pool_; }
    [[nodiscard]] hca::NeighbourTable& neighbours() noexcept { return adapters_.neighbours(); }
    [[nodiscard]] Adapters& adapters() noexcept { return adapters_; }

  private:
    void add_nodes(const FabricSpec& spec);
    void wire_links(const FabricSpec& spec);
    void route(const FabricSpec& spec);

    sim::Engine engine_;
    Adapters adapters_;
    wire::PacketPool pool_;
    std::vector<std::unique_ptr<link::Link>> links_;
    std::vector<std::unique_ptr<Switch>> switches_;
    std::unique_ptr<MulticastTree> multicast_;
    std::vector<std::vector<PortIndex>> link_switch_ports_;  ///< for each link: ports at ends a and b
};

}  // namespace simverbs::fabric
