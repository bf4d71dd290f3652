// Addresses, ports and paths of ids.
#include <algorithm>
#include <cerrno>

#include "models/hca/neighbour_table.hpp"
#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

namespace {

constexpr uint16_t kFirstEphemeral = 32768, kEphemeralPorts = 28232;
/// Work queues of the kernel, with every neighbour known; and the subnet administrator's answer about a path.
constexpr sim::SimTime kAddressTime = sim::SimTime::us(10), kRouteTime = sim::SimTime::us(5),
                       kPathQueryTime = sim::SimTime::us(30);

/// The GID of an address on RoCE: its own, or, where adapters have no IPv6 GIDs (nic.ipv6), that of the same host's
/// IPv4 address.
hca::Gid ipv4_gid(const CmAddress& address) {
    const auto ipv4 = address.lab_ipv4();
    return ipv4 ? address_of_ipv4(*ipv4, 0).ip : address.ip;
}

/// ibv_rate of a link.
uint8_t rate_code(sim::BitRate rate) {
    struct Code {
        int64_t mbps;
        uint8_t code;
    };
    constexpr Code kCodes[] = {{2500, 2},    {5000, 5},    {10000, 3},   {14000, 11},  {20000, 6},   {25000, 15},
                               {28000, 19},  {30000, 4},   {40000, 7},   {50000, 20},  {56000, 12},  {60000, 8},
                               {80000, 9},   {100000, 16}, {112000, 13}, {120000, 10}, {168000, 14}, {200000, 17},
                               {300000, 18}, {400000, 21}, {600000, 22}};
    uint8_t best = kCodes[0].code;
    for (const Code& c : kCodes)
        if (c.mbps <= rate.in_bps() / 1'000'000) best = c.code;
    return best;
}

}  // namespace

bool RdmaCm::is_local(const Client& client, const CmAddress& address) {
    CmId probe;
    return address.is_loopback() || attach_device(client, probe, address);
}

/// Binds the id to the device and port that have this address.
bool RdmaCm::attach_device(const Client& client, CmId& id, const CmAddress& local) {
    const Host& host = lab_->hosts()[client.host];
    const auto attach = [&](size_t nic, size_t port, size_t index) {
        id.nic = static_cast<int>(nic);
        id.port_num = static_cast<uint8_t>(port + 1);
        id.sgid_index = static_cast<uint8_t>(index);
        id.sgid = host.nics[nic].hca->config().ports[port].gids[index].gid;
        return true;
    };
    for (size_t n = 0; n < host.nics.size(); ++n) {
        const auto& ports = host.nics[n].hca->config().ports;
        for (size_t p = 0; p < ports.size(); ++p) {
            if (ports[p].link_layer != hca::LinkLayer::Ethernet) {
                if (p == 0 && n == 0 && local.lab_ipv4() == host.address && !ports[p].gids.empty())
                    return attach(n, p, 0);
                continue;
            }
            for (const hca::Gid& wanted : {local.ip, ipv4_gid(local)})
                for (size_t g = 0; g < ports[p].gids.size(); ++g)
                    if (ports[p].gids[g].gid == wanted && ports[p].gids[g].type == hca::GidType::RoceV2)
                        return attach(n, p, g);
        }
    }
    return false;
}

bool RdmaCm::find_path(const Client& client, CmId& id) {
    const hca::Hca& adapter = *lab_->hosts()[client.host].nics[static_cast<size_t>(id.nic)].hca;
    const hca::HcaPortConfig& port = adapter.config().ports[id.port_num - 1U];
    const hca::NeighbourTable* neighbours = adapter.config().neighbours;
    cm::PathRecord path;
    path.ah.port_num = id.port_num;
    path.ah.sgid_index = id.sgid_index;
    path.sgid = id.sgid;
    path.mtu = static_cast<uint8_t>(port.active_mtu);
    path.rate = rate_code(port.rate.in_bps() > 0 ? port.rate : adapter.profile().default_rate);
    path.packet_life_time = cm::kRocePacketLifeTime;
    if (id.dst.is_multicast()) {
        path.ah.dgid = group_of(client, id, id.dst);
        path.ah.is_global = true;
        id.path = path;
        return true;
    }
    if (port.link_layer == hca::LinkLayer::Ethernet) {
        if (neighbours == nullptr) return false;
        path.ah.dgid = neighbours->find_gid(id.dst.ip) != nullptr ? id.dst.ip : ipv4_gid(id.dst);
        if (neighbours->find_gid(path.ah.dgid) == nullptr) return false;
        path.ah.is_global = true;
        path.ah.hop_limit = 64;
        path.ah.traffic_class = id.type_of_service;
        // Entropy for the UDP source port, as cma_get_roce_udp_flow_label makes it.
        constexpr uint32_t kFlowLabelMask = 0xFFFFF;
        path.ah.flow_label = (uint32_t{id.src.port} * 31 + id.dst.port) & kFlowLabelMask;
    } else {
        const auto ipv4 = id.dst.lab_ipv4();
        const auto& hosts = lab_->hosts();
        const auto host = std::ranges::find_if(hosts, [&](const Host& h) { return ipv4 && h.address == *ipv4; });
        if (host == hosts.end() || host->nics.empty()) return false;
        const hca::HcaPortConfig& peer = host->nics.front().hca->config().ports.front();
        if (peer.link_layer != hca::LinkLayer::InfiniBand || peer.gids.empty()) return false;
        path.ah.dgid = peer.gids.front().gid;
        path.ah.dlid = peer.lid;
        path.ah.hop_limit = 1;
        path.slid = port.lid;
    }
    id.path = path;
    return true;
}

