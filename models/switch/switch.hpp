// A switch, Ethernet or InfiniBand: output queues, cut-through or store-and-forward.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/link/ports.hpp"
#include "models/switch/forwarding_table.hpp"
#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/event_key.hpp"
#include "sim/link_ring.hpp"
#include "sim/local_queue.hpp"
#include "sim/node.hpp"
#include "sim/units.hpp"

namespace simverbs::fabric {

enum class Forwarding : uint8_t { CutThrough, StoreAndForward };

struct SwitchConfig {
    std::string path;  ///< of the component: "sw0"; its id salts the ECMP hash
    uint32_t ports = 0;
    Forwarding forwarding = Forwarding::CutThrough;
    /// From header in to decision. Links count it: pass it on as LinkEnd::ingress_latency.
    sim::SimTime pipeline_latency = sim::SimTime::zero();
    /// Bytes that all queues together, and each (port, priority) queue by itself, may hold; beyond, packets are
    /// dropped.
    sim::ByteCount buffer_bytes = std::numeric_limits<sim::ByteCount>::max();
    sim::ByteCount queue_bytes = std::numeric_limits<sim::ByteCount>::max();
    uint64_t seed = 1;
};

/// What a port counted. Bytes are byte times on the wire (link::packet_bytes).
struct PortCounters {
    uint64_t rx_packets = 0, rx_bytes = 0;
    uint64_t tx_packets = 0, tx_bytes = 0;
    uint64_t drops_full = 0;      ///< at this egress: queue or buffer full
    uint64_t drops_ttl = 0;       ///< at this ingress: no hops left
    uint64_t drops_no_route = 0;  ///< at this ingress: no route, or the port is not wired
    uint64_t max_queue_bytes = 0;
};

/// Forwards packets by destination leaf. A queue holds the packets of one (port, priority) in the order of their
/// arrival keys; higher priorities go first. An egress chooses in phase Transmit among all that has arrived by then.
class Switch final : public sim::Node {
  public:
    static constexpr uint32_t kPriorities = 16;

    /// `pool`: where dropped packets' extra records go; nullptr if packets have none.
    Switch(const SwitchConfig& config, wire::PacketPool* pool);
    ~Switch() override;

    /// Wires port `port`; between windows.
    void attach_port(PortIndex port, const link::PortWiring& wiring);
    /// Taps a wired port (nullptr: no more).
    void set_observer(PortIndex port, link::PacketObserver* observer);
    [[nodiscard]] ForwardingTable& table() noexcept { return table_; }
    [[nodiscard]] const SwitchConfig& config() const noexcept { return config_; }

    void run_window(sim::SimTime end) override;
    [[nodiscard]] sim::SimTime next_event_time() const override;

    [[nodiscard]] PortCounters counters(PortIndex port) const;
    /// Bytes waiting in a queue, and in all of them.
    [[nodiscard]] sim::ByteCount queue_bytes(PortIndex port, uint32_t priority) const;
    [[nodiscard]] sim::ByteCount buffered_bytes() const noexcept { return buffered_; }
    /// Packets inside the switch now.
    [[nodiscard]] uint64_t packets_inside() const noexcept { return inside_; }

  private:
    struct alignas(64) Queue {
        sim::LinkRing<wire::Packet> packets;
        sim::ByteCount bytes = 0;
        sim::ByteCount max_bytes = 0;
    };
    /// The first line serves what comes in, the second what goes out, the third packets whose tail is still coming in.
    struct alignas(64) Port {
        link::IngressPort ingress;
        uint64_t rx_packets = 0;
        uint64_t rx_bytes = 0;

        link::EgressPort egress;  // egress.backlog: a bit for each priority with a packet waiting
        uint64_t tx_packets = 0;
        uint64_t tx_bytes = 0;

        wire::Packet storing;
        sim::SimTime stored_at = sim::SimTime::max();
        PortIndex storing_for = kNoPort;
        uint64_t drops_full = 0;
        uint64_t drops_ttl = 0;
        uint64_t drops_no_route = 0;
    };
    static constexpr uint8_t kUnused = 0xFF;

    void fill_queue(sim::LocalQueue& queue);
    void on_deliver(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void on_stored(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void on_transmit(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    /// Must the whole packet be here before its transmission at `out` may start?
    [[nodiscard]] bool must_store(const Port& in, const Port& out) const noexcept;
    void forward(wire::Packet& packet, uint32_t bytes, PortIndex out, sim::SimTime now, sim::LocalQueue& queue);
    void enqueue(PortIndex port, const wire::Packet& packet, uint32_t bytes);
    void send(Port& port, wire::Packet& packet, uint32_t bytes, sim::SimTime now);
    void drop(wire::Packet& packet, uint64_t& counter);
    [[nodiscard]] sim::SimTime ingress_event(const Port& port) const noexcept;
    void schedule_ingress(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void schedule_transmit(PortIndex port, sim::SimTime at, sim::LocalQueue& queue);
    void check_conservation() const;
    /// The queue of a port and a priority in use.
    [[nodiscard]] Queue& queue_of(PortIndex port, uint32_t priority) noexcept {
        return queues_[port * priorities_in_use_ + dense_[priority]];
    }
    [[nodiscard]] const Queue* find_queue(PortIndex port, uint32_t priority) const noexcept;
    void start_to_use(uint32_t priority);
    [[nodiscard]] std::span<const Port> ports() const noexcept { return {ports_.get(), port_count_}; }

    SwitchConfig config_;
    wire::PacketPool* pool_;
    ForwardingTable table_;
    uint32_t port_count_;
    std::unique_ptr<Port[]> ports_;
    std::array<uint8_t, kPriorities> dense_;  ///< by priority: its place in queues_, or kUnused
    uint32_t priorities_in_use_ = 0;
    std::vector<Queue> queues_;  ///< by port, then dense priority
    sim::SimTime window_start_;
    sim::SimTime window_end_;
    sim::ByteCount buffered_ = 0;
    uint32_t storing_ = 0;  ///< ports with a packet in `storing`: only then is their third line looked at
    uint64_t received_ = 0;
    uint64_t sent_ = 0;
    uint64_t dropped_ = 0;
    uint64_t inside_ = 0;
};

}  // namespace simverbs::fabric
