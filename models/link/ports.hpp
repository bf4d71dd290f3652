// The two halves of a port: where packets leave a node and where they come in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/link/flow_control.hpp"
#include "models/link/link_faults.hpp"
#include "models/link/link_params.hpp"
#include "models/link/packet_observer.hpp"
#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/check.hpp"
#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

/// Sends into one direction of a link. A plain value: nodes keep it in their own hot memory. Unwired until the fabric
/// hands it over in a PortWiring.
struct EgressPort {
    PacketChannel* channel = nullptr;
    sim::SimTime busy_until = sim::SimTime::zero();  ///< when the tail of the last packet leaves
    sim::SimTime latency;                            ///< from a packet's start here to its header's arrival there
    sim::ByteTime byte_time;
    PacketObserver* observer = nullptr;
    LinkLayer layer = LinkLayer::Ethernet;
    bool vlan = false;
    // For the owner's use, a bit for each priority:
    uint16_t blocked = 0;  ///< paused by the peer, or without credits
    uint16_t backlog = 0;  ///< has packets waiting

    [[nodiscard]] bool wired() const noexcept { return channel != nullptr; }
    /// Priorities that have packets and may send them.
    [[nodiscard]] uint32_t sendable() const noexcept { return backlog & ~uint32_t{blocked}; }
    [[nodiscard]] bool idle(sim::SimTime now) const noexcept { return busy_until <= now; }
    /// Byte times that `packet` takes here.
    [[nodiscard]] uint32_t bytes_of(const wire::Packet& packet) const noexcept {
        return packet_bytes(layer, packet, vlan);
    }

    /// Starts to send `packet` at `now`, which takes `hops` of its TTL; the port must be idle. Returns when the tail
    /// has left.
    [[gnu::always_inline]] sim::SimTime transmit(const wire::Packet& packet, uint32_t wire_bytes, sim::SimTime now,
                                                 uint32_t hops = 0) {
        SIM_CHECK(busy_until <= now, busy_until, now);
        busy_until = now + byte_time.of(wire_bytes);
        wire::Packet& sent = channel->push(packet, now + latency);
        sent.ttl -= hops;
        if (observer != nullptr) [[unlikely]]
            observer->on_packet(now, sent, Direction::Out);
        return busy_until;
    }
};

/// Receives from one direction of a link: packets in order of next_time(), faults of the link applied.
struct IngressPort {
    PacketChannel* channel = nullptr;
    LinkFaults* faults = nullptr;
    sim::ByteTime byte_time;
    PacketObserver* observer = nullptr;
    wire::PacketPool* pool = nullptr;
    LinkLayer layer = LinkLayer::Ethernet;
    bool vlan = false;

    [[nodiscard]] bool wired() const noexcept { return channel != nullptr; }
    [[nodiscard]] uint32_t bytes_of(const wire::Packet& packet) const noexcept {
        return packet_bytes(layer, packet, vlan);
    }
    /// Arrival of the next packet's header, SimTime::max() if none. Ask again after each pop.
    [[nodiscard]] sim::SimTime next_time() const noexcept {
        return faults != nullptr ? faults->next_time(*channel) : channel->head_time();
    }
    /// Takes the packet that arrives at next_time(); there must be one. Returns false if a fault swallowed it.
    bool pop(wire::Packet& packet, unsigned shard) {
        if (faults != nullptr) [[unlikely]] {
            if (!faults->pop(*channel, packet, pool, shard)) return false;
        } else {
            packet = channel->front();
            channel->pop();
        }
        if (observer != nullptr) [[unlikely]]
            observer->on_packet(packet.arrival, packet, Direction::In);
        return true;
    }
    /// When the last bit of `packet` is in.
    [[nodiscard]] sim::SimTime tail_time(const wire::Packet& packet) const noexcept {
        return packet.arrival + byte_time.of(bytes_of(packet));
    }
};

/// Flow control of a link as one end sees it; null where it has none.
struct ControlPort {
    ControlChannel* out = nullptr;
    ControlChannel* in = nullptr;
    sim::SimTime latency;  ///< from a frame's first bit here to its effect there
};

/// Sends a flow control frame of so many byte times: it waits for the packet that is being sent, and goes before all
/// others.
inline void send_flow_control(EgressPort& out, const ControlPort& control, FlowControlFrame frame, uint32_t wire_bytes,
                              sim::SimTime now) {
    const sim::SimTime start = std::max(now, out.busy_until);
    out.busy_until = start + out.byte_time.of(wire_bytes);
    frame.arrival = start + control.latency;
    control.out->push(frame);
}

/// What a node is given for one of its ports.
struct PortWiring {
    EgressPort egress;
    IngressPort ingress;
    ControlPort control;
    LinkParams params;
    sim::ComponentId id = 0;  ///< of this port: keys its draws
};

}  // namespace simverbs::link
