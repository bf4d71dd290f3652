// rdma_cm case by case, both sides in one process: what Linux did with Soft-RoCE, event by event and errno by errno.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/sa.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static struct rdma_event_channel *client_events, *server_events;

#define CHECK(what, condition)                                                \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("FAILED %s (line %d, errno %d)\n", what, __LINE__, errno); \
            ++failures;                                                       \
        }                                                                     \
    } while (0)
#define CALL(what, call, wanted)                                                                     \
    do {                                                                                             \
        errno = 0;                                                                                   \
        const int rc_ = (call);                                                                      \
        const int got_ = rc_ == 0 ? 0 : errno;                                                       \
        if (got_ != (wanted)) {                                                                      \
            printf("FAILED %s: errno %d instead of %d (line %d)\n", what, got_, (wanted), __LINE__); \
            ++failures;                                                                              \
        }                                                                                            \
    } while (0)

static struct sockaddr_in address(const char* ip, int port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, ip, &a.sin_addr);
    return a;
}

struct seen {
    struct rdma_cm_id* id;
    int responder_resources, initiator_depth, private_data_len;
    char private_data[8];
};

/// The next event must be this one; it is acknowledged.
static struct seen expect_event(struct rdma_event_channel* from, enum rdma_cm_event_type type, int status, int line) {
    struct seen s = {0};
    struct rdma_cm_event* e;
    if (rdma_get_cm_event(from, &e)) {
        printf("FAILED line %d: no event, errno %d\n", line, errno);
        exit(1);
    }
    if (e->event != type || e->status != status) {
        printf("FAILED line %d: %s status %d instead of %s status %d\n", line, rdma_event_str(e->event), e->status,
               rdma_event_str(type), status);
        ++failures;
    }
    s.id = e->id;
    s.responder_resources = e->param.conn.responder_resources;
    s.initiator_depth = e->param.conn.initiator_depth;
    const int ud = e->id->qp_type == IBV_QPT_UD;
    s.private_data_len = ud ? e->param.ud.private_data_len : e->param.conn.private_data_len;
    const void* data = ud ? e->param.ud.private_data : e->param.conn.private_data;
    if (data != NULL && s.private_data_len >= 8) memcpy(s.private_data, data, 8);
    rdma_ack_cm_event(e);
    return s;
}
#define EXPECT(from, type, status) expect_event(from, RDMA_CM_EVENT_##type, status, __LINE__)

static enum ibv_qp_state state_of(struct rdma_cm_id* id) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    return ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init) == 0 ? attr.qp_state : IBV_QPS_UNKNOWN;
}

static struct ibv_qp_attr attributes_of(struct rdma_cm_id* id) {
    struct ibv_qp_attr attr = {0};
    struct ibv_qp_init_attr init;
    CHECK("query_qp", ibv_query_qp(id->qp, &attr, -1, &init) == 0);
    return attr;
}

static void make_qp(struct rdma_cm_id* id) {
    struct ibv_qp_init_attr attr = {.cap = {4, 4, 1, 1, 0}, .qp_type = id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC};
    CALL("create_qp", rdma_create_qp(id, NULL, &attr), 0);
}

static struct rdma_cm_id* resolved(enum rdma_port_space ps, int port) {
    struct rdma_cm_id* id = NULL;
    struct sockaddr_in to = address("10.0.0.1", port);
    CALL("create_id", rdma_create_id(client_events, &id, NULL, ps), 0);
    CALL("resolve_addr", rdma_resolve_addr(id, NULL, (struct sockaddr*)&to, 1000), 0);
    EXPECT(client_events, ADDR_RESOLVED, 0);
    CALL("resolve_route", rdma_resolve_route(id, 1000), 0);
    EXPECT(client_events, ROUTE_RESOLVED, 0);
    make_qp(id);
    return id;
}

static struct rdma_cm_id* listening(enum rdma_port_space ps, int port) {
    struct rdma_cm_id* id = NULL;
    struct sockaddr_in any = address("0.0.0.0", port);
    CALL("create_id", rdma_create_id(server_events, &id, NULL, ps), 0);
    CALL("bind_addr", rdma_bind_addr(id, (struct sockaddr*)&any), 0);
    CALL("listen", rdma_listen(id, 5), 0);
    return id;
}

static struct rdma_conn_param parameters(const char* data, int length) {
    struct rdma_conn_param p = {.private_data = data,
                                .private_data_len = (uint8_t)length,
                                .responder_resources = 4,
                                .initiator_depth = 4,
                                .retry_count = 3,
                                .rnr_retry_count = 3};
    return p;
}

