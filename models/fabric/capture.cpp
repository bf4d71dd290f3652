#include "models/fabric/capture.hpp"

#include <algorithm>

#include "models/link/packet_bytes.hpp"
#include "models/wire/opcode_table.hpp"
#include "sim/check.hpp"

namespace simverbs::fabric {

namespace {
constexpr size_t kLargestFrame = 4096 + 256;
}  // namespace

std::string PortCapture::open(const std::string& path) {
    const wire::LinkType link =
        port_.link_layer == hca::LinkLayer::InfiniBand ? wire::LinkType::InfiniBandLocal : wire::LinkType::RoceV2Ipv4;
    return writer_.open(path, wire::pcap_link_type_of(link));
}

void PortCapture::on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) {
    if (packet.extra == wire::kNoExtra) return;  // traffic that has lengths only, from before the capture
    const wire::PacketExtra& x = pool_[packet.extra];
    if (packet.framing == wire::kFramingRaw) return add_raw(time, packet, x, direction);
    wire::FrameSpec spec = spec_of(packet, direction);
    add_transport_headers(spec, packet, x);
    payload_.clear();
    if (x.payload.stream != wire::kNoStream && mover_ != nullptr) {
        payload_.resize(packet.payload_bytes);
        if (!mover_->peek(x.payload.stream, x.payload.offset, payload_)) payload_.assign(packet.payload_bytes, 0);
        spec.payload = payload_;
    } else {
        spec.payload_zeros = packet.payload_bytes;
    }
    if (direction == link::Direction::In) time = ingress_.tail_time(packet) - rx_pipeline_;
    Frame frame{time, direction, static_cast<uint32_t>(bytes_.size()), 0};
    bytes_.resize(bytes_.size() + kLargestFrame);
    const std::span out(bytes_.data() + frame.begin, kLargestFrame);
    frame.size = static_cast<uint32_t>(wire::build_frame(spec, out));
    bytes_.resize(frame.begin + frame.size);
    if (frame.size > 0 && (packet.flags & wire::kCorrupt) != 0) {
        // A flipped bit behind the BTH: the ICRC in the frame is that of the undamaged one.
        bytes_[frame.begin + frame.size - frame.size / 4] ^= 1;
    }
    frames_.push_back(frame);
}

void PortCapture::add_raw(sim::SimTime time, const wire::Packet& packet, const wire::PacketExtra& x,
                          link::Direction direction) {
    if (direction == link::Direction::In) time = ingress_.tail_time(packet) - rx_pipeline_;
    const Frame frame{time, direction, static_cast<uint32_t>(bytes_.size()),
                      std::max(uint32_t{packet.payload_bytes}, static_cast<uint32_t>(wire::kMinEthernetBytes))};
    bytes_.resize(bytes_.size() + frame.size, 0);
    const std::span out(bytes_.data() + frame.begin, packet.payload_bytes);
    if (x.payload.stream != wire::kNoStream && mover_ != nullptr)
        (void)mover_->peek(x.payload.stream, x.payload.offset, out);
    frames_.push_back(frame);
}

wire::FrameSpec PortCapture::spec_of(const wire::Packet& packet, link::Direction direction) const {
    const wire::PacketExtra& x = pool_[packet.extra];
    wire::FrameSpec s;
    const auto layer =
        port_.link_layer == hca::LinkLayer::InfiniBand ? link::LinkLayer::InfiniBand : link::LinkLayer::Ethernet;
    s.link = link::link_type(layer, packet.framing);
    const hca::Neighbour* from = neighbours_.find_leaf(x.src);
    const hca::Neighbour* to = neighbours_.find_leaf(packet.dest);
    if (from != nullptr) {
        s.source_mac = from->mac;
        s.source_lid = from->lid;
    }
    if (to != nullptr) {
        s.destination_mac = to->mac;
        s.destination_lid = static_cast<uint16_t>(to->lid + x.dest_path_bits);
    }
    s.source_gid.bytes = neighbours_.gid_of(x.src, x.src_gid_index);
    s.destination_gid.bytes = x.dest_gid;
    if (s.destination_gid.is_multicast()) {
        s.destination_mac = s.destination_gid.is_ipv4_mapped() ? wire::mac_of_ipv4_multicast(s.destination_gid.ipv4())
                                                               : wire::mac_of_ipv6_multicast(s.destination_gid.bytes);
        constexpr uint16_t kFirstMulticastLid = 0xC000;
        s.destination_lid = kFirstMulticastLid;
    }
    s.udp_source_port = packet.flow_hash;
    s.flow_label = x.flow_label;
    s.traffic_class = x.traffic_class;
    if (layer == link::LinkLayer::InfiniBand) {
        s.sl = static_cast<uint8_t>(packet.priority);
        s.vl = (direction == link::Direction::Out ? port_.classes : port_.peer_classes)[packet.priority];
    }
    // Both ends of a cable are in one VLAN; tagged packets ask for a PCP.
    if (port_.vlan) s.vlan = wire::VlanTag{static_cast<uint8_t>(packet.priority & 7), false, *port_.vlan, 0};
    const bool marked = (packet.flags & wire::kFecn) != 0;
    if (layer == link::LinkLayer::Ethernet && (packet.flags & wire::kEcnCapable) != 0)
        s.ecn = marked ? wire::Ecn::Ce : wire::Ecn::Ect0;
    s.hop_limit = direction == link::Direction::In ? static_cast<uint8_t>(packet.ttl) : x.hop_limit;
    s.bth.fecn = layer == link::LinkLayer::InfiniBand && marked;
    return s;
}

