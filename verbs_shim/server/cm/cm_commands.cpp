// The commands of rdma_cm that concern ids, files and events as such.
#include <cerrno>

#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

int RdmaCm::Command::reply_up_to(const void* response, size_t bytes) {
    answer.out.resize(std::min<size_t>(bytes, room));
    std::memcpy(answer.out.data(), response, answer.out.size());
    return 0;
}

CmAnswer RdmaCm::command(Client& client, const protocol::CmCommandRequest& request, sim::SimTime now) {
    CmAnswer refused;
    if (request.in_bytes > sizeof request.in) {
        refused.error = EINVAL;
        return refused;
    }
    if (file_of(client, request.file) == nullptr) {
        refused.error = EBADF;
        return refused;
    }
    Command c{client, now, request.file, {request.in, request.in_bytes}, request.out_bytes, request.extra, {}};
    c.answer.error = run(c, request.command);
    if (c.answer.error != 0) c.answer.out.clear();
    return std::move(c.answer);
}

int RdmaCm::run(Command& c, uint32_t command) {
    switch (command) {
        case RDMA_USER_CM_CMD_CREATE_ID:
            return create_id(c);
        case RDMA_USER_CM_CMD_DESTROY_ID:
            return destroy_id(c);
        case RDMA_USER_CM_CMD_BIND_IP:
            return bind_ip(c);
        case RDMA_USER_CM_CMD_RESOLVE_IP:
            return resolve_ip(c);
        case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
            return resolve_route(c);
        case RDMA_USER_CM_CMD_QUERY_ROUTE:
            return query_route(c);
        case RDMA_USER_CM_CMD_CONNECT:
            return connect(c);
        case RDMA_USER_CM_CMD_LISTEN:
            return listen(c);
        case RDMA_USER_CM_CMD_ACCEPT:
            return accept(c);
        case RDMA_USER_CM_CMD_REJECT:
            return reject(c);
        case RDMA_USER_CM_CMD_DISCONNECT:
            return disconnect(c);
        case RDMA_USER_CM_CMD_INIT_QP_ATTR:
            return init_qp_attr(c);
        case RDMA_USER_CM_CMD_GET_EVENT:
            return get_event(c);
        case RDMA_USER_CM_CMD_SET_OPTION:
            return set_option(c);
        case RDMA_USER_CM_CMD_NOTIFY:
            return notify(c);
        case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
            return join_ip_multicast(c);
        case RDMA_USER_CM_CMD_LEAVE_MCAST:
            return leave_multicast(c);
        case RDMA_USER_CM_CMD_MIGRATE_ID:
            return migrate_id(c);
        case RDMA_USER_CM_CMD_QUERY:
            return query(c);
        case RDMA_USER_CM_CMD_BIND:
            return bind_any_family(c);
        case RDMA_USER_CM_CMD_RESOLVE_ADDR:
            return resolve_addr(c);
        case RDMA_USER_CM_CMD_JOIN_MCAST:
            return join_multicast(c);
        case RDMA_USER_CM_CMD_GET_OPTION:
            return ENOSYS;  // as in the kernel
        default:
            return EINVAL;
    }
}

int RdmaCm::create_id(Command& c) {
    rdma_ucm_create_id cmd;
    if (!c.read(cmd)) return EINVAL;
    hca::QpType type = hca::QpType::Rc;
    switch (cmd.ps) {
        case RDMA_PS_TCP:
            break;
        case RDMA_PS_UDP:
        case RDMA_PS_IPOIB:
            type = hca::QpType::Ud;
            break;
        case RDMA_PS_IB:
            type = static_cast<hca::QpType>(cmd.qp_type);
            break;
        default:
            return EINVAL;
    }
    if (host_of(c.client).agents.empty()) return ENODEV;
    if (c.room < sizeof(rdma_ucm_create_id_resp)) return ENOSPC;
    const CmId* id = make_id(c.client, c.file, cmd.uid, static_cast<cm::PortSpace>(cmd.ps), type);
    if (id == nullptr) return ENOMEM;
    return c.reply(rdma_ucm_create_id_resp{id->handle});
}

int RdmaCm::destroy_id(Command& c) {
    rdma_ucm_destroy_id cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (c.room < sizeof(rdma_ucm_destroy_id_resp)) return ENOSPC;
    if (const int error = find(c, cmd.id, id)) return error;
    const uint32_t reported = id->events_reported;
    destroy_id(c.client, cmd.id, c.now);
    return c.reply(rdma_ucm_destroy_id_resp{reported});
}

