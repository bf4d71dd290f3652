/* The client of cm_server.c: address, route, connection, one RDMA WRITE to where the server said, one SEND.
 *
 *     gcc -O2 -Wall cm_client.c -lrdmacm -libverbs -o cm_client
 *     ./cm_client ADDRESS */
#include <netdb.h>

#include "cm_pair.h"

int main(int argc, char** argv) {
    static char buffer[BYTES] = "written by RDMA over a connection of rdma_cm";
    static const char kHello[] = "hello";
    struct addrinfo hints = {.ai_family = AF_INET}, *to;
    if (argc != 2 || getaddrinfo(argv[1], NULL, &hints, &to)) {
        fprintf(stderr, "usage: cm_client ADDRESS\n");
        return 2;
    }
    ((struct sockaddr_in*)to->ai_addr)->sin_port = htons(PORT);

    struct rdma_event_channel* channel = rdma_create_event_channel();
    struct rdma_cm_id* id;
    if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) die("rdma_create_id");

    /* 1. Which device reaches that address, and what is its GID? */
    if (rdma_resolve_addr(id, NULL, to->ai_addr, 2000)) die("rdma_resolve_addr");
    expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    printf("by %s\n", ibv_get_device_name(id->verbs->device));

    /* 2. By which path? InfiniBand asks the subnet administrator; RoCE knows. */
    if (rdma_resolve_route(id, 2000)) die("rdma_resolve_route");
    expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);

    /* 3. REQ goes out, REP comes back, RTU ends it; the QP is in RTS then. */
    struct ibv_mr* mr = make_qp(id, buffer);
    struct rdma_conn_param param = {.private_data = kHello,
                                    .private_data_len = sizeof kHello,
                                    .responder_resources = 1,
                                    .initiator_depth = 1,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7};
    if (rdma_connect(id, &param)) die("rdma_connect");
    struct rdma_cm_event* event = next_event(channel, RDMA_CM_EVENT_ESTABLISHED);
    struct offer offer;
    memcpy(&offer, event->param.conn.private_data, sizeof offer);
    rdma_ack_cm_event(event);
    printf("the server offers %u bytes\n", offer.bytes);

    /* 4. The WRITE, and behind it the SEND that tells of it: RC keeps their order. */
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = sizeof buffer, .lkey = mr->lkey};
    struct ibv_send_wr send = {
        .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr write = {.wr_id = 1, .next = &send, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE},
                       *bad;
    write.wr.rdma.remote_addr = offer.addr;
    write.wr.rdma.rkey = offer.rkey;
    if ((errno = ibv_post_send(id->qp, &write, &bad))) die("ibv_post_send");
    complete(id);

    /* 5. DREQ, DREP. */
    if (rdma_disconnect(id)) die("rdma_disconnect");
    expect_event(channel, RDMA_CM_EVENT_DISCONNECTED);
    clean_up(id, mr);
    rdma_destroy_event_channel(channel);
    freeaddrinfo(to);
    return 0;
}