void PortCapture::add_transport_headers(wire::FrameSpec& s, const wire::Packet& packet,
                                        const wire::PacketExtra& x) const {
    s.bth.opcode = static_cast<uint8_t>(packet.opcode);
    s.bth.se = (packet.flags & wire::kSolicited) != 0;
    s.bth.mig_req = (packet.flags & wire::kMigReq) != 0;
    s.bth.ack_req = (packet.flags & wire::kAckReq) != 0;
    s.bth.becn = (packet.flags & wire::kBecn) != 0;
    s.bth.p_key = x.pkey;
    s.bth.dest_qp = wire::Qpn(packet.dest_qp);
    s.bth.psn = wire::Psn(packet.psn);
    s.aeth.syndrome = static_cast<uint8_t>(packet.aeth_syndrome);
    s.aeth.msn = packet.aeth_msn;
    s.reth.va = x.vaddr;
    s.reth.r_key = x.rkey;
    s.reth.dma_len = x.dma_length;
    s.atomic_eth.va = x.vaddr;
    s.atomic_eth.r_key = x.rkey;
    s.atomic_eth.swap_or_add = x.swap_or_add;
    s.atomic_eth.compare = x.compare;
    s.atomic_ack_eth.orig_rem_data = x.compare;
    s.deth.q_key = x.qkey;
    s.deth.src_qp = wire::Qpn(x.src_qp);
    s.imm_dt.imm_data = __builtin_bswap32(x.imm_or_inv_rkey);
    s.ieth.r_key = x.imm_or_inv_rkey;
    s.xrceth.xrc_srq = x.xrc_srq;
}

std::string PortCapture::flush(sim::SimTime frontier) {
    // A received frame is seen only when the receive pipeline is behind it.
    return write_before(frontier - rx_pipeline_);
}

std::string PortCapture::write_before(sim::SimTime until) {
    // Out frames come in order, In frames too; their tails only shift them a little.
    std::ranges::stable_sort(frames_, [](const Frame& a, const Frame& b) {
        return a.time != b.time ? a.time < b.time : a.direction > b.direction;
    });
    const auto end = std::ranges::find_if(frames_, [&](const Frame& f) { return f.time >= until; });
    if (end != frames_.begin()) {
        SIM_CHECK(frames_.front().time >= written_until_, frames_.front().time, written_until_);
        written_until_ = std::prev(end)->time;
    }
    for (auto it = frames_.begin(); it != end; ++it)
        writer_.append(it->time.in_ps(), std::span(bytes_.data() + it->begin, it->size));
    frames_.erase(frames_.begin(), end);
    std::vector<uint8_t> kept;
    for (Frame& f : frames_) {
        const auto begin = static_cast<uint32_t>(kept.size());
        kept.insert(kept.end(), bytes_.begin() + f.begin, bytes_.begin() + f.begin + f.size);
        f.begin = begin;
    }
    bytes_.swap(kept);
    return writer_.flush();
}

std::string PortCapture::close() {
    std::string problem = write_before(sim::SimTime::max());
    std::string at_close = writer_.close();
    return problem.empty() ? at_close : problem;
}

}  // namespace simverbs::fabric
