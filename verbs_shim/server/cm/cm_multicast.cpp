// Multicast groups: rdma_join_multicast and rdma_leave_multicast.
#include <algorithm>
#include <cerrno>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/ibv_translate.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

namespace {

/// The SA's answer; on RoCE, the work queue.
constexpr sim::SimTime kJoinTime = sim::SimTime::us(30);
constexpr uint16_t kFirstMulticastLid = 0xC000;

}  // namespace

/// The group's GID: RoCE v2 takes the address itself; on InfiniBand it is mapped as IPoIB does, with the signature of
/// rdma_cm in the port space of UDP (drivers/infiniband/core/cma.c).
hca::Gid RdmaCm::group_of(const Client& client, const CmId& id, const CmAddress& address) {
    const auto& port = agent_of(client, id)->adapter().config().ports[std::max<uint8_t>(id.port_num, 1) - 1U];
    if (port.link_layer == hca::LinkLayer::Ethernet) {
        hca::Gid group = address.ip;
        if (address.family == AF_INET) std::fill_n(group.begin() + 10, 2, uint8_t{0xFF});
        return group;
    }
    if (address.family == AF_INET6 && address.ip[0] == 0xFF && address.ip[1] == 0x12) return address.ip;
    constexpr uint8_t kIpv4Signature[] = {0x40, 0x1B}, kIpv6Signature[] = {0x60, 0x1B};
    const bool v4 = address.family == AF_INET;
    hca::Gid group{0xFF, 0x12};
    std::copy_n(v4 ? kIpv4Signature : kIpv6Signature, 2, group.begin() + 2);
    group[4] = group[5] = 0xFF;  // P_Key
    if (id.space == cm::PortSpace::Udp) group[3] = 0x01;
    std::copy(address.ip.begin() + (v4 ? 12 : 6), address.ip.end(), group.begin() + (v4 ? 12 : 6));
    if (v4) group[12] &= 0x0F;
    return group;
}

int RdmaCm::join_ip_multicast(Command& c) {
    rdma_ucm_join_ip_mcast cmd;
    // The struct's padding is not sent.
    (void)c.read(cmd);
    if (c.in.size() < offsetof(rdma_ucm_join_ip_mcast, id) + sizeof cmd.id) return EINVAL;
    const auto address = read_address(&cmd.addr, sizeof cmd.addr);
    return address ? join(c, cmd.id, cmd.uid, *address) : EINVAL;
}

int RdmaCm::join_multicast(Command& c) {
    rdma_ucm_join_mcast cmd;
    if (!c.read(cmd) || cmd.addr_size == 0 || cmd.addr_size > sizeof cmd.addr) return EINVAL;
    if (cmd.join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) return EINVAL;
    const auto address = read_address(&cmd.addr, cmd.addr_size);
    return address ? join(c, cmd.id, cmd.uid, *address) : EAFNOSUPPORT;
}

int RdmaCm::join(Command& c, uint32_t handle, uint64_t uid, const CmAddress& address) {
    CmId* id = nullptr;
    if (const int error = find(c, handle, id)) return error;
    if (c.room < sizeof(rdma_ucm_create_id_resp)) return ENOSPC;
    if (id->qp_type != hca::QpType::Ud || id->nic < 0) return EINVAL;
    if (id->state != IdState::AddrBound && id->state != IdState::AddrResolved) return EINVAL;
    if (!address.is_multicast() && !address.is_any()) return EINVAL;
    CmMulticast m;
    m.id = ++last_id_;
    m.uid = uid;
    m.address = address;
    id->multicasts.push_back(m);
    (void)set_timer(c.client, *id, TimerKind::Joined, c.now + kJoinTime, m.id);
    return c.reply(rdma_ucm_create_id_resp{m.id});
}

void RdmaCm::on_joined(Client& client, CmId& id, uint32_t multicast, sim::SimTime now) {
    const auto m = std::ranges::find(id.multicasts, multicast, &CmMulticast::id);
    if (m == id.multicasts.end()) return;
    hca::AhAttr ah;
    ah.is_global = true;
    ah.dgid = group_of(client, id, m->address);
    ah.port_num = id.port_num;
    ah.sgid_index = id.sgid_index;
    ah.traffic_class = id.type_of_service;
    const auto& port = agent_of(client, id)->adapter().config().ports[id.port_num - 1U];
    if (port.link_layer == hca::LinkLayer::InfiniBand) {
        const auto [lid, made] = multicast_lids_.try_emplace(ah.dgid, 0);
        if (made) lid->second = static_cast<uint16_t>(kFirstMulticastLid + multicast_lids_.size());
        ah.dlid = lid->second;
    } else {
        ah.hop_limit = 1;
    }
    CmEvent e;
    e.id = id.handle;
    e.multicast = m->id;
    e.response.uid = m->uid;
    e.response.id = m->id;
    e.response.event = kMulticastJoin;
    e.response.param.ud.ah_attr = uverbs_ah_attr_to(ah);
    e.response.param.ud.qp_num = 0xFFFFFF;
    e.response.param.ud.qkey = id.qkey;
    post(client, e, now);
}

int RdmaCm::leave_multicast(Command& c) {
    rdma_ucm_destroy_id cmd;
    if (!c.read(cmd)) return EINVAL;
    if (c.room < sizeof(rdma_ucm_destroy_id_resp)) return ENOSPC;
    for (auto& [handle, id] : state_of(c.client).ids) {
        const auto m = std::ranges::find(id.multicasts, cmd.id, &CmMulticast::id);
        if (m == id.multicasts.end()) continue;
        if (id.file != c.file) return EINVAL;
        const uint32_t reported = m->events_reported;
        id.multicasts.erase(m);
        return c.reply(rdma_ucm_destroy_id_resp{reported});
    }
    return ENOENT;
}

}  // namespace simverbs::server
