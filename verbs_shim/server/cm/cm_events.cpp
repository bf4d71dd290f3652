// What the adapters' CMs tell, as events of ids.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/ibv_translate.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

namespace {

void put_private(uint8_t (&to)[RDMA_MAX_PRIVATE_DATA], uint8_t& length, std::span<const uint8_t> from) {
    length = static_cast<uint8_t>(std::min<size_t>(from.size(), sizeof to - 1));
    std::copy_n(from.begin(), length, to);
}

CmEvent event_for(const CmId& id, const cm::Event& event, uint32_t number, int status,
                  std::span<const uint8_t> private_data) {
    CmEvent e;
    e.id = id.handle;
    e.response.id = id.handle;
    e.response.event = number;
    e.response.status = static_cast<uint32_t>(status);
    if (id.qp_type == hca::QpType::Ud) {
        rdma_ucm_ud_param& ud = e.response.param.ud;
        ud.qp_num = event.remote_qpn;
        ud.qkey = event.qkey;
        ud.ah_attr = uverbs_ah_attr_to(event.ah);
        put_private(ud.private_data, ud.private_data_len, private_data);
        return e;
    }
    rdma_ucm_conn_param& conn = e.response.param.conn;
    conn.qp_num = event.remote_qpn;
    conn.srq = event.srq ? 1 : 0;
    conn.responder_resources = event.responder_resources;
    conn.initiator_depth = event.initiator_depth;
    conn.flow_control = event.flow_control ? 1 : 0;
    conn.retry_count = event.retry_count;
    conn.rnr_retry_count = event.rnr_retry_count;
    put_private(conn.private_data, conn.private_data_len, private_data);
    e.response.ece = {event.ece.vendor_id, event.ece.options};
    return e;
}

/// The addresses of a REQ: those of its header.
void take_addresses(CmId& id, const cm::IpCmHeader& header, uint16_t port) {
    const bool v6 = header.ip_version == 6;
    const auto read = [&](const cm::GidBytes& ip, uint16_t at_port) {
        CmAddress a;
        a.family = v6 ? AF_INET6 : AF_INET;
        a.ip = ip;
        if (!v6) a.ip[10] = a.ip[11] = 0xFF;
        a.port = at_port;
        return a;
    };
    id.src = read(header.destination, port);
    id.dst = read(header.source, header.source_port);
}

}  // namespace

void RdmaCm::on_cm_event(cm::Agent& agent, const cm::Event& event, sim::SimTime now) {
    switch (event.type) {
        case cm::EventType::Timer:
            return on_timer(event.timer, now);
        case cm::EventType::ReqReceived:
        case cm::EventType::SidrReqReceived:
            return on_request(agent, event, now);
        case cm::EventType::RepReceived:
        case cm::EventType::RtuReceived:
        case cm::EventType::RejReceived:
        case cm::EventType::Unreachable:
        case cm::EventType::DreqReceived:
        case cm::EventType::Disconnected:
        case cm::EventType::TimewaitExit:
        case cm::EventType::SidrRepReceived:
            break;
    }
    const auto ref = connections_.find({&agent, event.id});
    if (ref == connections_.end()) return;
    if (const Found found = find(ref->second)) on_event_of(*found.client, *found.id, event, now);
}

void RdmaCm::on_timer(uint64_t timer, sim::SimTime now) {
    const auto it = timers_.find(timer);
    if (it == timers_.end()) return;
    const Timer t = it->second;
    timers_.erase(it);
    const Found found = find(t.ref);
    if (!found) return;
    CmId& id = *found.id;
    switch (t.kind) {
        case TimerKind::AddrResolved:
            if (id.resolve != timer || id.state != IdState::AddrQuery) return;
            id.state = IdState::AddrResolved;
            return post(*found.client, id, kAddrResolved, 0, now);
        case TimerKind::AddrError:
            if (id.resolve != timer || id.state != IdState::AddrQuery) return;
            id.state = IdState::AddrBound;
            lab_->explain(*found.client,
                          fmt::format("rdma_resolve_addr: {} belongs to no host of this lab, so that nobody answered "
                                      "for it in the time that was given (RDMA_CM_EVENT_ADDR_ERROR, -110).",
                                      to_text(id.dst)));
            return post(*found.client, id, kAddrError, -ETIMEDOUT, now);
        case TimerKind::RouteResolved:
            if (id.resolve != timer || id.state != IdState::RouteQuery) return;
            id.state = IdState::RouteResolved;
            id.has_path = true;
            return post(*found.client, id, kRouteResolved, 0, now);
        case TimerKind::Joined:
            return on_joined(*found.client, id, t.multicast, now);
    }
}

