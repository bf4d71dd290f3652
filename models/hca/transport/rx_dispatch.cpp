// A packet has arrived: which QP is it for, and may that QP take it?
#include "models/hca/device.hpp"
#include "models/hca/rc/rc_requester.hpp"
#include "models/hca/rc/rc_responder.hpp"
#include "models/hca/transport/header_checks.hpp"
#include "models/hca/uc/uc_responder.hpp"
#include "models/hca/ud/ud_responder.hpp"

namespace simverbs::hca {

void Device::on_packet(Port& port, wire::Packet& packet, sim::SimTime now) {
    Port& home = port.is_loopback ? port_with_leaf(packet.dest) : port;
    port.counters.rcv_bytes += port.ingress.bytes_of(packet);
    ++port.counters.rcv_packets;
    if (port.gate != nullptr) [[unlikely]]
        give_credits(port, packet, now);
    const wire::OpcodeInfo* info = wire::find_opcode(packet.opcode);
    if ((packet.flags & wire::kCorrupt) != 0) {
        ++home.counters.rcv_errors;
        ++home.hw.rx_icrc_encapsulated;
    } else if (info == nullptr || (packet.flags & wire::kTrimmed) != 0) {
        if (packet.framing == wire::kFramingRaw && (packet.flags & wire::kTrimmed) == 0)
            on_raw_frame(home, packet, now);
        else
            ++home.counters.rcv_errors;
    } else if (packet.dest == wire::kNowhere) {
        // On a cable without a switch: its DLID is none of this port's.
    } else if (packet.dest_qp == wire::kMulticastQpn.value()) {
        on_multicast(home, packet, *info, now);
    } else if (Qp* qp = find_qp(packet.dest_qp); qp != nullptr) {
        if ((packet.flags & wire::kFecn) != 0 && home.config->link_layer == LinkLayer::Ethernet)
            ++home.hw.np_ecn_marked_roce_packets;
        deliver(home, *qp, packet, *info, now);
    } else if (packet.dest_qp == 1) {
        on_mad(home, packet, *info, now);
    }
    if (packet.extra != wire::kNoExtra) pool->release(node.shard(), packet);
}

void Device::on_multicast(Port& home, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    ++home.counters.multicast_rcv_packets;
    if (packet.extra == wire::kNoExtra || info.transport != wire::Transport::Ud) return;
    const wire::PacketExtra& x = (*pool)[packet.extra];
    const auto group = mcast_members.find({x.dest_gid, home.index});
    if (group == mcast_members.end()) return;
    for (const uint32_t qpn : group->second) {
        // A sender that is a member does not hear itself.
        if (qpn == x.src_qp && x.src == home.config->leaf) continue;
        if (Qp* qp = find_qp(qpn); qp != nullptr) deliver(home, *qp, packet, info, now);
    }
}

void Device::deliver(Port& port, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    if (qp.port_index != port.index) return;
    const uint16_t pkey = packet.extra == wire::kNoExtra ? 0xFFFF : (*pool)[packet.extra].pkey;
    if (!pkeys_match(pkey, qp.pkey)) {
        ++port.counters.bad_pkey;
        return;
    }
    if (qp.destroyed) {
        if (qp.is_reliable() && info.is_request) RcResponder(*this, qp).on_request_at_tombstone(packet, now);
        return;
    }
    // A connected QP takes packets from its peer's LID alone (IBTA vol. 1, 9.6.1.5): this one's peer has lost it.
    if (qp.path.leaf == wire::kNowhere && info.transport != wire::Transport::Ud) [[unlikely]]
        return;
    switch (info.transport) {
        case wire::Transport::Rc:
        case wire::Transport::Xrc:
            if (!qp.is_reliable() || qp.transport() != info.transport) return;
            if (info.is_response == (qp.type == QpType::XrcRecv) && qp.type != QpType::Rc) return;
            if (info.is_response) {
                if (qp.sends()) RcRequester(*this, qp).on_response(packet, info, now);
            } else if (qp.receives()) {
                if ((packet.flags & wire::kFecn) != 0 && config.congestion.algorithm != nullptr) on_mark(qp, now);
                RcResponder(*this, qp).on_request(packet, info, now);
            }
            return;
        case wire::Transport::Uc:
            if (qp.type == QpType::Uc && qp.receives()) UcResponder(*this, qp).on_request(packet, info, now);
            return;
        case wire::Transport::Ud:
            if (qp.type == QpType::Ud && qp.receives()) UdResponder(*this, qp).on_datagram(port, packet, info, now);
            return;
        case wire::Transport::Cnp:
            ++port.hw.rp_cnp_handled;
            on_cnp(qp, now);
            return;
    }
}

}  // namespace simverbs::hca
