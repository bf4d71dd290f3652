// Management datagrams: UD packets between the QPs 1 of two ports.
#include "models/hca/management.hpp"

#include "models/hca/device.hpp"
#include "models/hca/transport/request_opcode.hpp"
#include "models/wire/deth.hpp"

namespace simverbs::hca {

namespace {

constexpr uint32_t kGeneralServicesQpn = 1;
constexpr uint16_t kDefaultPkey = 0xFFFF;

}  // namespace

void Hca::set_management(ManagementAgent* agent) noexcept {
    device_->management = agent;
    device_->management_at = agent == nullptr ? sim::SimTime::max() : agent->next_time();
}

void Hca::wake_management() {
    Device& d = *device_;
    d.management_at = d.management == nullptr ? sim::SimTime::max() : d.management->next_time();
    d.wake();
}

bool Hca::send_mad(const AhAttr& to, const std::array<uint8_t, kMadBytes>& bytes, sim::SimTime now) {
    return device_->send_mad(to, bytes, now);
}

bool Device::send_mad(const AhAttr& to, const std::array<uint8_t, kMadBytes>& bytes, sim::SimTime now) {
    Path path;
    const ControlContext nobody{0, now, nullptr};
    if (mover == nullptr ||
        resolve_path(nobody, to, to.port_num, kGeneralServicesQpn, kGeneralServicesQpn, path) != 0 || path.multicast)
        return false;
    TxEntry entry;
    entry.kind = TxKind::Management;
    entry.packet = packet_on(path, kGeneralServicesQpn, kDefaultPkey,
                             request_opcode(wire::Transport::Ud, WrOpcode::Send, wire::Position::Only), mad_psn);
    mad_psn = mad_psn.next();
    wire::PacketExtra& x = extra_of(entry.packet, path, kDefaultPkey);
    x.qkey = wire::kGeneralServicesQKey;
    x.src_qp = kGeneralServicesQpn;
    const wire::StreamId stream = mover->open_bytes(bytes);
    attach_payload(entry.packet, path, kDefaultPkey, stream, 0, kMadBytes);
    mover->release(stream);
    enqueue(port_of(path), entry, 0, now);
    return true;
}

void Device::on_mad(Port& home, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    if (management == nullptr || packet.extra == wire::kNoExtra || info.transport != wire::Transport::Ud) return;
    const wire::PacketExtra& x = (*pool)[packet.extra];
    if (x.qkey != wire::kGeneralServicesQKey) {
        ++home.counters.qkey_violations;
        return;
    }
    if (packet.payload_bytes != kMadBytes) return;
    ReceivedMad mad;
    if (!mover->peek(x.payload.stream, x.payload.offset, mad.bytes)) return;
    mad.port = static_cast<uint8_t>(home.index + 1);
    mad.has_grh = home.config->link_layer == LinkLayer::Ethernet || x.has_grh;
    mad.dgid = x.dest_gid;
    mad.sl = static_cast<uint8_t>(packet.priority);
    mad.src_qp = x.src_qp;
    if (config.neighbours != nullptr) {
        mad.sgid = config.neighbours->gid_of(x.src, x.src_gid_index);
        if (const Neighbour* sender = config.neighbours->find_leaf(x.src); sender != nullptr) mad.slid = sender->lid;
    }
    management->on_mad(mad, now);
    management_at = management->next_time();
}

}  // namespace simverbs::hca
