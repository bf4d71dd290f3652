/* What poll_and_arm and watchful share: one RC queue pair, connected to the peer's over the socket of tcp_pair.h. */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "tcp_pair.h"

struct pair {
    struct ibv_context* ctx;
    struct ibv_port_attr port;
    struct ibv_pd* pd;
    struct ibv_mr* mr;
    struct ibv_comp_channel* channel; /* of cq */
    struct ibv_cq* cq;                /* receives, and sends where they have no CQ of their own */
    struct ibv_qp* qp;
    char buffer[4096];
};

/* Each call that makes something may fail, and a program must say which. */
static void make_pair(struct pair* p, int cq_entries, uint32_t depth) {
    struct ibv_device** list = ibv_get_device_list(NULL);
    if (!list || !list[0]) die("ibv_get_device_list");
    if (!(p->ctx = ibv_open_device(list[0]))) die("ibv_open_device");
    ibv_free_device_list(list);
    if (ibv_query_port(p->ctx, 1, &p->port)) die("ibv_query_port");
    if (!(p->pd = ibv_alloc_pd(p->ctx))) die("ibv_alloc_pd");
    if (!(p->mr = ibv_reg_mr(p->pd, p->buffer, sizeof p->buffer, IBV_ACCESS_LOCAL_WRITE))) die("ibv_reg_mr");
    if (!(p->channel = ibv_create_comp_channel(p->ctx))) die("ibv_create_comp_channel");
    if (!(p->cq = ibv_create_cq(p->ctx, cq_entries, NULL, p->channel, 0))) die("ibv_create_cq");
    struct ibv_qp_init_attr init = {
        .send_cq = p->cq,
        .recv_cq = p->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!(p->qp = ibv_create_qp(p->pd, &init))) die("ibv_create_qp");
}

/* One message of `bytes` more may come. */
static void post_receive(struct pair* p, uint32_t bytes) {
    struct ibv_sge sge = {.addr = (uintptr_t)p->buffer, .length = bytes, .lkey = p->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    if (ibv_post_recv(p->qp, &wr, &bad)) die("ibv_post_recv");
}

/* 0, or what ibv_post_send says. */
static int post_send(struct pair* p, uint32_t bytes, unsigned flags) {
    struct ibv_sge sge = {.addr = (uintptr_t)p->buffer + 2048, .length = bytes, .lkey = p->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = flags}, *bad;
    return ibv_post_send(p->qp, &wr, &bad);
}

/* RESET to INIT: receives can be posted now. */
static void start_pair(struct pair* p) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    if (ibv_modify_qp(p->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("RESET -> INIT");
}

static void wait_for_peer(int fd) {
    char c = 'x';
    if (write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1) die("peer");
}

/* INIT to RTS, with the peer at the other end of `fd`. */
static void connect_pair(struct pair* p, int fd, int gid_index, uint8_t timeout, uint8_t retry_cnt) {
    struct {
        uint32_t qpn, lid;
        union ibv_gid gid;
    } mine = {p->qp->qp_num, p->port.lid, {{0}}}, theirs;
    const int is_ethernet = p->port.link_layer == IBV_LINK_LAYER_ETHERNET;
    if (is_ethernet && ibv_query_gid(p->ctx, 1, gid_index, &mine.gid)) die("ibv_query_gid");
    if (write(fd, &mine, sizeof mine) != sizeof mine || read(fd, &theirs, sizeof theirs) != sizeof theirs) die("peer");
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = theirs.qpn,
        .rq_psn = 0,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.port_num = 1, .dlid = (uint16_t)theirs.lid, .is_global = (uint8_t)is_ethernet}};
    a.ah_attr.grh.dgid = theirs.gid;
    a.ah_attr.grh.sgid_index = (uint8_t)gid_index;
    a.ah_attr.grh.hop_limit = 64;
    if (ibv_modify_qp(p->qp, &a,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("INIT -> RTR");
    struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTS,
                            .timeout = timeout,
                            .retry_cnt = retry_cnt,
                            .rnr_retry = 7,
                            .sq_psn = 0,
                            .max_rd_atomic = 1};
    if (ibv_modify_qp(p->qp, &b,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("RTR -> RTS");
    /* Nobody sends before both are ready. */
    wait_for_peer(fd);
}
