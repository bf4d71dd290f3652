#include "models/hca/ud/ud_responder.hpp"

#include "models/wire/bth.hpp"
#include "models/wire/deth.hpp"
#include "models/wire/frame_overhead.hpp"
#include "models/wire/grh.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/udp_header.hpp"

namespace simverbs::hca {

namespace {

/// What the CQE says: the service level, or on Ethernet in its place which headers the datagram had. A GRH alone is 0.
/// Source: NVIDIA mlx5 PRM, CQE of a responder; libmlx5 hands it on as `sl`, and UCX finds the destination GID by it.
enum HeaderType : uint8_t { kIpv6Header = 1, kIpv4Header = 2, kUdpHeader = 8 };

uint8_t service_level_of(const Port& port, const wire::Packet& packet) noexcept {
    if (port.config->link_layer == LinkLayer::InfiniBand) return static_cast<uint8_t>(packet.priority);
    if (packet.framing == wire::kFramingRoceV1) return 0;
    return kUdpHeader | (packet.framing == wire::kFramingIpv6 ? kIpv6Header : kIpv4Header);
}

}  // namespace

void UdResponder::on_datagram(Port& port, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    if (packet.extra == wire::kNoExtra) return;
    const wire::PacketExtra& x = (*d_.pool)[packet.extra];
    if (x.qkey != qp_.qkey) {
        ++port.counters.qkey_violations;
        return;
    }
    if (!d_.take_receive(qp_, now)) return;
    const uint64_t bytes = kGrhAreaBytes + uint64_t{packet.payload_bytes};
    const CurrentReceive& c = qp_.verbs->receive;
    Device::LocalFault fault;
    std::array<uint8_t, kGrhAreaBytes> grh{};
    const bool has_grh = make_grh_area(port, packet, grh);
    if (bytes > c.capacity) {
        fault = {Check::ReceiveTooSmall, 0, bytes, 0};
    } else {
        if (d_.host_port.has_complex()) [[unlikely]]
            d_.aim_at(c.sges, 0);
        const sim::SimTime visible = d_.host_port.post_write(now, static_cast<uint32_t>(bytes));
        const uint32_t pd = qp_.verbs->srq != nullptr ? qp_.verbs->srq->pd : qp_.pd;
        fault = d_.scatter(pd, c.sges, kGrhAreaBytes, packet, visible);
        if (fault.check == Check::None && has_grh) fault = d_.scatter_bytes(pd, c.sges, grh, visible);
    }
    if (fault.check != Check::None) {
        Incident incident = d_.incident_of(qp_, fault.check, packet, now);
        incident.va = fault.va;
        incident.length = fault.length;
        incident.key = fault.key;
        incident.status = d_.receive_status_of(fault.check);
        d_.fail_receive(qp_, incident, std::nullopt, now);
        return;
    }
    Cqe cqe;
    cqe.opcode = WcOpcode::Recv;
    cqe.byte_len = static_cast<uint32_t>(bytes);
    cqe.src_qp = x.src_qp;
    cqe.solicited = (packet.flags & wire::kSolicited) != 0;
    cqe.sl = service_level_of(port, packet);
    if (has_grh) cqe.wc_flags |= kWcGrh;
    if (info.has_imm_dt) {
        cqe.wc_flags |= kWcWithImm;
        cqe.imm_or_rkey = x.imm_or_inv_rkey;
    }
    if (port.config->link_layer == LinkLayer::InfiniBand && d_.config.neighbours != nullptr) {
        const Neighbour* sender = d_.config.neighbours->find_leaf(x.src);
        if (sender != nullptr) cqe.slid = sender->lid;
        cqe.dlid_path_bits = x.dest_path_bits;
    }
    d_.complete_receive(qp_, cqe, now);
}

bool UdResponder::make_grh_area(const Port& port, const wire::Packet& packet,
                                std::span<uint8_t, kGrhAreaBytes> out) const {
    const wire::PacketExtra& x = (*d_.pool)[packet.extra];
    const bool infiniband = port.config->link_layer == LinkLayer::InfiniBand;
    if (infiniband && !x.has_grh) return false;
    wire::Gid source, destination;
    destination.bytes = x.dest_gid;
    if (d_.config.neighbours != nullptr) source.bytes = d_.config.neighbours->gid_of(x.src, x.src_gid_index);
    const auto transport_bytes = static_cast<uint16_t>(wire::Bth::size + wire::Deth::size +
                                                       ((packet.payload_bytes + 3U) & ~3U) + wire::kIcrcBytes);
    const auto hops = static_cast<uint8_t>(packet.ttl);
    if (!infiniband && packet.framing == wire::kFramingBasic) {
        // The first 20 bytes are undefined.
        wire::Ipv4Header ip;
        ip.source = source.ipv4();
        ip.destination = destination.ipv4();
        ip.tos = x.traffic_class;
        ip.ttl = hops;
        ip.total_length = static_cast<uint16_t>(wire::Ipv4Header::size + wire::UdpHeader::size + transport_bytes);
        ip.set_checksum();
        ip.encode(out.subspan(20));
        return true;
    }
    wire::Grh grh;
    grh.t_class = x.traffic_class;
    grh.flow_label = x.flow_label;
    grh.pay_len = transport_bytes;
    grh.hop_lmt = hops;
    grh.sgid = source;
    grh.dgid = destination;
    grh.encode(out);
    return true;
}

}  // namespace simverbs::hca
