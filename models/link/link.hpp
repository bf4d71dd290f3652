// A cable between two ports: two channels, and the faults of each direction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/link/link_params.hpp"
#include "models/link/ports.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/engine.hpp"
#include "sim/node.hpp"

namespace simverbs::link {

/// One end of a link.
struct LinkEnd {
    sim::NodeId node = 0;
    std::string path;  ///< of the port, "h0/mlx5_0/1": its component id
    /// Time that the node needs from a header's arrival to its decision (a switch's pipeline). It counts as latency of
    /// the link.
    sim::SimTime ingress_latency = sim::SimTime::zero();
};

/// Owns what both ends share; must outlive the nodes' use of the wirings and be destroyed before the engine.
class Link {
  public:
    /// Both nodes must have been added to the engine. `pool` may be nullptr where no packet has an extra record.
    Link(sim::Engine& engine, const LinkParams& params, const LinkEnd& a, const LinkEnd& b, wire::PacketPool* pool);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// Faults of the packets that leave end a (b). Before the wirings are handed out.
    void set_faults_a_to_b(std::vector<LinkFault> faults);
    void set_faults_b_to_a(std::vector<LinkFault> faults);

    /// For the node at end a (b). The observer pointers are still empty: nodes set them where wanted.
    [[nodiscard]] PortWiring wiring_a();
    [[nodiscard]] PortWiring wiring_b();

    /// Taps the faults of both directions, which must have been set.
    void observe_faults(FateObserver& observer);

    [[nodiscard]] std::vector<FaultReport> fault_reports() const;
    /// Bytes that the link takes.
    [[nodiscard]] size_t memory() const noexcept;

  private:
    struct End;
    struct Direction {
        PacketChannel& packets;
        ControlChannel* control;
    };
    [[nodiscard]] PortWiring wiring(const End& self, const End& peer, const Direction& out, const Direction& in,
                                    LinkFaults* in_faults) const;
    [[nodiscard]] Direction a_to_b() noexcept { return {a_to_b_, control_a_to_b_.get()}; }
    [[nodiscard]] Direction b_to_a() noexcept { return {b_to_a_, control_b_to_a_.get()}; }

    /// What is kept of a LinkEnd: a fabric has tens of thousands.
    struct End {
        sim::ComponentId id = 0;
        sim::SimTime ingress_latency;
    };
    sim::Engine& engine_;
    LinkParams params_;
    End a_;
    End b_;
    wire::PacketPool* pool_;
    std::unique_ptr<ControlChannel> control_a_to_b_;
    std::unique_ptr<ControlChannel> control_b_to_a_;
    std::unique_ptr<LinkFaults> faults_at_b_;
    std::unique_ptr<LinkFaults> faults_at_a_;
    PacketChannel a_to_b_;  // last: it begins a cache line
    PacketChannel b_to_a_;
};

}  // namespace simverbs::link
