// Commands of a lying program to rdma_cm. An input is a list of commands: number, which id of those that there are,
// room for the response, half the payload length, payload. Ids stand where the command has them, so that handlers are
// reached; beside them a well-behaved listener waits on the other host.

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/cm/rdma_cm.hpp"
#include "verbs_shim/server/cm/ucm_abi.hpp"
#include "verbs_shim/server/control.hpp"

namespace {

using namespace simverbs;

struct Shape {
    size_t bytes = 0;
    std::optional<size_t> id;  ///< offset
};

Shape shape_of(uint32_t command) {
    switch (command) {
        case RDMA_USER_CM_CMD_CREATE_ID:
            return {sizeof(rdma_ucm_create_id), {}};
        case RDMA_USER_CM_CMD_DESTROY_ID:
        case RDMA_USER_CM_CMD_LEAVE_MCAST:
            return {sizeof(rdma_ucm_destroy_id), offsetof(rdma_ucm_destroy_id, id)};
        case RDMA_USER_CM_CMD_BIND_IP:
            return {sizeof(rdma_ucm_bind_ip), offsetof(rdma_ucm_bind_ip, id)};
        case RDMA_USER_CM_CMD_BIND:
            return {sizeof(rdma_ucm_bind), offsetof(rdma_ucm_bind, id)};
        case RDMA_USER_CM_CMD_RESOLVE_IP:
            return {sizeof(rdma_ucm_resolve_ip), offsetof(rdma_ucm_resolve_ip, id)};
        case RDMA_USER_CM_CMD_RESOLVE_ADDR:
            return {sizeof(rdma_ucm_resolve_addr), offsetof(rdma_ucm_resolve_addr, id)};
        case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
            return {sizeof(rdma_ucm_resolve_route), offsetof(rdma_ucm_resolve_route, id)};
        case RDMA_USER_CM_CMD_QUERY_ROUTE:
        case RDMA_USER_CM_CMD_QUERY:
            return {sizeof(rdma_ucm_query), offsetof(rdma_ucm_query, id)};
        case RDMA_USER_CM_CMD_CONNECT:
            return {sizeof(rdma_ucm_connect), offsetof(rdma_ucm_connect, id)};
        case RDMA_USER_CM_CMD_LISTEN:
            return {sizeof(rdma_ucm_listen), offsetof(rdma_ucm_listen, id)};
        case RDMA_USER_CM_CMD_ACCEPT:
            return {sizeof(rdma_ucm_accept), offsetof(rdma_ucm_accept, id)};
        case RDMA_USER_CM_CMD_REJECT:
            return {sizeof(rdma_ucm_reject), offsetof(rdma_ucm_reject, id)};
        case RDMA_USER_CM_CMD_DISCONNECT:
            return {sizeof(rdma_ucm_disconnect), offsetof(rdma_ucm_disconnect, id)};
        case RDMA_USER_CM_CMD_INIT_QP_ATTR:
            return {sizeof(rdma_ucm_init_qp_attr), offsetof(rdma_ucm_init_qp_attr, id)};
        case RDMA_USER_CM_CMD_SET_OPTION:
            return {sizeof(rdma_ucm_set_option) + 4, offsetof(rdma_ucm_set_option, id)};
        case RDMA_USER_CM_CMD_NOTIFY:
            return {sizeof(rdma_ucm_notify), offsetof(rdma_ucm_notify, id)};
        case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
            return {sizeof(rdma_ucm_join_ip_mcast), offsetof(rdma_ucm_join_ip_mcast, id)};
        case RDMA_USER_CM_CMD_JOIN_MCAST:
            return {sizeof(rdma_ucm_join_mcast), offsetof(rdma_ucm_join_mcast, id)};
        case RDMA_USER_CM_CMD_MIGRATE_ID:
            return {sizeof(rdma_ucm_migrate_id), offsetof(rdma_ucm_migrate_id, id)};
        default:
            return {64, {}};
    }
}

/// A process with two open devices and the ids that it was given.
struct Liar {
    server::Lab& lab;
    server::Client& client;
    std::vector<uint32_t> files, ids;