static void destroy(struct rdma_cm_id* id) {
    if (id->qp != NULL) rdma_destroy_qp(id);
    CALL("destroy_id", rdma_destroy_id(id), 0);
}

static char large[256] = "hello";

/// Two connected ids.
static void establish(int port, struct rdma_cm_id** client, struct rdma_cm_id** server) {
    struct rdma_conn_param p = parameters("hello\0\0\0", 8);
    *client = resolved(RDMA_PS_TCP, port);
    CHECK("the QP is in INIT", state_of(*client) == IBV_QPS_INIT);
    p.responder_resources = 8;
    p.initiator_depth = 2;
    CALL("connect", rdma_connect(*client, &p), 0);
    const struct seen request = EXPECT(server_events, CONNECT_REQUEST, 0);
    CHECK("private data of the REQ", request.private_data_len == 56 && strcmp(request.private_data, "hello") == 0);
    CHECK("the server may take 2 and ask for 8", request.responder_resources == 2 && request.initiator_depth == 8);
    *server = request.id;
    make_qp(*server);
    struct rdma_conn_param q = parameters("world!\0\0", 8);
    q.responder_resources = 4;
    q.initiator_depth = 8;
    CALL("accept", rdma_accept(*server, &q), 0);
    CHECK("the server's QP is in RTS", state_of(*server) == IBV_QPS_RTS);
    const struct seen reply = EXPECT(client_events, ESTABLISHED, 0);
    CHECK("private data of the REP", reply.private_data_len == 196 && strcmp(reply.private_data, "world!") == 0);
    CHECK("the client's QP is in RTS", state_of(*client) == IBV_QPS_RTS);
    EXPECT(server_events, ESTABLISHED, 0);
    const struct ibv_qp_attr a = attributes_of(*client), b = attributes_of(*server);
    CHECK("each asks for no more than the other takes",
          a.max_rd_atomic == b.max_dest_rd_atomic && b.max_rd_atomic == a.max_dest_rd_atomic);
    CHECK("timeout 19", a.timeout == 19 && b.timeout == 19);
    CHECK("PSNs fit", a.sq_psn == b.rq_psn && b.sq_psn == a.rq_psn);
    CHECK("retries", a.retry_cnt == 3 && a.rnr_retry == 3 && b.retry_cnt == 3);
}

static void disconnecting(void) {
    struct rdma_cm_id *client, *server, *listener = listening(RDMA_PS_TCP, 7000);
    establish(7000, &client, &server);
    CALL("client disconnects", rdma_disconnect(client), 0);
    CHECK("at once its QP is in ERR", state_of(client) == IBV_QPS_ERR);
    EXPECT(server_events, DISCONNECTED, 0);
    CHECK("the server's QP stays in RTS", state_of(server) == IBV_QPS_RTS);
    CALL("server disconnects", rdma_disconnect(server), 0);
    EXPECT(client_events, DISCONNECTED, 0);
    EXPECT(client_events, TIMEWAIT_EXIT, 0);
    EXPECT(server_events, TIMEWAIT_EXIT, 0);
    CALL("a second disconnect", rdma_disconnect(client), 0);
    destroy(client);
    destroy(server);
    establish(7000, &client, &server);
    destroy(client);  // without disconnecting
    EXPECT(server_events, DISCONNECTED, 0);
    destroy(server);
    destroy(listener);
}

static void rejecting(void) {
    struct rdma_conn_param p = parameters(large, 56);
    struct rdma_cm_id* client = resolved(RDMA_PS_TCP, 7001);
    CALL("connect without a listener", rdma_connect(client, &p), 0);
    EXPECT(client_events, REJECTED, 8);
    CHECK("its QP is in ERR", state_of(client) == IBV_QPS_ERR);
    destroy(client);
    struct rdma_cm_id* listener = listening(RDMA_PS_TCP, 7001);
    client = resolved(RDMA_PS_TCP, 7001);
    CALL("connect", rdma_connect(client, &p), 0);
    struct seen request = EXPECT(server_events, CONNECT_REQUEST, 0);
    CALL("reject", rdma_reject(request.id, "nope\0\0\0", 8), 0);
    const struct seen no = EXPECT(client_events, REJECTED, 28);
    CHECK("private data of the REJ", no.private_data_len == 148 && strcmp(no.private_data, "nope") == 0);
    destroy(request.id);
    destroy(client);
    client = resolved(RDMA_PS_TCP, 7001);
    CALL("connect", rdma_connect(client, &p), 0);
    request = EXPECT(server_events, CONNECT_REQUEST, 0);
    destroy(request.id);  // instead of an answer
    EXPECT(client_events, REJECTED, 28);
    destroy(client);
    destroy(listener);
}

