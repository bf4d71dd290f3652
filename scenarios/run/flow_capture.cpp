#include "scenarios/run/flow_capture.hpp"

#include <algorithm>

#include "models/link/packet_bytes.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::scenarios::run {

namespace {

constexpr size_t kLargestFrame = 4096 + 256;

wire::MacAddress mac_of(flow::HostIndex host) {
    const uint32_t n = host + 1;
    return {{2, 0, 0, static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)}};
}

/// ::ffff:10.x.y.z
wire::Gid gid_of(flow::HostIndex host) {
    const uint32_t n = host + 1;
    wire::Gid gid;
    gid.bytes = {0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0,
                 0xFF,
                 0xFF,
                 10,
                 static_cast<uint8_t>(n >> 16),
                 static_cast<uint8_t>(n >> 8),
                 static_cast<uint8_t>(n)};
    return gid;
}

uint16_t lid_of(flow::HostIndex host) {
    return static_cast<uint16_t>(host + 1);
}

}  // namespace

std::string FlowCapture::open(const std::string& path) {
    return writer_.open(path, wire::pcap_link_type_of(link::link_type(port_.layer, wire::kFramingBasic)));
}

void FlowCapture::on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) {
    if (direction == link::Direction::In)
        time += port_.byte_time.of(link::packet_bytes(port_.layer, packet, port_.codes.vlan.has_value()));
    seen_.push_back({time, direction, packet});
}

wire::FrameSpec FlowCapture::frame_of(const Seen& seen) const {
    const wire::Packet& packet = seen.packet;
    const bool answers = wire::is_answer(packet.opcode);
    const auto of_dest = answers ? flows_.leaving(packet.dest) : flows_.arriving(packet.dest);
    const flow::FlowSpec& flow = flows_.spec(of_dest[packet.dest_qp]);
    const flow::HostIndex from = answers ? flow.dst : flow.src;
    wire::FrameSpec s;
    s.link = link::link_type(port_.layer, packet.framing);
    s.source_mac = mac_of(from);
    s.destination_mac = mac_of(packet.dest);
    s.source_lid = lid_of(from);
    s.destination_lid = lid_of(packet.dest);
    s.source_gid = gid_of(from);
    s.destination_gid = gid_of(packet.dest);
    s.sl = static_cast<uint8_t>(packet.priority);
    s.vl = (seen.direction == link::Direction::Out ? port_.out_vls : port_.in_vls)[packet.priority];
    s.traffic_class = static_cast<uint8_t>(port_.codes.dscps[packet.priority] << 2);
    if (port_.codes.vlan) s.vlan = wire::VlanTag{port_.codes.pcps[packet.priority], false, *port_.codes.vlan, 0};
    constexpr uint16_t kLeastPort = 0xC000;
    s.udp_source_port = static_cast<uint16_t>(packet.flow_hash | kLeastPort);
    const bool marked = (packet.flags & wire::kFecn) != 0;
    if ((packet.flags & wire::kEcnCapable) != 0) s.ecn = marked ? wire::Ecn::Ce : wire::Ecn::Ect0;
    s.hop_limit = static_cast<uint8_t>(packet.ttl);
    s.bth.opcode = static_cast<uint8_t>(packet.opcode);
    s.bth.fecn = port_.layer == link::LinkLayer::InfiniBand && marked;
    s.bth.becn = (packet.flags & wire::kBecn) != 0;
    s.bth.ack_req = (packet.flags & wire::kAckReq) != 0;
    s.bth.p_key = 0xFFFF;
    s.bth.dest_qp = wire::Qpn(kFirstQpn + packet.dest_qp);
    s.bth.psn = wire::Psn(packet.psn);
    s.reth.dma_len = static_cast<uint32_t>(std::min<sim::ByteCount>(flow.bytes, 0xFFFFFFFF));
    s.aeth.syndrome = static_cast<uint8_t>(packet.aeth_syndrome);
    s.payload_zeros = packet.payload_bytes;
    return s;
}

void FlowCapture::write_before(sim::SimTime frontier) {
    std::ranges::stable_sort(seen_, [](const Seen& a, const Seen& b) {
        return a.time != b.time ? a.time < b.time : a.direction > b.direction;
    });
    const auto end = std::ranges::find_if(seen_, [&](const Seen& s) { return s.time >= frontier; });
    bytes_.resize(kLargestFrame);
    for (auto it = seen_.begin(); it != end; ++it) {
        const size_t size = wire::build_frame(frame_of(*it), bytes_);
        // A flipped bit behind the BTH: the ICRC is that of the undamaged frame.
        if (size > 0 && (it->packet.flags & wire::kCorrupt) != 0) bytes_[size - size / 4] ^= 1;
        writer_.append(it->time.in_ps(), std::span(bytes_).first(size));
    }
    seen_.erase(seen_.begin(), end);
}

std::string FlowCapture::close() {
    write_before(sim::SimTime::max());
    std::string problem = writer_.error();
    std::string at_close = writer_.close();
    return problem.empty() ? at_close : problem;
}

}  // namespace simverbs::scenarios::run