int RdmaCm::take_port(Client& client, CmId& id, uint16_t port) {
    HostState& host = host_of(client);
    const auto space = static_cast<uint16_t>(id.space);
    if (port == 0) {
        uint16_t& next = host.next_port[space];
        for (uint32_t i = 0; i < kEphemeralPorts && port == 0; ++i) {
            const auto candidate = static_cast<uint16_t>(kFirstEphemeral + next++ % kEphemeralPorts);
            const auto it = host.ports.find({space, candidate});
            if (it == host.ports.end() || it->second.empty()) port = candidate;
        }
        if (port == 0) return EADDRNOTAVAIL;
    }
    auto& owners = host.ports[{space, port}];
    for (const Ref& ref : owners) {
        const Found other = find(ref);
        if (!other) continue;
        if (id.reuse_address && other.id->reuse_address && other.id->state != IdState::Listen) continue;
        const bool any = id.src.is_any() || other.id->src.is_any();
        if (any || id.src.ip == other.id->src.ip) return EADDRINUSE;
    }
    owners.push_back({client.process, id.handle});
    id.src.port = port;
    return 0;
}

void RdmaCm::give_port_back(Client& client, CmId& id) {
    const auto it = host_of(client).ports.find({static_cast<uint16_t>(id.space), id.src.port});
    if (it == host_of(client).ports.end()) return;
    std::erase(it->second, Ref{client.process, id.handle});
    if (it->second.empty()) host_of(client).ports.erase(it);
}

int RdmaCm::bind(Command& c, CmId& id, const CmAddress& address) {
    if (id.state != IdState::Idle) return EINVAL;
    if (!address.is_any() && !is_local(c.client, address)) return ENODEV;
    id.src = address;
    if (const int error = take_port(c.client, id, address.port)) {
        id.src = {};
        return error;
    }
    if (!address.is_any() && !address.is_loopback()) (void)attach_device(c.client, id, address);
    id.state = IdState::AddrBound;
    return 0;
}

int RdmaCm::bind_ip(Command& c) {
    rdma_ucm_bind_ip cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    const auto address = read_address(&cmd.addr, sizeof cmd.addr);
    return address ? bind(c, *id, *address) : EINVAL;
}

int RdmaCm::bind_any_family(Command& c) {
    rdma_ucm_bind cmd;
    CmId* id = nullptr;
    if (!c.read(cmd) || cmd.reserved != 0 || cmd.addr_size == 0 || cmd.addr_size > sizeof cmd.addr) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    // AF_IB among them: librdmacm asks once, and then speaks IP.
    const auto address = read_address(&cmd.addr, cmd.addr_size);
    return address ? bind(c, *id, *address) : EAFNOSUPPORT;
}

int RdmaCm::resolve_ip(Command& c) {
    rdma_ucm_resolve_ip cmd;
    if (!c.read(cmd)) return EINVAL;
    return resolve(c, cmd.id, &cmd.src_addr, sizeof cmd.src_addr, &cmd.dst_addr, sizeof cmd.dst_addr, cmd.timeout_ms);
}

int RdmaCm::resolve_addr(Command& c) {
    rdma_ucm_resolve_addr cmd;
    if (!c.read(cmd) || cmd.reserved != 0 || cmd.src_size > sizeof cmd.src_addr || cmd.dst_size == 0 ||
        cmd.dst_size > sizeof cmd.dst_addr)
        return EINVAL;
    return resolve(c, cmd.id, &cmd.src_addr, cmd.src_size, &cmd.dst_addr, cmd.dst_size, cmd.timeout_ms);
}

