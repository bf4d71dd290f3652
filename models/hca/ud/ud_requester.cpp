#include "models/hca/ud/ud_requester.hpp"

#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

Pull UdRequester::pull(sim::SimTime now) {
    if (!d_.may_begin_datagram(qp_, now)) return Pull::Nothing;
    Message& m = qp_.message(r_.cur);
    const SendWqe& w = qp_.verbs->wqes[r_.cur & qp_.message_mask];
    const auto ah = d_.ahs.find(w.ah);
    Device::LocalFault fault;
    const bool is_long = m.length > bytes_of(d_.ports[qp_.port_index]->config->active_mtu);
    if (is_long && d_.profile.behaviour.refuses_long_datagrams)
        fault = {Check::LocalLength, 0, m.length, 0};
    else if (ah == d_.ahs.end() || ah->second.pd != qp_.pd)
        fault = {Check::LocalOperation, 0, m.length, 0};
    else
        fault = d_.open_message(qp_, m, r_.cur, 0);
    if (fault.check == Check::None && m.stream != wire::kNoStream && (m.send_flags & kInline) == 0 &&
        !d_.mover->dma_read(m.stream, m.length)) {
        d_.close_message(m);
        fault = {Check::LocalMemory, 0, m.length, 0};
    }
    if (fault.check != Check::None) {
        d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check), now);
        return Pull::Nothing;
    }
    m.started = true;
    m.responses = 0;
    m.packets = 1;
    m.first_psn = r_.next_psn;
    d_.charge_message(qp_, now);
    if (is_long)
        multicast_copies_ = 0;  // it goes nowhere, and nobody is told
    else if (ah->second.path.multicast)
        send_multicast(m, w, ah->second.path, now);
    else
        send_copy(m, w, ah->second.path, true, now);
    d_.close_message(m);
    r_.next_psn = r_.next_psn.next();
    const uint32_t number = r_.cur++;
    // A group without members: the datagram is gone, which is a success.
    if (multicast_copies_ == 0) d_.on_unreliable_sent(qp_, number, now);
    return Pull::Packet;
}

void UdRequester::send_multicast(const Message& m, const SendWqe& w, const Path& path, sim::SimTime now) {
    multicast_copies_ = 0;
    const NeighbourTable::Group* group =
        d_.config.neighbours == nullptr ? nullptr : d_.config.neighbours->find_group(path.dgid);
    if (group == nullptr) return;
    const wire::LeafId own = d_.ports[qp_.port_index]->config->leaf;
    std::vector<wire::LeafId> dests;
    const bool hears_itself = group->members.contains(own);
    if (hears_itself) dests.push_back(own);
    if (group->dest && group->members.size() > (hears_itself ? 1U : 0U)) {
        dests.push_back(*group->dest);
    } else if (!group->dest) {
        for (const auto& [leaf, times] : group->members)
            if (leaf != own) dests.push_back(leaf);
    }
    for (const wire::LeafId dest : dests) {
        Path copy = path;
        copy.leaf = dest;
        copy.loopback = dest == own;
        send_copy(m, w, copy, ++multicast_copies_ == dests.size(), now);
    }
}

void UdRequester::send_copy(const Message& m, const SendWqe& w, const Path& path, bool last, sim::SimTime now) {
    TxEntry entry;
    entry.qp_slot = qp_.slot;
    entry.message = r_.cur;
    entry.completes = last;
    entry.not_before = d_.next_message_at;
    const uint8_t opcode = request_opcode(wire::Transport::Ud, m.opcode, wire::Position::Only);
    entry.packet = d_.packet_for(qp_, path, opcode, r_.next_psn);
    entry.packet.dest_qp = (path.multicast ? wire::kMulticastQpn.value() : w.remote_qpn) & 0xFFFFFF;
    wire::PacketExtra& x = d_.extra_of(entry.packet, path, qp_.pkey);
    // A Q_Key with the top bit set means the QP's own. Source: IBTA vol. 1, "Q_Key".
    x.qkey = (w.remote_qkey & 0x80000000U) != 0 ? qp_.qkey : w.remote_qkey;
    x.src_qp = qp_.qpn;
    x.imm_or_inv_rkey = w.imm_or_rkey;
    d_.attach_payload(entry.packet, path, qp_.pkey, m.stream, 0, m.length);
    if ((m.send_flags & kSolicitedWr) != 0) entry.packet.flags |= wire::kSolicited;
    Port& port = d_.port_of(path);
    if (path.multicast) ++port.counters.multicast_xmit_packets;
    if (d_.host_port.has_complex()) [[unlikely]]
        d_.aim_at_source(qp_, r_.cur, 0);
    d_.enqueue(port, entry, (m.send_flags & kInline) != 0 ? 0 : m.length, now);
}

}  // namespace simverbs::hca
