#include "models/hca/device.hpp"

namespace simverbs::hca {

wire::Packet Device::bare_packet(const Path& path, uint32_t dest_qpn, uint8_t opcode, wire::Psn psn) const {
    wire::Packet p;
    p.dest = path.leaf & 0x3FFFF;
    p.framing = path.framing & 3U;
    p.priority = path.priority & 0xFU;
    p.ttl = path.hop_limit;
    p.dest_qp = dest_qpn & 0xFFFFFF;
    p.opcode = opcode;
    p.psn = psn.value();
    p.flags = wire::kMigReq;
    if (ports[path.port_index]->config->link_layer == LinkLayer::Ethernet) p.flags |= wire::kEcnCapable;
    p.aeth_msn = 0;
    p.aeth_syndrome = 0;
    p.extra = wire::kNoExtra;
    p.payload_bytes = 0;
    p.flow_hash = path.flow_hash;
    return p;
}

wire::Packet Device::packet_on(const Path& path, uint32_t dest_qpn, uint16_t pkey, uint8_t opcode, wire::Psn psn) {
    wire::Packet p = bare_packet(path, dest_qpn, opcode, psn);
    if (needs_addresses(pkey)) extra_of(p, path, pkey);
    return p;
}

wire::Packet Device::packet_for(const Qp& qp, const Path& path, uint8_t opcode, wire::Psn psn) {
    wire::Packet p = bare_packet(path, qp.dest_qpn, opcode, psn);
    if (needs_addresses(qp.pkey)) {
        wire::PacketExtra& x = extra_of(p, path, qp.pkey);
        x.src_qp = qp.qpn;
        x.is_retransmission =
            qp.is_reliable() && wire::find_opcode(opcode)->is_request && wire::Psn::distance(qp.rq.high_psn, psn) < 0;
    }
    return p;
}

wire::PacketExtra& Device::extra_of(wire::Packet& packet, const Path& path, uint16_t pkey) {
    if (packet.extra != wire::kNoExtra) return (*pool)[packet.extra];
    packet.extra = pool->allocate(node.shard());
    if (pool->carries_int()) pool->int_stack(packet.extra).count = 0;  // no use is made of it
    wire::PacketExtra& x = (*pool)[packet.extra];
    x.src = ports[path.port_index]->config->leaf;
    x.flow_label = path.flow_label;
    x.src_gid_index = path.sgid_index;
    x.pkey = pkey;
    x.traffic_class = path.traffic_class;
    x.hop_limit = path.hop_limit;
    x.dest_path_bits = path.path_bits;
    x.has_grh = path.has_grh;
    x.dest_gid = path.dgid;
    return x;
}

void Device::attach_payload(wire::Packet& packet, const Path& path, uint16_t pkey, wire::StreamId stream,
                            uint64_t offset, uint32_t length) {
    packet.payload_bytes = static_cast<uint16_t>(length);
    if (stream == wire::kNoStream || length == 0) return;
    wire::PacketExtra& x = extra_of(packet, path, pkey);
    x.payload = {stream, length, offset};
    mover->hold(stream);
}

void Device::write_payload(const wire::PayloadRef& payload, uint64_t skip, uint64_t length, host::AddressSpaceId space,
                           uint64_t va, bool part, sim::SimTime visible_at) {
    if (space == host::kNullSpace) return;
    if (payload.stream != wire::kNoStream && mover != nullptr)
        mover->dma_write(payload.stream, payload.offset + skip, length, space, va, visible_at);
    if (sink != nullptr && !watched.empty() && watched.contains(space))
        sink->on_memory_written(space, va, length, part, visible_at);
}

}  // namespace simverbs::hca
