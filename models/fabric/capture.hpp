// The exact frames of one adapter port, in a capture file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hca/hca_config.hpp"
#include "models/hca/neighbour_table.hpp"
#include "models/host/payload_mover.hpp"
#include "models/link/packet_observer.hpp"
#include "models/link/ports.hpp"
#include "models/wire/frame_builder.hpp"
#include "models/wire/packet_extra.hpp"
#include "models/wire/pcap_writer.hpp"

namespace simverbs::fabric {

/// Builds each packet's frame when it is seen; sorts by time: a sent frame has the time of its first bit, a received
/// one that of its last.
class PortCapture final : public link::PacketObserver {
  public:
    PortCapture(const hca::HcaPortConfig& port, const hca::NeighbourTable& neighbours, const wire::PacketPool& pool,
                host::PayloadMover* mover, link::IngressPort ingress, sim::SimTime rx_pipeline)
        : port_(port),
          neighbours_(neighbours),
          pool_(pool),
          mover_(mover),
          ingress_(ingress),
          rx_pipeline_(rx_pipeline) {}

    [[nodiscard]] std::string open(const std::string& path);
    void on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) override;
    /// Writes the frames that no event at or after `frontier` can precede any more. What failed, or "".
    std::string flush(sim::SimTime frontier);
    std::string close();

  private:
    struct Frame {
        sim::SimTime time;
        link::Direction direction;
        uint32_t begin = 0, size = 0;
    };
    std::string write_before(sim::SimTime until);
    [[nodiscard]] wire::FrameSpec spec_of(const wire::Packet& packet, link::Direction direction) const;
    /// A frame of a raw packet QP: its payload is the frame.
    void add_raw(sim::SimTime time, const wire::Packet& packet, const wire::PacketExtra& x, link::Direction direction);
    void add_transport_headers(wire::FrameSpec& spec, const wire::Packet& packet, const wire::PacketExtra& x) const;

    const hca::HcaPortConfig& port_;
    const hca::NeighbourTable& neighbours_;
    const wire::PacketPool& pool_;
    host::PayloadMover* mover_;
    link::IngressPort ingress_;
    sim::SimTime rx_pipeline_;  ///< that the link's latency contains
    wire::PcapWriter writer_;
    std::vector<Frame> frames_;
    std::vector<uint8_t> bytes_;    ///< of the frames that wait for flush()
    std::vector<uint8_t> payload_;  ///< scratch
    sim::SimTime written_until_;    ///< time of the last frame in the file
};

}  // namespace simverbs::fabric
