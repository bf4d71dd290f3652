// Connect, accept, reject, disconnect.
#include <algorithm>
#include <cerrno>

#include "models/hca/neighbour_table.hpp"
#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

namespace {

/// With the wall clock all programs of a lab start at once and race; see connect_by_wall_clock.
constexpr sim::SimTime kStart = sim::SimTime::s(3);

/// A REQ's private data: the addresses, and then the consumer's.
std::vector<uint8_t> with_addresses(const CmId& id, std::span<const uint8_t> consumer) {
    cm::IpCmHeader header;
    header.ip_version = id.src.family == AF_INET6 ? 6 : 4;
    header.source_port = id.src.port;
    header.source = id.src.ip;
    header.destination = id.dst.ip;
    if (header.ip_version == 4) {
        // Only the last four bytes: annex A11 has zeros before them.
        std::fill_n(header.source.begin(), 12, uint8_t{0});
        std::fill_n(header.destination.begin(), 12, uint8_t{0});
    }
    std::vector<uint8_t> bytes(cm::IpCmHeader::size);
    cm::encode(header, std::span<uint8_t>(bytes));
    bytes.insert(bytes.end(), consumer.begin(), consumer.end());
    return bytes;
}

/// In the messages it has 24 bits.
constexpr uint32_t kVendorIdMask = 0xFFFFFF;

uint8_t at_most_seven(uint8_t value) {
    return std::min<uint8_t>(value, 7);
}

}  // namespace

/// VIRTUAL_TIME rule 9 for connections of rdma_cm: without a listener a request is held until the target host has
/// nothing more to do by itself, so that it does not matter which program starts first.
bool RdmaCm::must_hold(Command& c, const CmId& id) {
    const hca::NeighbourTable* neighbours = agent_of(c.client, id)->adapter().config().neighbours;
    if (neighbours == nullptr) return false;
    const hca::Neighbour* peer =
        id.path.ah.is_global ? neighbours->find_gid(id.path.ah.dgid) : neighbours->find_lid(id.path.ah.dlid);
    const auto host = peer == nullptr ? host_of_leaf_.end() : host_of_leaf_.find(peer->leaf);
    if (host == host_of_leaf_.end()) return false;
    if (hosts_[host->second].listening.contains(cm::ip_service_id(id.space, id.dst.port))) return false;
    const uint64_t busy = protocol::object_key(protocol::ObjectKind::HostBusy, host->second);
    if (lab_->virtual_clock()) {
        const protocol::SharedObject* object = find_object(lab_->shared(), busy);
        if (object != nullptr && object->value.load() != 0) return false;
    } else if (c.now >= kStart) {
        return false;
    }
    c.answer.hold_key = listener_key(host->second, id, id.dst.port);
    c.answer.hold_busy = busy;
    return true;
}

int RdmaCm::connect(Command& c) {
    rdma_ucm_connect cmd;
    CmId* id = nullptr;
    // `ece` came later: older libraries do not send it.
    (void)c.read(cmd);
    if (c.in.size() < offsetof(rdma_ucm_connect, ece)) return EINVAL;
    if (cmd.conn_param.valid == 0) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->state != IdState::RouteResolved) return EINVAL;
    const rdma_ucm_conn_param& p = cmd.conn_param;
    const std::vector<uint8_t> data = with_addresses(*id, {p.private_data, p.private_data_len});
    const bool datagram = id->qp_type == hca::QpType::Ud;
    if (data.size() > (datagram ? cm::kPrivateBytes<cm::SidrReq> : cm::kPrivateBytes<cm::Req>)) return EINVAL;
    if (must_hold(c, *id)) return 0;
    cm::Agent& agent = *agent_of(c.client, *id);
    const uint64_t service = cm::ip_service_id(id->space, id->dst.port);
    cm::CommId conn = 0;
    id->qp_num = p.qp_num;
    id->srq = p.srq != 0;
    if (datagram) {
        if (const int error = agent.resolve(id->path, service, data, conn, c.now)) return error;
    } else {
        cm::ConnectParams params;
        params.path = id->path;
        params.service_id = service;
        params.qpn = p.qp_num;
        params.type = id->qp_type;
        params.srq = p.srq != 0;
        params.flow_control = p.flow_control != 0;
        params.responder_resources = id->responder_resources = p.responder_resources;
        params.initiator_depth = id->initiator_depth = p.initiator_depth;
        params.retry_count = at_most_seven(p.retry_count);
        params.rnr_retry_count = at_most_seven(p.rnr_retry_count);
        params.private_data = data;
        params.ack_timeout = id->ack_timeout;
        params.ece = {cmd.ece.vendor_id & kVendorIdMask, cmd.ece.attr_mod};
        if (const int error = agent.connect(params, conn, c.now)) return error;
    }
    bind_connection(c.client, *id, agent, conn);
    id->state = IdState::Connect;
    return 0;
}