int RdmaCm::get_event(Command& c) {
    constexpr size_t kOldSize = offsetof(rdma_ucm_event_resp, reserved);
    if (c.room < kOldSize) return ENOSPC;
    CmFile& file = *file_of(c.client, c.file);
    if (file.queue.empty()) return EAGAIN;
    const CmEvent event = file.queue.front();
    file.queue.pop_front();
    if (file.queue.empty()) set_empty(file);
    CmId* id = nullptr;
    if (find(c, event.id, id) == 0) {
        ++id->events_reported;
        if (event.new_id != 0) ++id->backlog;
        for (CmMulticast& m : id->multicasts)
            if (m.id == event.multicast) ++m.events_reported;
    }
    return c.reply_up_to(&event.response, sizeof event.response);
}

int RdmaCm::migrate_id(Command& c) {
    rdma_ucm_migrate_id cmd;
    if (!c.read(cmd)) return EINVAL;
    if (c.room < sizeof(rdma_ucm_migrate_resp)) return ENOSPC;
    // The id is in another file than the one written to.
    CmState& state = state_of(c.client);
    const auto id = state.ids.find(cmd.id);
    if (id == state.ids.end()) return ENOENT;
    if (id->second.file != c.extra) return EINVAL;
    CmFile& to = *file_of(c.client, c.file);
    CmFile* from = file_of(c.client, c.extra);
    if (from == nullptr) return ENOENT;
    const uint32_t reported = id->second.events_reported;
    if (from != &to) {
        id->second.file = c.file;
        const bool some = !from->queue.empty();
        for (auto event = from->queue.begin(); event != from->queue.end();) {
            if (event->id != cmd.id) {
                ++event;
                continue;
            }
            to.queue.push_back(*event);
            set_ready(to, c.now.in_ps());
            event = from->queue.erase(event);
        }
        if (some && from->queue.empty()) set_empty(*from);
        c.client.deliveries.for_each([&](Delivery& d) {
            const auto event = on_the_way_.find(d.object);
            if (d.kind == DeliveryKind::CmEvent && event != on_the_way_.end() && event->second.id == cmd.id)
                d.fd_key = to.ready.key;
        });
    }
    return c.reply(rdma_ucm_migrate_resp{reported});
}

int RdmaCm::set_option(Command& c) {
    rdma_ucm_set_option cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    const std::span<const uint8_t> value = c.in.subspan(sizeof cmd);
    if (cmd.level == RDMA_OPTION_IB && cmd.optname == RDMA_OPTION_IB_PATH) return set_path(c, *id, value);
    if (cmd.level != RDMA_OPTION_ID) return ENOSYS;
    const auto is_set = [&] {
        int flag = 0;
        std::memcpy(&flag, value.data(), sizeof flag);
        return flag != 0;
    };
    switch (cmd.optname) {
        case RDMA_OPTION_ID_TOS:
            if (value.size() != 1) return EINVAL;
            id->type_of_service = value[0];
            return 0;
        case RDMA_OPTION_ID_REUSEADDR:
            if (value.size() != sizeof(int)) return EINVAL;
            if (id->state != IdState::Idle && is_set()) return EINVAL;
            id->reuse_address = is_set();
            return 0;
        case RDMA_OPTION_ID_AFONLY:
            if (value.size() != sizeof(int)) return EINVAL;
            if (id->state != IdState::Idle && id->state != IdState::AddrBound) return EINVAL;
            id->address_family_only = is_set();
            return 0;
        case RDMA_OPTION_ID_ACK_TIMEOUT:
            if (value.size() != 1 || id->qp_type == hca::QpType::Ud) return EINVAL;
            id->ack_timeout = value[0] & 0x1F;
            return 0;
        default:
            return ENOSYS;
    }
}

int RdmaCm::notify(Command& c) {
    rdma_ucm_notify cmd;
    CmId* id = nullptr;
    if (!c.read(cmd)) return EINVAL;
    if (const int error = find(c, cmd.id, id)) return error;
    cm::Agent* agent = agent_of(c.client, *id);
    if (id->nic < 0 || agent == nullptr || id->conn == 0) return EINVAL;
    constexpr uint32_t kCommEst = 4;  // IBV_EVENT_COMM_EST
    if (cmd.event != kCommEst) return EINVAL;
    const int error = agent->established_by_data(id->conn, c.now);
    return error == EISCONN ? 0 : error;
}

}  // namespace simverbs::server