    server::CmAnswer write(uint32_t file, uint32_t command, const std::vector<uint8_t>& in, uint32_t room) {
        protocol::CmCommandRequest request;
        request.file = file;
        request.command = command;
        request.in_bytes = static_cast<uint32_t>(std::min(in.size(), sizeof request.in));
        request.out_bytes = room;
        request.extra = files[command % files.size()];
        std::copy_n(in.begin(), request.in_bytes, request.in);
        return lab.rdma_cm().command(client, request, lab.engine().frontier());
    }
    void learn(const server::CmAnswer& answer, uint32_t command) {
        uint32_t id = 0;
        if (command == RDMA_USER_CM_CMD_CREATE_ID && answer.out.size() >= sizeof id)
            std::memcpy(&id, answer.out.data(), sizeof id);
        if (command == RDMA_USER_CM_CMD_GET_EVENT && answer.out.size() > offsetof(rdma_ucm_event_resp, event))
            std::memcpy(&id, answer.out.data() + offsetof(rdma_ucm_event_resp, id), sizeof id);
        if (id != 0) ids.push_back(id);
    }
};

Liar open_liar(server::Lab& lab, uint32_t host) {
    server::Client& client = lab.add_detached_client(host);
    Liar liar{lab, client, {}, {}};
    for (int i = 0; i < 2; ++i) liar.files.push_back(lab.rdma_cm().open(client).file);
    return liar;
}

/// An id of RDMA_PS_TCP that listens on port 7471.
void listen_on(Liar& liar) {
    const auto bytes_of = [](const auto& command) {
        const auto* p = reinterpret_cast<const uint8_t*>(&command);
        return std::vector<uint8_t>(p, p + sizeof command);
    };
    rdma_ucm_create_id create{};
    create.uid = 1;
    create.ps = RDMA_PS_TCP;
    liar.learn(liar.write(liar.files[0], RDMA_USER_CM_CMD_CREATE_ID, bytes_of(create), 64), RDMA_USER_CM_CMD_CREATE_ID);
    rdma_ucm_bind bind{};
    bind.id = liar.ids.back();
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(7471);
    std::memcpy(&bind.addr, &any, sizeof any);
    bind.addr_size = sizeof any;
    (void)liar.write(liar.files[0], RDMA_USER_CM_CMD_BIND, bytes_of(bind), 64);
    rdma_ucm_listen listen{};
    listen.id = liar.ids.back();
    (void)liar.write(liar.files[0], RDMA_USER_CM_CMD_LISTEN, bytes_of(listen), 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::DetachedLab& detached = fuzz::DetachedLab::instance();
    Liar liar = open_liar(detached.lab(), 0);
    Liar other = open_liar(detached.lab(), 1);
    listen_on(other);
    fuzz::Bytes in(data, size);
    for (int commands = 0; commands < 64 && !in.empty(); ++commands) {
        const uint32_t command = in.byte() % (RDMA_USER_CM_CMD_JOIN_MCAST + 2);
        const uint8_t which = in.byte();
        const uint32_t room = in.byte() * 8U;
        const Shape shape = shape_of(command);
        std::vector<uint8_t> payload(shape.bytes);
        in.fill(payload.data(), std::min<size_t>(in.byte() * 2U, payload.size()));
        if (shape.id && !liar.ids.empty() && which % 8 != 7) {
            const uint32_t id = liar.ids[which % liar.ids.size()];
            std::memcpy(payload.data() + *shape.id, &id, sizeof id);
        }
        if (which % 16 == 15) payload.resize(payload.size() / 2);
        liar.learn(liar.write(liar.files[(which >> 4) % 2], command, payload, room), command);
        detached.run(4);
        for (Liar* one : {&liar, &other})
            (void)detached.lab().apply_deliveries(one->client, detached.lab().engine().frontier());
    }
    if (size % 3 == 0) detached.lab().rdma_cm().close(liar.client, liar.files[0], detached.lab().engine().frontier());
    detached.lab().process_died(liar.client.process, 0);
    detached.run(16);
    detached.lab().process_died(other.client.process, 0);
    detached.run(64);
    return 0;
}