int RdmaCm::resolve(Command& c, uint32_t handle, const void* src, size_t src_bytes, const void* dst, size_t dst_bytes,
                    uint32_t timeout_ms) {
    CmId* id = nullptr;
    if (const int error = find(c, handle, id)) return error;
    const auto to = read_address(dst, dst_bytes);
    if (!to) return EAFNOSUPPORT;
    if (id->state == IdState::Idle) {
        auto from = read_address(src, src_bytes);
        if (!from || from->family == 0) {
            from.emplace();
            from->family = to->family;
            if (to->family == AF_INET) from->ip = address_of_ipv4(0, 0).ip;
        }
        if (!from->is_any() && !is_local(c.client, *from)) return EADDRNOTAVAIL;
        if (const int error = bind(c, *id, *from)) return error;
    }
    if (id->state != IdState::AddrBound) return EINVAL;
    if (id->src.family != to->family) return EINVAL;
    const Host& host = lab_->hosts()[c.client.host];
    id->dst = *to;
    const CmAddress own = address_of_ipv4(host.address, 0);
    if (to->is_any() || to->is_loopback()) id->dst.ip = own.ip;
    // A simulated host knows its lab only.
    const bool link_local = id->dst.ip[0] == 0xFE && (id->dst.ip[1] & 0xC0) == 0x80;
    if (!id->dst.lab_ipv4() && !link_local && !id->dst.is_multicast()) return ENETUNREACH;
    if (id->src.is_any() || id->src.is_loopback()) {
        const uint16_t port = id->src.port;
        id->src.ip = own.ip;
        if (to->family == AF_INET6 && !(id->dst.ip[10] == 0xFF && id->dst.ip[11] == 0xFF)) {
            // fd00::10.0.hi.lo, or the link-local address where the peer's is one.
            hca::Gid v6 = own.ip;
            v6[0] = 0xFD;
            v6[10] = v6[11] = 0;
            const auto& gids = host.nics.front().hca->config().ports.front().gids;
            id->src.ip = link_local && !gids.empty() ? gids.front().gid : v6;
        }
        id->src.port = port;
    }
    if (id->nic < 0 && !attach_device(c.client, *id, id->src)) return ENODEV;
    id->state = IdState::AddrQuery;
    const bool known = find_path(c.client, *id);
    // A timeout may be weeks; the end of all time comes first.
    const sim::SimTime patience = known ? kAddressTime : sim::SimTime::ms(timeout_ms);
    const sim::SimTime at = c.now + std::min(patience, sim::SimTime::max() - c.now);
    id->resolve = set_timer(c.client, *id, known ? TimerKind::AddrResolved : TimerKind::AddrError, at);
    return 0;
}

int RdmaCm::resolve_route(Command& c) {
    rdma_ucm_resolve_route cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->state != IdState::AddrResolved) return EINVAL;
    id->state = IdState::RouteQuery;
    const auto& port = agent_of(c.client, *id)->adapter().config().ports[id->port_num - 1U];
    const bool roce = port.link_layer == hca::LinkLayer::Ethernet;
    id->resolve = set_timer(c.client, *id, TimerKind::RouteResolved, c.now + (roce ? kRouteTime : kPathQueryTime));
    return 0;
}

int RdmaCm::listen(Command& c) {
    rdma_ucm_listen cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->state == IdState::Idle) {
        if (const int error = bind(c, *id, address_of_ipv4(0, 0))) return error;
    }
    if (id->state != IdState::AddrBound) return EINVAL;
    if (id->reuse_address) {
        for (const Ref& ref : host_of(c.client).ports[{static_cast<uint16_t>(id->space), id->src.port}]) {
            const Found other = find(ref);
            if (other && other.id != id && (!other.id->reuse_address || other.id->state == IdState::Listen))
                return EADDRINUSE;
        }
    }
    constexpr uint32_t kMostBacklog = 1024;
    id->backlog = cmd.backlog == 0 || cmd.backlog > kMostBacklog ? kMostBacklog : cmd.backlog;
    id->state = IdState::Listen;
    set_listening(c.client, *id, true, c.now);
    return 0;
}

uint64_t RdmaCm::listener_key(uint32_t host, const CmId& id, uint16_t port) const {
    return protocol::object_key(protocol::ObjectKind::CmListener,
                                (uint64_t{host} << 32) | cm::ip_service_id(id.space, port));
}

void RdmaCm::set_listening(Client& client, const CmId& id, bool on, sim::SimTime now) {
    HostState& host = host_of(client);
    const uint64_t service = cm::ip_service_id(id.space, id.src.port);
    uint32_t& count = host.listening[service];
    count = on ? count + 1 : count - 1;
    const bool listens = count > 0;
    if (!listens) host.listening.erase(service);
    for (const auto& agent : host.agents) listens ? agent->listen(service) : agent->unlisten(service);
    // Who waits to connect looks again.
    if (on) bump_object(lab_->shared(), listener_key(client.host, id, id.src.port), now.in_ps());
}

}  // namespace simverbs::server
