// The frames of one port of a fabric of flows, in a capture file. Payload is zeros.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/flow/flow_table.hpp"
#include "models/link/link_params.hpp"
#include "models/link/packet_observer.hpp"
#include "models/link/service_map.hpp"
#include "models/wire/frame_builder.hpp"
#include "models/wire/packet.hpp"
#include "models/wire/pcap_writer.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::run {

/// The n-th QP of a host, from 0, has the number kFirstQpn + n; 0 and 1 are those of management.
inline constexpr uint32_t kFirstQpn = 0x100;

/// What is on the wire for each service (Packet::priority) of Ethernet.
struct ServiceCodes {
    std::array<uint8_t, 16> dscps{};
    std::array<uint8_t, 16> pcps{};  ///< of tags
    std::optional<uint16_t> vlan;    ///< of tags; without one there are none
};

/// One port. `out_vls`, `in_vls`: SL2VL tables of the node and of its peer.
struct CapturedPort {
    link::LinkLayer layer = link::LinkLayer::Ethernet;
    sim::ByteTime byte_time;
    ServiceCodes codes;
    link::ServiceMap out_vls = link::kOwnClasses;
    link::ServiceMap in_vls = link::kOwnClasses;
};

/// Host i has the address 10.0.0.1 + i, the MAC 02:00:00:… of the same number, the LID i + 1. A sent frame has the time
/// of its first bit, a received one that of its last.
class FlowCapture final : public link::PacketObserver {
  public:
    /// `flows` must outlive it.
    FlowCapture(const CapturedPort& port, const flow::FlowTable& flows) : port_(port), flows_(flows) {}

    /// What failed, or "".
    [[nodiscard]] std::string open(const std::string& path);
    void on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) override;
    /// Writes what no event at or after `frontier` can precede any more.
    void write_before(sim::SimTime frontier);
    /// Writes the rest. The first thing that failed, or "".
    [[nodiscard]] std::string close();

  private:
    struct Seen {
        sim::SimTime time;
        link::Direction direction;
        wire::Packet packet;
    };
    [[nodiscard]] wire::FrameSpec frame_of(const Seen& seen) const;

    CapturedPort port_;
    const flow::FlowTable& flows_;
    wire::PcapWriter writer_;
    std::vector<Seen> seen_;
    std::vector<uint8_t> bytes_;
};

}  // namespace simverbs::scenarios::run
