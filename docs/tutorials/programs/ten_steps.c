/* The ten steps of every RDMA program, from the device list to clean-up, with one RDMA WRITE in the middle.
 *
 *     gcc -O2 -Wall ten_steps.c -libverbs -o ten_steps
 *     server:  ./ten_steps                client:  ./ten_steps SERVER
 *
 * Runs unmodified on real hardware and between simulated hosts. The addresses of the two QPs are exchanged over TCP;
 * the path is by GID on Ethernet (RoCE) and by LID on InfiniBand. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "tcp_pair.h"

#define PORT "18600"
#define BUFFER_BYTES 4096
static const char kGreeting[] = "written by RDMA, no receive posted";

/* What each side must know of the other. Sent over TCP in network byte order. */
struct peer {
    uint32_t qpn, psn, rkey, lid;
    uint64_t addr;
    union ibv_gid gid;
} __attribute__((packed));

static void exchange(int fd, const void* mine, void* theirs, size_t bytes) {
    if (write(fd, mine, bytes) != (ssize_t)bytes) die("write to peer");
    for (size_t got = 0; got < bytes;) {
        ssize_t n = read(fd, (char*)theirs + got, bytes - got);
        if (n <= 0) die("read from peer");
        got += (size_t)n;
    }
}

int main(int argc, char** argv) {
    const char* server = argc > 1 ? argv[1] : NULL;

    /* 1. Device list. */
    int count = 0;
    struct ibv_device** list = ibv_get_device_list(&count);
    if (!list || count == 0) {
        fprintf(stderr, "no RDMA device\n");
        return 1;
    }
    printf(" 1 device list: %d, first is %s\n", count, ibv_get_device_name(list[0]));

    /* 2. Open. */
    struct ibv_context* ctx = ibv_open_device(list[0]);
    if (!ctx) die("ibv_open_device");
    ibv_free_device_list(list);
    struct ibv_port_attr port;
    if (ibv_query_port(ctx, 1, &port)) die("ibv_query_port");
    const int roce = port.link_layer == IBV_LINK_LAYER_ETHERNET;
    printf(" 2 open: port 1 is %s, %s\n", ibv_port_state_str(port.state), roce ? "Ethernet" : "InfiniBand");

    /* 3. Protection domain. */
    struct ibv_pd* pd = ibv_alloc_pd(ctx);
    if (!pd) die("ibv_alloc_pd");
    printf(" 3 protection domain\n");

    /* 4. Memory region: the client's is read by its own HCA, the server's is written by the client. */
    char* buffer = aligned_alloc(4096, BUFFER_BYTES);
    memset(buffer, 0, BUFFER_BYTES);
    struct ibv_mr* mr = ibv_reg_mr(pd, buffer, BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!mr) die("ibv_reg_mr");
    printf(" 4 memory region: %d bytes, lkey and rkey %s\n", BUFFER_BYTES, mr->lkey == mr->rkey ? "equal" : "differ");

    /* 5. Completion queue. */
    struct ibv_cq* cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
    if (!cq) die("ibv_create_cq");
    printf(" 5 completion queue: %d entries\n", cq->cqe);

    /* 6. RC queue pair, in state RESET. */
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp* qp = ibv_create_qp(pd, &init);
    if (!qp) die("ibv_create_qp");
    printf(" 6 queue pair: RC, state RESET\n");

    /* 7. RESET -> INIT. */
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("RESET->INIT");

    /* The two sides tell each other where they are. RoCE: the last GID is taken, v2 over IPv4 where there is one. */
    int gid_index = 0;
    struct peer mine = {0}, theirs;
    for (int i = 0; roce && i < port.gid_tbl_len; ++i) {
        struct ibv_gid_entry entry;
        if (ibv_query_gid_ex(ctx, 1, (uint32_t)i, &entry, 0)) continue;
        if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
        gid_index = i;
        mine.gid = entry.gid;
    }
    mine.qpn = htonl(qp->qp_num);
    mine.psn = htonl(0x1000);
    mine.rkey = htonl(mr->rkey);
    mine.lid = htonl(port.lid);
    mine.addr = (uint64_t)htonl((uint32_t)((uintptr_t)buffer >> 32)) | (uint64_t)htonl((uint32_t)(uintptr_t)buffer)
                                                                           << 32;
    int tcp = connect_tcp(server, PORT);
    exchange(tcp, &mine, &theirs, sizeof mine);

    /* INIT -> RTR: where the peer is. By GID on RoCE, by LID on InfiniBand. */
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = port.active_mtu;
    attr.dest_qp_num = ntohl(theirs.qpn);
    attr.rq_psn = ntohl(theirs.psn);
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr.port_num = 1;
    if (roce) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.dgid = theirs.gid;
        attr.ah_attr.grh.sgid_index = (uint8_t)gid_index;
        attr.ah_attr.grh.hop_limit = 64;
    } else {
        attr.ah_attr.dlid = (uint16_t)ntohl(theirs.lid);
    }
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("INIT->RTR");

    /* RTR -> RTS: how hard to try. */
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.sq_psn = 0x1000;
    attr.max_rd_atomic = 1;
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("RTR->RTS");
    printf(" 7 RESET -> INIT -> RTR -> RTS, path by %s\n", roce ? "GID" : "LID");
    char ready = 'r', peer_ready;
    exchange(tcp, &ready, &peer_ready, 1);

    if (server) {
        /* 8. RDMA WRITE: the peer's CPU takes no part in it. */
        strcpy(buffer, kGreeting);
        struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = sizeof kGreeting, .lkey = mr->lkey};
        struct ibv_send_wr wr = {
            .wr_id = 42, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
        uint32_t high = (uint32_t)theirs.addr, low = (uint32_t)(theirs.addr >> 32);
        wr.wr.rdma.remote_addr = (uint64_t)ntohl(high) << 32 | ntohl(low);
        wr.wr.rdma.rkey = ntohl(theirs.rkey);
        struct ibv_send_wr* bad = NULL;
        if (ibv_post_send(qp, &wr, &bad)) die("ibv_post_send");
        printf(" 8 RDMA WRITE posted, %zu bytes\n", sizeof kGreeting);

        /* 9. Poll for the completion. */
        struct ibv_wc wc;
        int n;
        while ((n = ibv_poll_cq(cq, 1, &wc)) == 0) {
        }
        if (n < 0 || wc.status != IBV_WC_SUCCESS) {
            fprintf(stderr, "completion: %s\n", n < 0 ? "poll failed" : ibv_wc_status_str(wc.status));
            return 1;
        }
        printf(" 9 completion: wr_id %llu, %s\n", (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
    }
    exchange(tcp, &ready, &peer_ready, 1); /* the client says that its write is complete */
    if (!server) {
        printf(" 8 memory now says: %s\n", buffer);
        if (strcmp(buffer, kGreeting)) return 1;
        printf(" 9 no completion here: the write was one-sided\n");
    }

    /* 10. Clean up, in reverse order. */
    close(tcp);
    if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) || ibv_close_device(ctx))
        die("clean-up");
    free(buffer);
    printf("10 cleaned up\n");
    return 0;
}
