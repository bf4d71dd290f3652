/* What the test programs share: an endpoint with one RC QP, and bringing two of them together. */
#ifndef RC_PAIR_H
#define RC_PAIR_H

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct address {
    uint32_t qpn, rkey, lid, pad;
    uint64_t addr;
    union ibv_gid gid;
};

struct endpoint {
    struct ibv_context* ctx;
    struct ibv_pd* pd;
    struct ibv_mr* mr;
    struct ibv_cq* cq;
    struct ibv_qp* qp;
    char* buffer;
    size_t bytes;
    struct ibv_port_attr port;
    struct address self;
};

static inline void die(const char* what) {
    perror(what);
    exit(2);
}

static inline void open_endpoint(struct endpoint* e, size_t bytes,
                                 struct ibv_comp_channel* (*channel)(struct ibv_context*)) {
    struct ibv_device** list = ibv_get_device_list(NULL);
    if (!list || !list[0]) die("no device");
    e->ctx = ibv_open_device(list[0]);
    if (!e->ctx) die("ibv_open_device");
    ibv_free_device_list(list);
    if (ibv_query_port(e->ctx, 1, &e->port)) die("ibv_query_port");
    e->pd = ibv_alloc_pd(e->ctx);
    e->bytes = bytes;
    e->buffer = aligned_alloc(4096, bytes);
    memset(e->buffer, 0, bytes);
    e->mr = ibv_reg_mr(
        e->pd, e->buffer, bytes,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    if (!e->mr) die("ibv_reg_mr");
    e->cq = ibv_create_cq(e->ctx, 256, NULL, channel ? channel(e->ctx) : NULL, 0);
    if (!e->cq) die("ibv_create_cq");
    struct ibv_qp_init_attr init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1}};
    e->qp = ibv_create_qp(e->pd, &init);
    if (!e->qp) die("ibv_create_qp");
    e->self.qpn = e->qp->qp_num;
    e->self.rkey = e->mr->rkey;
    e->self.lid = e->port.lid;
    e->self.addr = (uintptr_t)e->buffer;
    if (ibv_query_gid(e->ctx, 1, e->port.link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 0, &e->self.gid))
        die("ibv_query_gid");
}

static inline void connect_endpoint(struct endpoint* e, const struct address* peer, int timeout, int retry) {
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
    if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) die("to INIT");
    memset(&a, 0, sizeof a);
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_1024;
    a.dest_qp_num = peer->qpn;
    a.rq_psn = 100;
    a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = 12;
    a.ah_attr.port_num = 1;
    a.ah_attr.dlid = (uint16_t)peer->lid;
    if (e->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
        a.ah_attr.is_global = 1;
        a.ah_attr.grh.dgid = peer->gid;
        a.ah_attr.grh.sgid_index = 1;
        a.ah_attr.grh.hop_limit = 64;
    }
    if (ibv_modify_qp(e->qp, &a,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("to RTR");
    memset(&a, 0, sizeof a);
    a.qp_state = IBV_QPS_RTS;
    a.timeout = (uint8_t)timeout;
    a.retry_cnt = (uint8_t)retry;
    a.rnr_retry = 7;
    a.sq_psn = 100;
    a.max_rd_atomic = 1;
    if (ibv_modify_qp(e->qp, &a,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("to RTS");
}

static inline int post(struct endpoint* e, enum ibv_wr_opcode opcode, uint64_t id, size_t bytes,
                       const struct address* peer) {
    struct ibv_sge sge = {.addr = (uintptr_t)e->buffer, .length = (uint32_t)bytes, .lkey = e->mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr* bad;
    wr.wr.rdma.remote_addr = peer->addr;
    wr.wr.rdma.rkey = peer->rkey;
    return ibv_post_send(e->qp, &wr, &bad);
}

static inline int post_receive(struct endpoint* e, uint64_t id, size_t bytes) {
    struct ibv_sge sge = {.addr = (uintptr_t)e->buffer, .length = (uint32_t)bytes, .lkey = e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr* bad;
    return ibv_post_recv(e->qp, &wr, &bad);
}

static inline struct ibv_wc wait_completion(struct endpoint* e) {
    struct ibv_wc wc;
    int n;
    while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0) {
    }
    if (n < 0) die("ibv_poll_cq");
    return wc;
}

static inline int tcp_listen(const char* port) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *at;
    if (getaddrinfo(NULL, port, &hints, &at)) die("getaddrinfo");
    int fd = socket(at->ai_family, at->ai_socktype, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 4)) die("listen");
    freeaddrinfo(at);
    return fd;
}

static inline int tcp_connect(const char* host, const char* port) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *at;
    if (getaddrinfo(host, port, &hints, &at)) die("getaddrinfo");
    int fd = socket(at->ai_family, at->ai_socktype, 0);
    if (connect(fd, at->ai_addr, at->ai_addrlen)) die("connect");
    freeaddrinfo(at);
    return fd;
}

/* Both sides write theirs and read the other's. */
static inline void swap_addresses(int fd, const struct address* mine, struct address* theirs) {
    if (write(fd, mine, sizeof *mine) != sizeof *mine) die("write");
    for (size_t got = 0; got < sizeof *theirs;) {
        ssize_t n = read(fd, (char*)theirs + got, sizeof *theirs - got);
        if (n <= 0) die("read");
        got += (size_t)n;
    }
}

#endif
