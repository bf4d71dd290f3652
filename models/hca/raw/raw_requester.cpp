#include "models/hca/raw/raw_frame.hpp"

namespace simverbs::hca {

Pull RawRequester::pull(sim::SimTime now) {
    if (!d_.may_begin_datagram(qp_, now)) return Pull::Nothing;
    Message& m = qp_.message(r_.cur);
    const Device::LocalFault fault = prepare(m);
    if (fault.check != Check::None) {
        d_.close_message(m);
        d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check), now);
        return Pull::Nothing;
    }
    m.started = true;
    m.responses = 0;
    m.packets = 1;
    d_.charge_message(qp_, now);
    const auto receivers = receivers_of(m);
    for (size_t i = 0; i < receivers.size(); ++i) send_copy(m, receivers[i], i + 1 == receivers.size(), now);
    d_.close_message(m);
    const uint32_t number = r_.cur++;
    // To nobody: the frame is gone, which is a success.
    if (receivers.empty()) d_.on_unreliable_sent(qp_, number, now);
    return Pull::Packet;
}

Device::LocalFault RawRequester::prepare(Message& m) {
    if (m.length < kEthernetHeaderBytes ||
        m.length > d_.ports[qp_.port_index]->config->ethernet_mtu + kEthernetHeaderBytes)
        return {Check::LocalLength, 0, m.length, 0};
    const auto fault = d_.open_message(qp_, m, r_.cur, 0);
    if (fault.check != Check::None || m.stream == wire::kNoStream) return fault;
    if ((m.send_flags & kInline) == 0 && !d_.mover->dma_read(m.stream, m.length))
        return {Check::LocalMemory, 0, m.length, 0};
    return {};
}

std::vector<wire::LeafId> RawRequester::receivers_of(const Message& m) const {
    wire::MacAddress to;
    const NeighbourTable* const neighbours = d_.config.neighbours;
    if (neighbours == nullptr || m.stream == wire::kNoStream || !d_.mover->peek(m.stream, 0, to.bytes)) return {};
    const Neighbour* const found = neighbours->find_mac(to);
    if (found != nullptr) return {found->leaf};
    // An adapter hears its own groups' frames; switches flood these, and what is nobody's.
    const wire::LeafId own = d_.ports[qp_.port_index]->config->leaf;
    auto all = neighbours->ports();
    if (neighbours->flood_dest()) all = {own, *neighbours->flood_dest()};
    if (!to.is_multicast()) std::erase(all, own);
    return all;
}

void RawRequester::send_copy(const Message& m, wire::LeafId to, bool last, sim::SimTime now) {
    const Port& own = *d_.ports[qp_.port_index];
    Path path;
    path.port_index = qp_.port_index;
    path.framing = wire::kFramingRaw;
    path.priority = own.config->priority;
    path.leaf = to;
    path.loopback = to == own.config->leaf;
    TxEntry entry;
    entry.qp_slot = qp_.slot;
    entry.message = r_.cur;
    entry.completes = last;
    entry.not_before = d_.next_message_at;
    entry.packet = d_.packet_on(path, 0, 0xFFFF, wire::raw_opcode(static_cast<uint32_t>(m.length)), wire::Psn(0));
    entry.packet.flags = 0;
    d_.extra_of(entry.packet, path, 0xFFFF).src_qp = qp_.qpn;
    d_.attach_payload(entry.packet, path, 0xFFFF, m.stream, 0, m.length);
    if (d_.host_port.has_complex()) [[unlikely]]
        d_.aim_at_source(qp_, r_.cur, 0);
    d_.enqueue(d_.port_of(path), entry, (m.send_flags & kInline) != 0 ? 0 : m.length, now);
}

}  // namespace simverbs::hca
