// What a program asks about an id: addresses, paths, and the attributes for its QP.
#include <endian.h>

#include <algorithm>
#include <cerrno>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/ibv_translate.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

namespace {

constexpr uint16_t kDefaultPkey = 0xFFFF;
constexpr uint8_t kExactly = 2;  ///< selector of a path record's MTU, rate and life time

/// sockaddr_ib (linux: include/rdma/ib.h), which the public headers lack.
struct SockaddrIb {
    uint16_t family = 27;  ///< AF_IB
    uint16_t pkey = 0;
    uint32_t flow_info = 0;
    uint8_t address[16] = {};
    uint64_t service_id = 0, service_mask = 0, scope_id = 0;
};
static_assert(sizeof(SockaddrIb) == 48);

}  // namespace

uint64_t RdmaCm::node_guid(const Client& client, const CmId& id) {
    return id.nic < 0 ? 0 : htobe64(agent_of(client, id)->adapter().query_device().node_guid);
}

ib_user_path_rec RdmaCm::path_record(const CmId& id) const {
    ib_user_path_rec r{};
    const cm::PathRecord& p = id.path;
    std::copy(p.ah.dgid.begin(), p.ah.dgid.end(), r.dgid);
    std::copy(p.sgid.begin(), p.sgid.end(), r.sgid);
    r.dlid = htobe16(p.ah.dlid);
    r.slid = htobe16(p.slid);
    r.flow_label = htobe32(p.ah.flow_label);
    r.reversible = 1;
    r.mtu = p.mtu;
    r.pkey = htobe16(p.pkey);
    r.hop_limit = p.ah.hop_limit;
    r.traffic_class = p.ah.traffic_class;
    r.numb_path = 1;
    r.sl = p.ah.sl;
    r.mtu_selector = r.rate_selector = r.packet_life_time_selector = kExactly;
    r.rate = p.rate;
    r.packet_life_time = p.packet_life_time;
    return r;
}

int RdmaCm::query_route(Command& c) {
    rdma_ucm_query cmd;
    CmId* id = nullptr;
    // Older than `option`, which a QUERY_ROUTE does not have.
    (void)c.read(cmd);
    if (c.in.size() < offsetof(rdma_ucm_query, option)) return EINVAL;
    if (c.room < offsetof(rdma_ucm_query_route_resp, ibdev_index)) return ENOSPC;
    if (const int error = find(c, cmd.id, id)) return error;
    rdma_ucm_query_route_resp r{};
    (void)write_address(id->src, &r.src_addr, sizeof r.src_addr);
    (void)write_address(id->dst, &r.dst_addr, sizeof r.dst_addr);
    if (id->nic >= 0) {
        r.node_guid = node_guid(c.client, *id);
        r.ibdev_index = static_cast<uint32_t>(id->nic);
        r.port_num = id->port_num;
        r.num_paths = id->has_path ? 1 : 0;
        if (id->has_path) {
            r.ib_route[0] = path_record(*id);
        } else {
            std::copy(id->sgid.begin(), id->sgid.end(), r.ib_route[0].sgid);
            const hca::Gid& dgid = id->path.ah.dgid;
            std::copy(dgid.begin(), dgid.end(), r.ib_route[0].dgid);
            r.ib_route[0].pkey = htobe16(kDefaultPkey);
        }
    }
    return c.reply_up_to(&r, sizeof r);
}