void RdmaCm::on_request(cm::Agent& agent, const cm::Event& event, sim::SimTime now) {
    const bool datagram = event.type == cm::EventType::SidrReqReceived;
    const auto space = static_cast<cm::PortSpace>(event.service_id >> 16);
    const auto port = static_cast<uint16_t>(event.service_id);
    const auto header = cm::decode<cm::IpCmHeader>(event.private_data);
    CmId addresses;
    take_addresses(addresses, header, port);
    const uint32_t host = host_of_agent_.at(&agent);
    Found listener;
    for (const Ref& ref : hosts_[host].ports[{static_cast<uint16_t>(space), port}]) {
        const Found one = find(ref);
        if (!one || one.id->state != IdState::Listen) continue;
        if (one.id->address_family_only && one.id->src.family != addresses.src.family) continue;
        if (one.id->src.ip == addresses.src.ip) {
            listener = one;
            break;
        }
        if (one.id->src.is_any()) listener = one;
    }
    const auto refuse = [&](cm::RejectReason reason) {
        if (datagram)
            (void)agent.answer_resolve(event.id, cm::SidrStatus::Unsupported, 0, 0, {}, now);
        else
            (void)agent.reject(event.id, reason, {}, now);
        agent.destroy(event.id, now);
    };
    if (!listener) return refuse(cm::RejectReason::InvalidServiceId);
    if (listener.id->backlog == 0) return refuse(cm::RejectReason::ConsumerDefined);
    CmId* made = make_id(*listener.client, listener.id->file, 0, space, datagram ? hca::QpType::Ud : event.qp_type);
    if (made == nullptr) return refuse(cm::RejectReason::NoResources);
    --listener.id->backlog;
    made->src = addresses.src;
    made->dst = addresses.dst;
    made->state = IdState::Connect;
    const auto& agents = hosts_[host].agents;
    made->nic = static_cast<int>(std::ranges::find_if(agents, [&](const auto& one) { return one.get() == &agent; }) -
                                 agents.begin());
    made->port_num = event.ah.port_num;
    made->sgid_index = event.ah.sgid_index;
    const hca::HcaPortConfig& local = agent.adapter().config().ports[event.ah.port_num - 1U];
    if (made->sgid_index < local.gids.size()) made->sgid = local.gids[made->sgid_index].gid;
    if (!find_path(*listener.client, *made)) made->path.ah = event.ah;
    made->has_path = true;
    bind_connection(*listener.client, *made, agent, event.id);
    CmEvent e =
        event_for(*made, event, kConnectRequest, 0, std::span(event.private_data).subspan(cm::IpCmHeader::size));
    e.id = listener.id->handle;
    e.new_id = made->handle;
    post(*listener.client, e, now);
}

void RdmaCm::on_event_of(Client& client, CmId& id, const cm::Event& event, sim::SimTime now) {
    // Events after the end of a connection concern nobody; neither does the end of TIMEWAIT before it.
    const IdState needed = event.type == cm::EventType::TimewaitExit ? IdState::Disconnect : IdState::Connect;
    if (id.state != needed) return;
    const std::span<const uint8_t> data(event.private_data);
    switch (event.type) {
        case cm::EventType::RepReceived:
            return post(client, event_for(id, event, kConnectResponse, 0, data), now);
        case cm::EventType::RtuReceived:
            return post(client, event_for(id, event, kEstablished, 0, {}), now);
        case cm::EventType::RejReceived:
            explain_rejection(client, id, event);
            return post(client, event_for(id, event, kRejected, event.reason, data), now);
        case cm::EventType::Unreachable:
            lab_->explain(client, fmt::format("rdma_connect: {} did not answer the connection manager's messages, "
                                              "which were repeated {} times (RDMA_CM_EVENT_UNREACHABLE, -110): they "
                                              "were lost on the way there or back.",
                                              to_text(id.dst), cm::kMaxCmRetries));
            return post(client, event_for(id, event, kUnreachable, -ETIMEDOUT, {}), now);
        case cm::EventType::DreqReceived:
        case cm::EventType::Disconnected:
            id.state = IdState::Disconnect;
            return post(client, event_for(id, event, kDisconnected, 0, {}), now);
        case cm::EventType::TimewaitExit:
            return post(client, event_for(id, event, kTimewaitExit, 0, {}), now);
        case cm::EventType::SidrRepReceived:
            if (event.reason == static_cast<uint16_t>(cm::SidrStatus::Success))
                return post(client, event_for(id, event, kEstablished, 0, data), now);
            explain_rejection(client, id, event);
            return post(client, event_for(id, event, kUnreachable, event.reason, data), now);
        case cm::EventType::Timer:
        case cm::EventType::ReqReceived:
        case cm::EventType::SidrReqReceived:
            return;
    }
}

void RdmaCm::explain_rejection(const Client& client, const CmId& id, const cm::Event& event) {
    std::string text;
    if (event.type == cm::EventType::SidrRepReceived) {
        text =
            event.reason == static_cast<uint16_t>(cm::SidrStatus::Reject)
                ? "the program at the other end refused (SIDR_REP status 2): it called rdma_reject, or destroyed the id"
                : fmt::format(
                      "nobody gives a QP for this port there (SIDR_REP status {}): no id of RDMA_PS_UDP listens",
                      event.reason);
        return lab_->explain(client, fmt::format("rdma_connect to {}: {}.", to_text(id.dst), text));
    }
    switch (static_cast<cm::RejectReason>(event.reason)) {
        case cm::RejectReason::InvalidServiceId:
            text = "nobody listens there: no rdma_listen on that port (reason 8, invalid service id)";
            break;
        case cm::RejectReason::ConsumerDefined:
            text =
                "the program at the other end refused (reason 28, consumer defined): it called rdma_reject, destroyed "
                "the id, its rdma_accept failed, or its backlog is full";
            break;
        case cm::RejectReason::Timeout:
            text = "the other end gave up before the connection was complete (reason 4, timeout)";
            break;
        case cm::RejectReason::StaleConnection:
            text =
                "the other end still has the previous connection of this QP in TIMEWAIT (reason 10, stale connection)";
            break;
        case cm::RejectReason::NoResources:
            text = "the other end has no room for another connection (reason 3, no resources)";
            break;
        case cm::RejectReason::Unsupported:
        case cm::RejectReason::InvalidCommId:
        case cm::RejectReason::InvalidGid:
        case cm::RejectReason::InvalidLid:
            text = fmt::format("rejected for reason {}", event.reason);
            break;
    }
    if (text.empty()) text = fmt::format("rejected for reason {}", event.reason);
    lab_->explain(client, fmt::format("RDMA_CM_EVENT_REJECTED from {}: {}.", to_text(id.dst), text));
}

}  // namespace simverbs::server
