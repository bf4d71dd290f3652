/* What the GPU programs share: CUDA's errors, a clock, an adapter, one RC queue pair and its peer.
 *
 * The two sides tell each other their addresses over TCP (../tcp_pair.h), as they are in memory: both machines must
 * have the same byte order. */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "../tcp_pair.h"

/* CUDA returns its errors; what is wrong is said once, here. */
#define CUDA(call) check_cuda(call, #call)
static inline void check_cuda(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}

static inline double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline void exchange(int fd, const void* mine, void* theirs, size_t bytes) {
    for (size_t put = 0; put < bytes;) {
        ssize_t n = write(fd, (const char*)mine + put, bytes - put);
        if (n <= 0) die("write to peer");
        put += (size_t)n;
    }
    for (size_t got = 0; got < bytes;) {
        ssize_t n = read(fd, (char*)theirs + got, bytes - got);
        if (n <= 0) die("read from peer");
        got += (size_t)n;
    }
}

static inline void wait_for_peer(int fd) {
    char mine = 'x', theirs;
    exchange(fd, &mine, &theirs, 1);
}

/* An adapter. Which one matters: the GPU's bytes should not leave the PCIe switch that both sit below
 * (nvidia-smi topo -m). */
struct nic {
    struct ibv_context* ctx;
    struct ibv_pd* pd;
    struct ibv_port_attr port;
    int is_ethernet, gid_index;
    union ibv_gid gid;
};

/* `name` as ibv_devices shows it, or its number, or null for the first. */
static inline void open_nic(struct nic* nic, const char* name) {
    int count = 0;
    struct ibv_device** list = ibv_get_device_list(&count);
    if (!list) die("ibv_get_device_list");
    struct ibv_device* device = NULL;
    for (int i = 0; i < count && !device; ++i) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        if (!name || !strcmp(name, number) || !strcmp(name, ibv_get_device_name(list[i]))) device = list[i];
    }
    if (!device) {
        fprintf(stderr, "no RDMA device %s\n", name ? name : "");
        exit(1);
    }
    if (!(nic->ctx = ibv_open_device(device))) die("ibv_open_device");
    ibv_free_device_list(list);
    if (!(nic->pd = ibv_alloc_pd(nic->ctx))) die("ibv_alloc_pd");
    if (ibv_query_port(nic->ctx, 1, &nic->port)) die("ibv_query_port");
    nic->is_ethernet = nic->port.link_layer == IBV_LINK_LAYER_ETHERNET;
    /* RoCE v2; of several GIDs the last, which is the one of IPv4 where there is any. */
    for (int i = 0; nic->is_ethernet && i < nic->port.gid_tbl_len; ++i) {
        struct ibv_gid_entry entry;
        if (ibv_query_gid_ex(nic->ctx, 1, (uint32_t)i, &entry, 0) || entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
        nic->gid_index = i;
        nic->gid = entry.gid;
    }
}

/* One connection. */
struct wire {
    struct nic* nic;
    struct ibv_cq* cq; /* of sends and receives */
    struct ibv_qp* qp;
};

static inline void make_wire(struct wire* w, struct nic* nic, uint32_t sends, uint32_t receives) {
    w->nic = nic;
    if (!(w->cq = ibv_create_cq(nic->ctx, (int)(sends + receives), NULL, NULL, 0))) die("ibv_create_cq");
    struct ibv_qp_init_attr init = {
        .send_cq = w->cq,
        .recv_cq = w->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!(w->qp = ibv_create_qp(nic->pd, &init))) die("ibv_create_qp");
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    if (ibv_modify_qp(w->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("RESET -> INIT");
}

/* To RTS, with the queue pair that the peer shows at the same place of the conversation over `fd`. */
static inline void connect_wire(struct wire* w, int fd) {
    struct {
        uint32_t qpn, lid;
        union ibv_gid gid;
    } mine = {w->qp->qp_num, w->nic->port.lid, w->nic->gid}, theirs;
    exchange(fd, &mine, &theirs, sizeof mine);
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = w->nic->port.active_mtu,
        .dest_qp_num = theirs.qpn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.port_num = 1,
                    .dlid = (uint16_t)theirs.lid,
                    .is_global = (uint8_t)w->nic->is_ethernet,
                    .grh = {.dgid = theirs.gid, .sgid_index = (uint8_t)w->nic->gid_index, .hop_limit = 64}}};
    if (ibv_modify_qp(w->qp, &a,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("INIT -> RTR");
    struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    if (ibv_modify_qp(w->qp, &b,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("RTR -> RTS");
}

/* Memory of this side that the peer may write: what it must know of it. */
struct window {
    uint64_t addr;
    uint32_t rkey, lkey; /* lkey: of use to the owner alone */
};

static inline struct ibv_mr* reg_mr(struct nic* nic, void* at, size_t bytes) {
    return ibv_reg_mr(nic->pd, at, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

static inline void post_receive(struct wire* w) {
    struct ibv_recv_wr wr = {.num_sge = 0}, *bad;
    if (ibv_post_recv(w->qp, &wr, &bad)) die("ibv_post_recv");
}

/* RDMA WRITE. With `imm` the peer's oldest receive completes, once the bytes are there. */
static inline void post_write(struct wire* w, uint64_t from, uint32_t lkey, uint64_t to, uint32_t rkey, uint32_t bytes,
                              const uint32_t* imm) {
    struct ibv_sge sge = {.addr = from, .length = bytes, .lkey = lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = bytes > 0,
                             .opcode = imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr = {.rdma = {.remote_addr = to, .rkey = rkey}}},
                       *bad;
    if (imm) wr.imm_data = *imm;
    if (ibv_post_send(w->qp, &wr, &bad)) die("ibv_post_send");
}

/* A completion, if there is one: 1, and its immediate in `imm` if it is a receive's, else IBV_WC_RDMA_WRITE. */
static inline int poll_wire(struct wire* w, struct ibv_wc* wc) {
    int n = ibv_poll_cq(w->cq, 1, wc);
    if (n < 0) die("ibv_poll_cq");
    if (n > 0 && wc->status != IBV_WC_SUCCESS) {
        fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc->status));
        exit(1);
    }
    return n;
}

static inline int is_receive(const struct ibv_wc* wc) {
    return (wc->opcode & IBV_WC_RECV) != 0;
}
