/* A server that finds its client by rdma_cm: it listens on every RDMA device of the host, tells whoever connects where
 * to write (private data), and prints what was written once a message says so.
 *
 *     gcc -O2 -Wall cm_server.c -lrdmacm -libverbs -o cm_server
 *     ./cm_server          on the other host: ./cm_client ADDRESS
 *
 * Runs unmodified on real hardware and between simulated hosts. rdma_cm.md explains. */
#include "cm_pair.h"

static void post_receive(struct rdma_cm_id* id, struct ibv_mr* mr) {
    struct ibv_sge sge = {.addr = (uintptr_t)mr->addr, .length = BYTES, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
    if ((errno = ibv_post_recv(id->qp, &wr, &bad))) die("ibv_post_recv");
}

int main(void) {
    static char buffer[BYTES];

    /* 1. Events of all ids come here, as a descriptor that poll() knows. */
    struct rdma_event_channel* channel = rdma_create_event_channel();
    if (!channel) die("rdma_create_event_channel");

    /* 2. An id is to rdma_cm what a socket is to TCP. */
    struct rdma_cm_id* listener;
    if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP)) die("rdma_create_id");

    /* 3. Every address of the host, hence every device. */
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_ANY)};
    if (rdma_bind_addr(listener, (struct sockaddr*)&any)) die("rdma_bind_addr");
    if (rdma_listen(listener, 1)) die("rdma_listen");
    printf("listening on port %d\n", ntohs(rdma_get_src_port(listener)));

    /* 4. A client: a new id, already bound to the device that it came by. */
    struct rdma_cm_event* event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id* id = event->id;
    printf("a client says: %.*s\n", (int)event->param.conn.private_data_len,
           (const char*)event->param.conn.private_data);
    rdma_ack_cm_event(event);

    /* 5. Receives are posted before the client may send. */
    struct ibv_mr* mr = make_qp(id, buffer);
    char signal[BYTES];
    struct ibv_mr* signal_mr = ibv_reg_mr(mr->pd, signal, BYTES, IBV_ACCESS_LOCAL_WRITE);
    if (!signal_mr) die("ibv_reg_mr");
    post_receive(id, signal_mr);

    /* 6. Accept, and say where to write. */
    struct offer offer = {.addr = (uintptr_t)buffer, .rkey = mr->rkey, .bytes = BYTES};
    struct rdma_conn_param param = {.private_data = &offer,
                                    .private_data_len = sizeof offer,
                                    .responder_resources = 1,
                                    .initiator_depth = 1,
                                    .rnr_retry_count = 7};
    if (rdma_accept(id, &param)) die("rdma_accept");
    expect_event(channel, RDMA_CM_EVENT_ESTABLISHED);

    /* 7. The client writes without this program, then sends: that is what completes here. */
    complete(id);
    printf("memory now says: %s\n", buffer);

    /* 8. The client hangs up. */
    expect_event(channel, RDMA_CM_EVENT_DISCONNECTED);
    ibv_dereg_mr(signal_mr);
    clean_up(id, mr);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(channel);
    return 0;
}