int RdmaCm::accept(Command& c) {
    rdma_ucm_accept cmd;
    CmId* id = nullptr;
    (void)c.read(cmd);
    if (c.in.size() < offsetof(rdma_ucm_accept, ece)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->state != IdState::Connect || id->conn == 0) return EINVAL;
    cm::Agent& agent = *agent_of(c.client, *id);
    const rdma_ucm_conn_param& p = cmd.conn_param;
    const std::span<const uint8_t> data(p.private_data, p.private_data_len);
    int error = 0;
    if (p.valid == 0) {
        // The active side has taken the REP.
        error = agent.confirm(id->conn, c.now);
    } else if (id->qp_type == hca::QpType::Ud) {
        if (p.qkey != 0 && id->space != cm::PortSpace::Udp) id->qkey = p.qkey;
        id->qp_num = p.qp_num;
        error = agent.answer_resolve(id->conn, cm::SidrStatus::Success, p.qp_num, id->qkey, data, c.now);
    } else {
        cm::AcceptParams params;
        params.qpn = id->qp_num = p.qp_num;
        params.srq = p.srq != 0;
        params.flow_control = p.flow_control != 0;
        params.responder_resources = id->responder_resources = p.responder_resources;
        params.initiator_depth = id->initiator_depth = p.initiator_depth;
        params.rnr_retry_count = at_most_seven(p.rnr_retry_count);
        params.ece = {cmd.ece.vendor_id & kVendorIdMask, cmd.ece.attr_mod};
        params.private_data.assign(data.begin(), data.end());
        error = agent.accept(id->conn, params, c.now);
    }
    if (error != 0) {
        (void)agent.reject(id->conn, cm::RejectReason::ConsumerDefined, {}, c.now);
        return error;
    }
    if (p.valid != 0) id->uid = cmd.uid;
    return 0;
}

int RdmaCm::reject(Command& c) {
    rdma_ucm_reject cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    constexpr uint8_t kVendorOptionNotSupported = 35;
    const auto consumer = static_cast<uint8_t>(cm::RejectReason::ConsumerDefined);
    if (cmd.reason == 0) cmd.reason = consumer;
    if (cmd.reason != consumer && cmd.reason != kVendorOptionNotSupported) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->conn == 0 || id->state != IdState::Connect) return EINVAL;
    cm::Agent& agent = *agent_of(c.client, *id);
    const std::span<const uint8_t> data(cmd.private_data, cmd.private_data_len);
    if (id->qp_type == hca::QpType::Ud)
        return agent.answer_resolve(id->conn, cm::SidrStatus::Reject, 0, 0, data, c.now);
    return agent.reject(id->conn, static_cast<cm::RejectReason>(cmd.reason), data, c.now);
}

int RdmaCm::disconnect(Command& c) {
    rdma_ucm_disconnect cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    if (id->conn == 0) return EINVAL;
    // What is not connected (any more) has nothing to take down: no error, as in the kernel.
    (void)agent_of(c.client, *id)->disconnect(id->conn, c.now);
    return 0;
}

}  // namespace simverbs::server