/* Both sides bring QPs of their own, so that they see each other's options as they are. */
static void options_of_the_vendor(void) {
    struct rdma_cm_id *client, *listener = listening(RDMA_PS_TCP, 7006);
    struct sockaddr_in to = address("10.0.0.1", 7006);
    struct rdma_conn_param p = parameters("", 0);
    struct ibv_ece asked = {.vendor_id = 0x123456, .options = 0x80000005}, granted = {.vendor_id = 7, .options = 4},
                   got;
    rdma_create_id(client_events, &client, NULL, RDMA_PS_TCP);
    CALL("resolve_addr", rdma_resolve_addr(client, NULL, (struct sockaddr*)&to, 1000), 0);
    EXPECT(client_events, ADDR_RESOLVED, 0);
    CALL("resolve_route", rdma_resolve_route(client, 1000), 0);
    EXPECT(client_events, ROUTE_RESOLVED, 0);
    CALL("set_local_ece", rdma_set_local_ece(client, &asked), 0);
    p.qp_num = 0x111;
    CALL("connect", rdma_connect(client, &p), 0);
    struct rdma_cm_id* server = EXPECT(server_events, CONNECT_REQUEST, 0).id;
    CALL("get_remote_ece", rdma_get_remote_ece(server, &got), 0);
    CHECK("the server sees what was asked for", got.vendor_id == asked.vendor_id && got.options == asked.options);
    CALL("set_local_ece", rdma_set_local_ece(server, &granted), 0);
    p.qp_num = 0x222;
    CALL("accept", rdma_accept(server, &p), 0);
    EXPECT(client_events, CONNECT_RESPONSE, 0);
    CALL("get_remote_ece", rdma_get_remote_ece(client, &got), 0);
    CHECK("the client sees its own vendor, and what is granted",
          got.vendor_id == asked.vendor_id && got.options == granted.options);
    CALL("establish", rdma_establish(client), 0);
    EXPECT(server_events, ESTABLISHED, 0);
    destroy(client);
    EXPECT(server_events, DISCONNECTED, 0);
    destroy(server);
    destroy(listener);
}

static struct ibv_path_data path_of(struct rdma_cm_id* id) {
    const struct ibv_sa_path_rec* r = id->route.path_rec;
    struct ibv_path_data d = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
                              .path = {.dgid = r->dgid,
                                       .sgid = r->sgid,
                                       .dlid = r->dlid,
                                       .slid = r->slid,
                                       .flowlabel_hoplimit = htonl(1),
                                       .reversible_numpath = 0x81,
                                       .pkey = r->pkey,
                                       .mtu = (uint8_t)(2 << 6 | r->mtu),
                                       .rate = (uint8_t)(2 << 6 | r->rate),
                                       .packetlifetime = (uint8_t)(2 << 6 | r->packet_life_time)}};
    return d;
}

/* A path record of the program's own instead of rdma_resolve_route. */
static void own_path(void) {
    struct rdma_cm_id *client = resolved(RDMA_PS_TCP, 7007), *server, *listener = listening(RDMA_PS_TCP, 7007);
    struct sockaddr_in to = address("10.0.0.1", 7007);
    struct rdma_conn_param p = parameters("", 0);
    struct ibv_path_data path[2] = {{0}, path_of(client)};
    struct ibv_port_attr port;
    CHECK("query_port", ibv_query_port(client->verbs, client->port_num, &port) == 0);
    const int infiniband = port.link_layer == IBV_LINK_LAYER_INFINIBAND;
    const int level = RDMA_OPTION_IB, name = RDMA_OPTION_IB_PATH;
    CALL("with a route already", rdma_set_option(client, level, name, path, sizeof path), EINVAL);
    destroy(client);
    rdma_create_id(client_events, &client, NULL, RDMA_PS_TCP);
    CALL("without an address", rdma_set_option(client, level, name, path, sizeof path), EINVAL);
    CALL("resolve_addr", rdma_resolve_addr(client, NULL, (struct sockaddr*)&to, 1000), 0);
    EXPECT(client_events, ADDR_RESOLVED, 0);
    CALL("an option that is none", rdma_set_option(client, level, 2, path, sizeof path), ENOSYS);
    CALL("half a path", rdma_set_option(client, level, name, path, sizeof path / 4), EINVAL);
    CALL("none with the flags of a primary one", rdma_set_option(client, level, name, path, sizeof path / 2), EINVAL);
    if (!infiniband) {
        CALL("on RoCE", rdma_set_option(client, level, name, path, sizeof path), EINVAL);
    } else {
        CALL("the second one", rdma_set_option(client, level, name, path, sizeof path), 0);
        EXPECT(client_events, ROUTE_RESOLVED, 0);
        make_qp(client);
        CALL("connect", rdma_connect(client, &p), 0);
        server = EXPECT(server_events, CONNECT_REQUEST, 0).id;
        make_qp(server);
        CALL("accept", rdma_accept(server, &p), 0);
        EXPECT(client_events, ESTABLISHED, 0);
        EXPECT(server_events, ESTABLISHED, 0);
        CHECK("the QP goes where the path says", attributes_of(client).ah_attr.dlid == ntohs(path[1].path.dlid));
        destroy(client);
        EXPECT(server_events, DISCONNECTED, 0);
        client = server;
    }
    destroy(client);
    destroy(listener);
}

