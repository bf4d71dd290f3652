/* What cm_server.c and cm_client.c share: one event at a time, one completion at a time, and a registered buffer. */
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT 18515
#define BYTES 4096

/* Sent as private data with rdma_accept(): where the client may write. */
struct offer {
    uint64_t addr;
    uint32_t rkey;
    uint32_t bytes;
};

static void die(const char* what) {
    perror(what);
    exit(1);
}

/* The next event, which must be `expected`. The caller acknowledges it: what it points to lives until then. */
static struct rdma_cm_event* next_event(struct rdma_event_channel* channel, enum rdma_cm_event_type expected) {
    struct rdma_cm_event* event;
    if (rdma_get_cm_event(channel, &event)) die("rdma_get_cm_event");
    printf("%s\n", rdma_event_str(event->event));
    if (event->event != expected) {
        fprintf(stderr, "%s with status %d, expected %s\n", rdma_event_str(event->event), event->status,
                rdma_event_str(expected));
        exit(1);
    }
    return event;
}

static void expect_event(struct rdma_event_channel* channel, enum rdma_cm_event_type expected) {
    rdma_ack_cm_event(next_event(channel, expected));
}

/* PD, CQ, QP and a registered buffer on the device that the id has been bound to. rdma_create_qp() moves the QP to
 * INIT; RTR and RTS follow by themselves while the connection is made. */
static struct ibv_mr* make_qp(struct rdma_cm_id* id, char* buffer) {
    struct ibv_pd* pd = ibv_alloc_pd(id->verbs);
    struct ibv_cq* cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
    if (!pd || !cq) die("ibv_alloc_pd, ibv_create_cq");
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
    if (rdma_create_qp(id, pd, &init)) die("rdma_create_qp");
    struct ibv_mr* mr = ibv_reg_mr(pd, buffer, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!mr) die("ibv_reg_mr");
    return mr;
}

static void complete(struct rdma_cm_id* id) {
    struct ibv_wc wc;
    int n;
    while ((n = ibv_poll_cq(id->qp->send_cq, 1, &wc)) == 0) {
    }
    if (n < 0 || wc.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "completion: %s\n", n < 0 ? "poll failed" : ibv_wc_status_str(wc.status));
        exit(1);
    }
}

static void clean_up(struct rdma_cm_id* id, struct ibv_mr* mr) {
    struct ibv_cq* cq = id->qp->send_cq;
    struct ibv_pd* pd = mr->pd;
    rdma_destroy_qp(id);
    if (ibv_dereg_mr(mr) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || rdma_destroy_id(id)) die("clean-up");
}
