// The adapters of a fabric: their addresses, their ports' wiring and captures, the memory behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/fabric/capture.hpp"
#include "models/fabric/fabric_spec.hpp"
#include "models/hca/hca.hpp"
#include "models/hca/neighbour_table.hpp"
#include "models/host/host_node.hpp"
#include "models/host/payload_mover.hpp"
#include "models/link/ports.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/engine.hpp"
#include "sim/stuck.hpp"

namespace simverbs::fabric {

/// Owned by whoever wires the fabric. Adapters are numbered in the order of their making.
class Adapters final : public sim::StuckReporter {
  public:
    /// `memory`: real bytes behind the verbs; nullptr if all traffic is lengths only.
    explicit Adapters(host::HostMemory* memory);

    /// Programs may act a doorbell's latency after any event, so their windows are cut there. Windows no longer than
    /// that of any adapter are never cut for this reason, which saves asking the nodes for what is left of one.
    [[nodiscard]] static sim::SimTime window_of(const NicSpec& nic) { return nic.profile->timing.mmio_write; }

    /// Makes them all, and the hosts that have a complex. LeafIds stand in the ports; LIDs that are 0 are assigned from
    /// 1 on, or from the one before.
    void make(std::vector<NicSpec> nics, const std::vector<HostSpec>& hosts, uint64_t seed, sim::Engine& engine,
              wire::PacketPool& pool);
    /// Hands a port (from 1) its link; throws std::invalid_argument if it has one.
    void attach(size_t nic, uint8_t port, const link::PortWiring& wiring);

    [[nodiscard]] size_t size() const noexcept { return nics_.size(); }
    [[nodiscard]] hca::Hca& nic(size_t index) noexcept { return *nics_.at(index); }
    [[nodiscard]] const hca::Hca& nic(size_t index) const noexcept { return *nics_.at(index); }
    /// Hosts with a complex, in the order of their specs.
    [[nodiscard]] size_t host_count() const noexcept { return hosts_.size(); }
    [[nodiscard]] host::HostNode& host(size_t index) noexcept { return *hosts_.at(index); }
    [[nodiscard]] const host::HostNode& host(size_t index) const noexcept { return *hosts_.at(index); }
    /// nullptr if made without memory.
    [[nodiscard]] host::PayloadMover* mover() noexcept { return mover_.get(); }
    [[nodiscard]] hca::NeighbourTable& neighbours() noexcept { return neighbours_; }

    /// Captures port `port` (from 1) of an adapter to `path`. Before the first packet. Empty string, or what failed.
    std::string capture(size_t nic, uint8_t port, const std::string& path);
    /// Writes what was captured up to the engine's frontier; call now and then, and at the end. First error or "".
    std::string flush_captures();
    /// Flushes and closes all captures. First error or "".
    std::string close_captures();
    /// Adds a tap to an adapter's port, after those that it has. Before the first packet.
    void observe(size_t nic, uint8_t port, link::PacketObserver& observer);
    /// Every packet carries its addresses and its sender's QP number from now on: taps want them. Before the first.
    void carry_addresses();
    /// Whether an adapter's port has a link.
    [[nodiscard]] bool is_wired(size_t nic, uint8_t port) const { return ports_.at(nic).at(port - 1U).wired; }
    [[nodiscard]] const link::IngressPort& ingress(size_t nic, uint8_t port) const {
        return ports_.at(nic).at(port - 1U).wiring.ingress;
    }
    [[nodiscard]] const wire::PacketPool& pool() const noexcept { return *pool_; }

    // sim::StuckReporter: all adapters as one voice
    [[nodiscard]] bool outstanding() const override;
    [[nodiscard]] uint64_t progress() const override;
    void describe(std::string& out) const override;

  private:
    struct NicPort {
        link::PortWiring wiring;
        bool wired = false;
    };
    void assign_addresses(std::vector<NicSpec>& nics);
    void make_hosts(const std::vector<HostSpec>& hosts);

    hca::NeighbourTable neighbours_;
    std::unique_ptr<host::PayloadMover> mover_;
    sim::Engine* engine_ = nullptr;
    wire::PacketPool* pool_ = nullptr;
    std::vector<std::unique_ptr<hca::Hca>> nics_;
    std::vector<std::unique_ptr<host::HostNode>> hosts_;
    std::vector<std::vector<NicPort>> ports_;
    std::vector<std::unique_ptr<PortCapture>> captures_;
    std::vector<std::unique_ptr<link::PacketObserver>> pairs_;  ///< of observers of one port
};

}  // namespace simverbs::fabric