static void moved_to_another_channel(void) {
    struct rdma_cm_id* id;
    struct sockaddr_in own = address("10.0.0.1", 1);
    struct rdma_event_channel* other = rdma_create_event_channel();
    rdma_create_id(client_events, &id, NULL, RDMA_PS_TCP);
    CALL("resolve_addr", rdma_resolve_addr(id, NULL, (struct sockaddr*)&own, 1000), 0);
    struct pollfd p = {.fd = client_events->fd, .events = POLLIN};
    CHECK("an event waits", poll(&p, 1, 1000) == 1);
    CALL("migrate", rdma_migrate_id(id, other), 0);
    CHECK("no event waits any more", poll(&p, 1, 0) == 0);
    EXPECT(other, ADDR_RESOLVED, 0);
    CALL("resolve_route", rdma_resolve_route(id, 1000), 0);
    EXPECT(other, ROUTE_RESOLVED, 0);
    CALL("migrate to where it is", rdma_migrate_id(id, other), 0);
    destroy(id);
    rdma_destroy_event_channel(other);
}

static void unreachable(void) {
    struct rdma_cm_id* id;
    struct sockaddr_in nobody = address("10.0.0.99", 1), outside = address("192.168.77.1", 1),
                       foreign = address("10.0.0.98", 0), own = address("10.0.0.1", 1);
    rdma_create_id(client_events, &id, NULL, RDMA_PS_TCP);
    CALL("resolve nobody", rdma_resolve_addr(id, NULL, (struct sockaddr*)&nobody, 1000), 0);
    EXPECT(client_events, ADDR_ERROR, -ETIMEDOUT);
    CALL("resolve outside", rdma_resolve_addr(id, NULL, (struct sockaddr*)&outside, 1000), ENETUNREACH);
    destroy(id);
    rdma_create_id(client_events, &id, NULL, RDMA_PS_TCP);
    CALL("resolve from elsewhere", rdma_resolve_addr(id, (struct sockaddr*)&foreign, (struct sockaddr*)&own, 1000),
         EADDRNOTAVAIL);
    destroy(id);
}

static void bad_calls(void) {
    struct rdma_cm_id *id, *other, *listener = listening(RDMA_PS_TCP, 7002);
    struct sockaddr_in taken = address("0.0.0.0", 7002), foreign = address("10.0.0.98", 7003);
    struct rdma_conn_param p = parameters(large, 57);
    rdma_create_id(client_events, &id, NULL, RDMA_PS_TCP);
    CALL("bind to a used port", rdma_bind_addr(id, (struct sockaddr*)&taken), EADDRINUSE);
    CALL("bind to a foreign address", rdma_bind_addr(id, (struct sockaddr*)&foreign), ENODEV);
    CALL("reject an idle id", rdma_reject(id, NULL, 0), EINVAL);
    CALL("disconnect an idle id", rdma_disconnect(id), EINVAL);
    CALL("listen unbound", rdma_listen(id, 1), 0);
    CHECK("it has a port now", ntohs(rdma_get_src_port(id)) >= 32768);
    destroy(id);
    rdma_create_id(client_events, &id, NULL, RDMA_PS_UDP);
    CALL("another port space has ports of its own", rdma_bind_addr(id, (struct sockaddr*)&taken), 0);
    destroy(id);
    id = resolved(RDMA_PS_TCP, 7002);
    CALL("resolve_route twice", rdma_resolve_route(id, 1000), EINVAL);
    CALL("57 bytes of private data", rdma_connect(id, &p), EINVAL);
    p.private_data_len = 255;
    CALL("255 bytes of private data", rdma_connect(id, &p), EINVAL);
    p.private_data_len = 56;
    CALL("56 bytes of private data", rdma_connect(id, &p), 0);
    CALL("connect twice", rdma_connect(id, &p), EINVAL);
    other = EXPECT(server_events, CONNECT_REQUEST, 0).id;
    make_qp(other);
    p.private_data_len = 197;
    CALL("accept with 197 bytes", rdma_accept(other, &p), EINVAL);
    p.private_data_len = 196;
    CALL("accept after that", rdma_accept(other, &p), EINVAL);
    CALL("reject after that", rdma_reject(other, NULL, 0), EINVAL);
    EXPECT(client_events, REJECTED, 28);
    destroy(other);
    destroy(id);
    destroy(listener);
    CALL("a port space that is none", rdma_create_id(client_events, &id, NULL, (enum rdma_port_space)0x999), EINVAL);
}