int RdmaCm::query(Command& c) {
    rdma_ucm_query cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    rdma_ucm_query_addr_resp r{};
    if (id->nic >= 0) {
        r.node_guid = node_guid(c.client, *id);
        r.ibdev_index = static_cast<uint32_t>(id->nic);
        r.port_num = id->port_num;
        r.pkey = htobe16(kDefaultPkey);
    }
    switch (cmd.option) {
        case RDMA_USER_CM_QUERY_ADDR:
            r.src_size = static_cast<uint16_t>(write_address(id->src, &r.src_addr, sizeof r.src_addr));
            r.dst_size = static_cast<uint16_t>(write_address(id->dst, &r.dst_addr, sizeof r.dst_addr));
            break;
        case RDMA_USER_CM_QUERY_GID: {
            SockaddrIb from, to;
            std::copy(id->sgid.begin(), id->sgid.end(), from.address);
            std::copy(id->path.ah.dgid.begin(), id->path.ah.dgid.end(), to.address);
            from.pkey = to.pkey = htobe16(kDefaultPkey);
            std::memcpy(&r.src_addr, &from, sizeof from);
            std::memcpy(&r.dst_addr, &to, sizeof to);
            r.src_size = r.dst_size = sizeof from;
            break;
        }
        case RDMA_USER_CM_QUERY_PATH:
            return query_path(c, *id);
        default:
            return ENOSYS;
    }
    if (c.room < offsetof(rdma_ucm_query_addr_resp, ibdev_index)) return ENOSPC;
    return c.reply_up_to(&r, sizeof r);
}

/// The path as the 64 bytes of a SubnAdm PathRecord (IBTA vol. 1, 15.2.5.16).
int RdmaCm::query_path(Command& c, const CmId& id) {
    struct Reply {
        uint32_t num_paths = 0, reserved = 0;  // rdma_ucm_query_path_resp
        ib_path_rec_data path{};
    } r;
    static_assert(offsetof(Reply, path) == sizeof(rdma_ucm_query_path_resp));
    constexpr size_t kHead = offsetof(Reply, path);
    if (c.room < kHead) return ENOSPC;
    if (!id.has_path) return c.reply_up_to(&r, kHead);
    r.num_paths = 1;
    r.path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
    auto* b = reinterpret_cast<uint8_t*>(r.path.path_rec);
    const cm::PathRecord& p = id.path;
    const auto put16 = [&](size_t at, uint32_t value) {
        b[at] = static_cast<uint8_t>(value >> 8);
        b[at + 1] = static_cast<uint8_t>(value);
    };
    std::copy(p.ah.dgid.begin(), p.ah.dgid.end(), b + 8);
    std::copy(p.sgid.begin(), p.sgid.end(), b + 24);
    put16(40, p.ah.dlid);
    put16(42, p.slid);
    put16(44, p.ah.flow_label >> 8);
    b[46] = static_cast<uint8_t>(p.ah.flow_label);
    b[47] = p.ah.hop_limit;
    b[48] = p.ah.traffic_class;
    b[49] = 0x81;  // reversible, one path
    put16(50, p.pkey);
    put16(52, p.ah.sl & 0xF);
    b[54] = static_cast<uint8_t>(kExactly << 6 | p.mtu);
    b[55] = static_cast<uint8_t>(kExactly << 6 | p.rate);
    b[56] = static_cast<uint8_t>(kExactly << 6 | p.packet_life_time);
    return c.reply_up_to(&r, sizeof r);
}

/// A program that has a path record of its own needs no resolution of the route.
int RdmaCm::set_path(Command& c, CmId& id, std::span<const uint8_t> value) {
    constexpr uint32_t kUsed = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
    constexpr uint8_t kCode = 0x3F;  // beside a selector
    ib_path_rec_data data{};
    if (value.size() % sizeof data != 0) return EINVAL;
    do {
        if (value.empty()) return EINVAL;
        std::memcpy(&data, value.data(), sizeof data);
        value = value.subspan(sizeof data);
    } while (data.flags != kUsed);
    if (id.nic < 0 || id.state != IdState::AddrResolved) return EINVAL;
    const auto& port = agent_of(c.client, id)->adapter().config().ports[id.port_num - 1U];
    // Linux takes it on RoCE, too, and cannot connect then.
    if (port.link_layer != hca::LinkLayer::InfiniBand) return EINVAL;
    const auto* b = reinterpret_cast<const uint8_t*>(data.path_rec);
    const auto get16 = [&](size_t at) { return static_cast<uint16_t>(b[at] << 8 | b[at + 1]); };
    cm::PathRecord p = id.path;
    std::copy_n(b + 8, p.ah.dgid.size(), p.ah.dgid.begin());
    std::copy_n(b + 24, p.sgid.size(), p.sgid.begin());
    p.ah.dlid = get16(40);
    p.slid = get16(42);
    p.ah.flow_label = uint32_t{b[44] & 0xFU} << 16 | uint32_t{b[45]} << 8 | b[46];
    p.ah.hop_limit = b[47];
    p.ah.traffic_class = b[48];
    p.pkey = get16(50);
    p.ah.sl = b[53] & 0xF;
    p.mtu = b[54] & kCode;
    p.rate = b[55] & kCode;
    p.packet_life_time = b[56] & kCode;
    p.ah.is_global = p.ah.hop_limit > 1;
    id.path = p;
    id.has_path = true;
    id.state = IdState::RouteResolved;
    post(c.client, id, kRouteResolved, 0, c.now);
    return 0;
}

