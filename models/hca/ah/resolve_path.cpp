// Address vectors: the rules of each link layer, and where the packets go.
#include "models/hca/ah/choose_service.hpp"
#include "models/hca/device.hpp"
#include "models/wire/gid.hpp"
#include "models/wire/roce_udp_port.hpp"

namespace simverbs::hca {

namespace {

int resolve_infiniband(Device& d, const ControlContext& by, const AhAttr& ah, const HcaPortConfig& port, Path& out) {
    const Neighbour* n = nullptr;
    constexpr uint16_t kFirstMulticastLid = 0xC000, kPermissiveLid = 0xFFFF;
    out.has_grh = ah.is_global;
    out.framing = ah.is_global ? wire::kFramingIpv6 : wire::kFramingBasic;
    out.priority = ah.sl & 0xF;
    out.multicast = ah.dlid >= kFirstMulticastLid && ah.dlid != kPermissiveLid;
    if (out.multicast) {
        out.leaf = port.leaf;
        return 0;
    }
    if (d.config.neighbours != nullptr) n = d.config.neighbours->find_lid(ah.dlid);
    if (n == nullptr)
        return refuse(by, EINVAL, Rule::LidUnreachable, [&](Explanation& e) {
            e.attribute = "ah_attr.dlid";
            e.given = std::to_string(ah.dlid);
            e.required = "the LID of a port of this fabric";
            e.advice = "exchange LIDs out of band: ibv_query_port gives the own one";
        });
    out.leaf = n->leaf;
    out.path_bits = static_cast<uint8_t>(ah.dlid - n->lid);
    return 0;
}

int resolve_ethernet(Device& d, const ControlContext& by, const AhAttr& ah, const HcaPortConfig& port, Path& out) {
    const GidType type = port.gids[ah.sgid_index].type;
    wire::Gid dgid;
    dgid.bytes = ah.dgid;
    out.has_grh = true;
    out.framing = type == GidType::RoceV1 ? wire::kFramingRoceV1
                  : dgid.is_ipv4_mapped() ? wire::kFramingBasic
                                          : wire::kFramingIpv6;
    const ChosenService service = choose_service(port, ah.sl, ah.traffic_class, type);
    out.priority = service.number;
    out.traffic_class = service.traffic_class;
    out.multicast = dgid.is_multicast();
    if (dgid.is_zero())
        return refuse(by, EINVAL, Rule::GidUnreachable, [](Explanation& e) {
            e.attribute = "ah_attr.grh.dgid";
            e.given = "0";
            e.required = "the peer's GID";
        });
    if (out.multicast) return 0;
    const Neighbour* n = d.config.neighbours != nullptr ? d.config.neighbours->find_gid(ah.dgid) : nullptr;
    if (n == nullptr)
        return refuse(by, ETIMEDOUT, Rule::GidUnreachable, [&](Explanation& e) {
            e.attribute = "ah_attr.grh.dgid";
            e.given = wire::to_string(dgid);
            e.required = "the GID of a port of this fabric";
            e.advice = "exchange GIDs out of band: ibv_query_gid gives the own ones";
        });
    out.leaf = n->leaf;
    return 0;
}

}  // namespace

int Device::resolve_path(const ControlContext& by, const AhAttr& ah, uint8_t port_num, uint32_t local_qpn,
                         uint32_t remote_qpn, Path& out) {
    out = Path{};
    if (port_num < 1 || port_num > config.ports.size())
        return refuse(by, EINVAL, Rule::AttributeOutOfRange, [&](Explanation& e) {
            e.attribute = "ah_attr.port_num";
            e.required = "1 to " + std::to_string(config.ports.size());
            e.given = std::to_string(port_num);
        });
    const HcaPortConfig& port = config.ports[port_num - 1];
    const bool ethernet = port.link_layer == LinkLayer::Ethernet;
    if (ethernet && !ah.is_global)
        return refuse(by, EINVAL, Rule::GrhRequired, [](Explanation& e) {
            e.attribute = "ah_attr.is_global";
            e.required = "1, with grh.dgid and grh.sgid_index: RoCE addresses by GID";
            e.given = "0";
            e.advice = "set is_global = 1 and fill in grh (e.g. the -g option of ibv_rc_pingpong)";
        });
    // The table is as long as an 8-bit index reaches: an entry that is not configured is empty.
    const bool is_empty = ah.sgid_index >= port.gids.size() || port.gids[ah.sgid_index].gid == Gid{};
    if (ah.is_global && is_empty) {
        return refuse(by, ENODATA, Rule::GidIndexInvalid, [&](Explanation& e) {
            e.attribute = "ah_attr.grh.sgid_index";
            e.required = "an entry of the port's GID table, 0 to " + std::to_string(port.gids.size() - 1);
            if (ah.sgid_index < port.gids.size()) e.required += "; this one has been removed";
            e.given = std::to_string(ah.sgid_index);
            e.advice = "show_gids or ibv_devinfo -v list the entries";
        });
    }
    out.port_index = static_cast<uint8_t>(port_num - 1);
    out.sl = ah.sl;
    out.dlid = ah.dlid;
    out.dgid = ah.dgid;
    out.sgid_index = ah.sgid_index;
    out.traffic_class = ah.traffic_class;
    out.flow_label = ah.flow_label & 0xFFFFF;
    constexpr uint8_t kDefaultHops = 64;
    out.hop_limit = ah.is_global && ah.hop_limit != 0 ? ah.hop_limit : kDefaultHops;
    out.flow_hash = wire::roce_udp_source_port(out.flow_label, wire::Qpn(local_qpn), wire::Qpn(remote_qpn));
    const int error =
        ethernet ? resolve_ethernet(*this, by, ah, port, out) : resolve_infiniband(*this, by, ah, port, out);
    if (error != 0) return error;
    out.loopback = !out.multicast && out.leaf == port.leaf;
    return 0;
}

Result<AhHandle> Hca::create_ah(const ControlContext& by, PdHandle pd_handle, const AhAttr& attr) {
    Device& d = *device_;
    Pd* pd = d.find_pd(by, pd_handle);
    if (pd == nullptr) return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "pd"; }), 0};
    Ah ah{by.owner, pd_handle, {}};
    if (const int error = d.resolve_path(by, attr, attr.port_num, d.next_ah, attr.dlid, ah.path); error != 0)
        return {error, 0};
    ++pd->users;
    const AhHandle handle = d.next_ah++;
    d.ahs.emplace(handle, ah);
    return {0, handle};
}

int Hca::destroy_ah(const ControlContext& by, AhHandle handle) {
    Device& d = *device_;
    const auto it = d.ahs.find(handle);
    if (it == d.ahs.end() || it->second.owner != by.owner)
        return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "ah"; });
    --d.pds[it->second.pd].users;
    d.ahs.erase(it);
    return 0;
}

}  // namespace simverbs::hca
