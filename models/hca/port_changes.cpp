// What changes at a port while programs run: its state, the tables that its subnet or its addresses make.
#include <algorithm>

#include "models/hca/device.hpp"

namespace simverbs::hca {

void Hca::raise_event(EventType type, uint8_t port, sim::SimTime now) {
    device_->raise(type, 0, port, now);
}

void Hca::set_port_state(uint8_t number, PortState state, sim::SimTime now) {
    Port& port = *device_->ports.at(number - 1U);
    const PortState before = port.state;
    port.state = state;
    if (before == state) return;
    const bool was_active = before == PortState::Active;
    const bool is_active = state == PortState::Active;
    if (was_active != is_active) raise_event(is_active ? EventType::PortActive : EventType::PortErr, number, now);
}

/// As the kernel's table: whoever holds the entry keeps it, nobody new gets it. The old address is nobody's from now
/// on, unless another entry of the port has it too (RoCE v1 beside v2).
void Hca::change_gid(uint8_t number, uint32_t index, const Gid& gid, sim::SimTime now) {
    HcaPortConfig& port = device_->config.ports.at(number - 1U);
    NeighbourTable* neighbours = device_->config.neighbours;
    if (port.gids.size() <= index) port.gids.resize(index + 1);
    GidEntry& entry = port.gids[index];
    const Gid old = entry.gid;
    entry.gid = gid;
    // What kind of entry a new one is, its neighbours in the table say.
    if (old == Gid{} && port.link_layer == LinkLayer::Ethernet) {
        entry.type = GidType::RoceV2;
        entry.netdev = port.gids.front().netdev;
    }
    if (neighbours != nullptr) {
        const bool is_left = std::ranges::any_of(port.gids, [&](const GidEntry& other) { return other.gid == old; });
        if (old != Gid{} && !is_left) neighbours->remove_gid(old);
        if (gid != Gid{}) {
            neighbours->add_gid(gid, {port.leaf, port.mac, port.lid});
            neighbours->set_gid_of(port.leaf, index, gid);
        }
    }
    raise_event(EventType::GidChange, number, now);
}

void Hca::change_pkey(uint8_t number, uint32_t index, uint16_t pkey, sim::SimTime now) {
    Device& d = *device_;
    HcaPortConfig& port = d.config.ports.at(number - 1U);
    if (port.pkeys.size() <= index) port.pkeys.resize(index + 1, 0);
    port.pkeys[index] = pkey;
    // Packets carry a key where there may be another than the default one.
    d.wire_detail = d.wire_detail || pkey != 0xFFFF;
    for (const auto& qp : d.qps) {
        if (qp->destroyed || qp->verbs == nullptr || qp->state == QpState::Reset) continue;
        if (qp->port_index + 1U == number && qp->verbs->attr.pkey_index == index) qp->pkey = pkey;
    }
    raise_event(EventType::PkeyChange, number, now);
}

void Hca::change_lid(uint8_t number, uint16_t lid, sim::SimTime now) {
    HcaPortConfig& port = device_->config.ports.at(number - 1U);
    port.lid = lid;
    if (NeighbourTable* neighbours = device_->config.neighbours; neighbours != nullptr)
        neighbours->move_lid({port.leaf, port.mac, lid}, 1U << port.lmc);
    raise_event(EventType::LidChange, number, now);
}

/// A QP and an address handle keep the DLID that they were given: it may have become nobody's, or somebody's again.
void Device::on_lid_change(wire::LeafId leaf, uint16_t lid, uint32_t count) {
    const auto follow = [&](Path& path) {
        const HcaPortConfig& own = config.ports[path.port_index];
        if (own.link_layer != LinkLayer::InfiniBand || path.multicast || path.dlid == 0) return;
        const bool is_here = path.dlid >= lid && path.dlid - lid < static_cast<int>(count);
        if (is_here) {
            path.leaf = leaf;
            path.path_bits = static_cast<uint8_t>(path.dlid - lid);
        } else if (path.leaf == leaf) {
            path.leaf = wire::kNowhere;
        }
        path.loopback = path.leaf == own.leaf;
    };
    for (const auto& qp : qps)
        if (!qp->destroyed) follow(qp->path);
    for (auto& [handle, ah] : ahs) follow(ah.path);
}

}  // namespace simverbs::hca