int RdmaCm::init_qp_attr(Command& c) {
    rdma_ucm_init_qp_attr cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (cmd.qp_state > static_cast<uint32_t>(hca::QpState::Err)) return EINVAL;
    if (c.room < sizeof(ib_uverbs_qp_attr)) return ENOSPC;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->nic < 0) return EINVAL;
    ib_uverbs_qp_attr a{};
    a.qp_state = cmd.qp_state;
    uint32_t mask = hca::kState;
    const auto state = static_cast<hca::QpState>(cmd.qp_state);
    cm::Agent& agent = *agent_of(c.client, *id);
    const cm::Connection* conn = id->conn == 0 ? nullptr : agent.find(id->conn);
    const bool responds = id->qp_type == hca::QpType::Rc || id->qp_type == hca::QpType::XrcRecv;
    const bool requests = id->qp_type == hca::QpType::Rc || id->qp_type == hca::QpType::XrcSend;
    if (id->qp_type == hca::QpType::Ud || id->conn == 0) {
        mask |= hca::kPkeyIndex | hca::kPort;
        a.port_num = id->port_num;
        if (id->qp_type == hca::QpType::Ud) {
            a.qkey = id->qkey;
            mask |= hca::kQkey;
        } else {
            mask |= hca::kAccessFlags;
        }
        a.qp_attr_mask = mask;
        return c.reply(a);
    }
    if (conn == nullptr || conn->state == cm::State::Idle || conn->state == cm::State::Timewait) return EINVAL;
    const bool knows_peer = conn->state != cm::State::ReqSent && conn->state != cm::State::MraReqRcvd;
    switch (state) {
        case hca::QpState::Init:
            mask |= hca::kAccessFlags | hca::kPkeyIndex | hca::kPort;
            a.qp_access_flags = hca::kRemoteWrite;
            if (conn->responder_resources != 0) a.qp_access_flags |= hca::kRemoteRead | hca::kRemoteAtomic;
            a.port_num = id->port_num;
            break;
        case hca::QpState::Rtr:
            if (!knows_peer) return EINVAL;
            mask |= hca::kAv | hca::kPathMtu | hca::kDestQpn | hca::kRqPsn;
            a.ah_attr = uverbs_ah_attr_to(conn->ah);
            a.path_mtu = conn->mtu;
            a.dest_qp_num = conn->remote_qpn;
            a.rq_psn = conn->rq_psn;
            if (responds) {
                mask |= hca::kMaxDestRdAtomic | hca::kMinRnrTimer;
                a.max_dest_rd_atomic = conn->responder_resources;
            }
            break;
        case hca::QpState::Rts:
            if (!knows_peer) return EINVAL;
            mask |= hca::kSqPsn;
            a.sq_psn = conn->sq_psn;
            if (requests || responds) {
                mask |= hca::kTimeout;
                a.timeout = conn->timeout;
            }
            if (requests) {
                mask |= hca::kRetryCnt | hca::kRnrRetry | hca::kMaxQpRdAtomic;
                a.retry_cnt = conn->retry_count;
                a.rnr_retry = conn->rnr_retry_count;
                a.max_rd_atomic = conn->initiator_depth;
            }
            break;
        case hca::QpState::Reset:
        case hca::QpState::Sqd:
        case hca::QpState::Sqe:
        case hca::QpState::Err:
            return EINVAL;
    }
    a.qp_attr_mask = mask;
    return c.reply(a);
}

}  // namespace simverbs::server