static void datagrams(void) {
    struct rdma_cm_id *listener = listening(RDMA_PS_UDP, 7004), *client = resolved(RDMA_PS_UDP, 7004);
    struct rdma_conn_param p = parameters(large, 180);
    CHECK("a UD QP is in RTS", state_of(client) == IBV_QPS_RTS);
    CALL("connect", rdma_connect(client, &p), 0);
    const struct seen request = EXPECT(server_events, CONNECT_REQUEST, 0);
    CHECK("180 bytes", request.private_data_len == 180 && strcmp(request.private_data, "hello") == 0);
    make_qp(request.id);
    p.qp_num = request.id->qp->qp_num;
    p.private_data_len = 136;
    CALL("accept", rdma_accept(request.id, &p), 0);
    struct rdma_cm_event* e;
    CHECK("an event", rdma_get_cm_event(client_events, &e) == 0);
    CHECK("ESTABLISHED with a QP and the Q_Key of rdma_cm",
          e->event == RDMA_CM_EVENT_ESTABLISHED && e->param.ud.qp_num == request.id->qp->qp_num &&
              e->param.ud.qkey == 0x01234567 && e->param.ud.private_data_len == 136);
    rdma_ack_cm_event(e);
    CALL("disconnect", rdma_disconnect(client), 0);
    destroy(request.id);
    destroy(client);
    client = resolved(RDMA_PS_UDP, 7005);
    p.private_data_len = 8;
    CALL("connect to nobody", rdma_connect(client, &p), 0);
    EXPECT(client_events, UNREACHABLE, 1);
    destroy(client);
    destroy(listener);
}

static void not_blocking(void) {
    struct rdma_cm_event* e;
    struct rdma_cm_id* id;
    struct sockaddr_in own = address("10.0.0.1", 1);
    struct pollfd p = {.fd = client_events->fd, .events = POLLIN};
    fcntl(client_events->fd, F_SETFL, fcntl(client_events->fd, F_GETFL) | O_NONBLOCK);
    CALL("no event yet", rdma_get_cm_event(client_events, &e), EAGAIN);
    CHECK("not readable", poll(&p, 1, 0) == 0);
    rdma_create_id(client_events, &id, NULL, RDMA_PS_TCP);
    CALL("resolve", rdma_resolve_addr(id, NULL, (struct sockaddr*)&own, 1000), 0);
    CHECK("readable", poll(&p, 1, 1000) == 1 && p.revents == POLLIN);
    EXPECT(client_events, ADDR_RESOLVED, 0);
    CHECK("not readable any more", poll(&p, 1, 0) == 0);
    destroy(id);
    fcntl(client_events->fd, F_SETFL, fcntl(client_events->fd, F_GETFL) & ~O_NONBLOCK);
}

int main(void) {
    client_events = rdma_create_event_channel();
    server_events = rdma_create_event_channel();
    if (client_events == NULL || server_events == NULL) {
        perror("rdma_create_event_channel");
        return 1;
    }
    disconnecting();
    rejecting();
    options_of_the_vendor();
    own_path();
    moved_to_another_channel();
    unreachable();
    bad_calls();
    datagrams();
    not_blocking();
    rdma_destroy_event_channel(client_events);
    rdma_destroy_event_channel(server_events);
    printf("rdma_cm cases: %s\n", failures == 0 ? "ok" : "FAILED");
    return failures != 0;
}
