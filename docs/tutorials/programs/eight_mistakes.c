/* Eight mistakes that everybody makes once with queue pairs, each on purpose, and the same without (0).
 *
 *     gcc -O2 -Wall eight_mistakes.c -libverbs -o eight_mistakes
 *     server:  ./eight_mistakes N         client:  ./eight_mistakes N SERVER         N: 0 (none) to 8
 *
 * The server receives one SEND of 64 bytes and one RDMA WRITE of 64 bytes; the client sends them. Both print what their
 * calls and completions say. Runs unmodified on real hardware and between simulated hosts. qp_state_machine.md
 * explains. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "tcp_pair.h"

#define PORT "18608"
#define MESSAGE 64
enum mistake {
    NONE,
    NO_MIN_RNR_TIMER,
    NO_GRH,
    PEER_NOT_READY,
    NO_RECEIVE,
    SMALL_RECEIVE,
    WRONG_RKEY,
    QP_WITHOUT_RIGHT,
    NEVER_POLLED
};

/* What each side must know of the other, as text lines would be: fixed-width hexadecimal, no byte order to think of. */
struct peer {
    uint32_t qpn, rkey, lid;
    uint64_t addr;
    union ibv_gid gid;
};

static enum mistake mistake;
static struct ibv_context* ctx;
static struct ibv_port_attr port;
static struct ibv_qp* qp;
static struct ibv_cq* cq;
static struct ibv_mr* mr;
static char buffer[4096];

/* Says how a call ended; a mistake that a call finds ends the program well, having shown what it was to show. */
static void expect_call(const char* what, int rc, int expected) {
    if (rc == expected) {
        if (rc == 0) return;
        printf("%s: %s\n", what, strerror(rc));
        exit(0);
    }
    printf("%s: %s, expected %s\n", what, rc ? strerror(rc) : "success", expected ? strerror(expected) : "success");
    exit(1);
}

static struct peer exchange(int fd, int gid_index) {
    char mine[96], theirs[sizeof mine];
    union ibv_gid gid = {{0}};
    if (port.link_layer == IBV_LINK_LAYER_ETHERNET && ibv_query_gid(ctx, 1, gid_index, &gid)) die("ibv_query_gid");
    int n = snprintf(mine, sizeof mine, "%08x %08x %08x %016llx ", qp->qp_num, mr->rkey, port.lid,
                     (unsigned long long)(uintptr_t)buffer);
    for (int i = 0; i < 16; ++i) n += snprintf(mine + n, sizeof mine - (size_t)n, "%02x", gid.raw[i]);
    size_t length = (size_t)n;
    if (write(fd, mine, length) != (ssize_t)length) die("write to peer");
    for (size_t got = 0; got < length;) {
        ssize_t more = read(fd, theirs + got, length - got);
        if (more <= 0) die("read from peer");
        got += (size_t)more;
    }
    theirs[length] = 0;
    struct peer p;
    unsigned long long addr;
    if (sscanf(theirs, "%8x %8x %8x %16llx", &p.qpn, &p.rkey, &p.lid, &addr) != 4) die("peer");
    p.addr = addr;
    for (int i = 0; i < 16; ++i) sscanf(theirs + length - 32 + 2 * i, "%2hhx", &p.gid.raw[i]);
    return p;
}

static void wait_for_peer(int fd) {
    char c = 'x';
    if (write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1) die("peer");
}

/* RoCE v2 over IPv4 where there is one: its GID ends in the interface's IPv4 address. */
static int choose_gid_index(void) {
    int chosen = 0;
    for (int i = 0; port.link_layer == IBV_LINK_LAYER_ETHERNET && i < port.gid_tbl_len; ++i) {
        struct ibv_gid_entry entry;
        if (ibv_query_gid_ex(ctx, 1, (uint32_t)i, &entry, 0) == 0 && entry.gid_type == IBV_GID_TYPE_ROCE_V2) chosen = i;
    }
    return chosen;
}

static void to_init(int is_server) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    /* Mistake 7: the memory region allows remote writes, the QP does not. Both are needed. */
    if (mistake == QP_WITHOUT_RIGHT && is_server) a.qp_access_flags = 0;
    expect_call("RESET -> INIT",
                ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
}

static void to_rtr(const struct peer* p, int gid_index) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
                            .path_mtu = port.active_mtu,
                            .dest_qp_num = p->qpn,
                            .rq_psn = 1,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 12};
    int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    a.ah_attr.port_num = 1;
    a.ah_attr.dlid = (uint16_t)p->lid;
    if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
        /* Mistake 2: a LID means nothing on Ethernet; without a GRH there is no address. */
        a.ah_attr.is_global = mistake != NO_GRH;
        a.ah_attr.grh.dgid = p->gid;
        a.ah_attr.grh.sgid_index = (uint8_t)gid_index;
        a.ah_attr.grh.hop_limit = 64;
    }
    /* Mistake 1: the mask says which attributes count. One too few, and nothing is changed. */
    if (mistake == NO_MIN_RNR_TIMER) mask &= ~IBV_QP_MIN_RNR_TIMER;
    int refused = mistake == NO_MIN_RNR_TIMER || (mistake == NO_GRH && port.link_layer == IBV_LINK_LAYER_ETHERNET);
    expect_call("INIT -> RTR", ibv_modify_qp(qp, &a, mask), refused ? EINVAL : 0);
}

static void to_rts(void) {
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTS, .timeout = 10, .retry_cnt = 2, .rnr_retry = 2, .sq_psn = 1, .max_rd_atomic = 1};
    expect_call("RTR -> RTS",
                ibv_modify_qp(qp, &a,
                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC),
                0);
}

static int post_write(const struct peer* p, int signalled) {
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = MESSAGE, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 2,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = signalled ? IBV_SEND_SIGNALED : 0},
                       *bad;
    wr.wr.rdma.remote_addr = p->addr + 1024;
    /* Mistake 6: an old key, a wrong byte order, another region's. */
    wr.wr.rdma.rkey = mistake == WRONG_RKEY ? p->rkey ^ 0x100 : p->rkey;
    return ibv_post_send(qp, &wr, &bad);
}

static int post_send(void) {
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = MESSAGE, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    return ibv_post_send(qp, &wr, &bad);
}

static void post_receive(void) {
    /* Mistake 5: the buffer is smaller than the message. */
    struct ibv_sge sge = {
        .addr = (uintptr_t)buffer, .length = mistake == SMALL_RECEIVE ? MESSAGE / 2 : MESSAGE, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1}, *bad;
    expect_call("ibv_post_recv", ibv_post_recv(qp, &wr, &bad), 0);
}

/* Waits for one completion and says it. */
static enum ibv_wc_status completion(const char* of) {
    struct ibv_wc wc;
    int n;
    while ((n = ibv_poll_cq(cq, 1, &wc)) == 0) {
    }
    if (n < 0) die("ibv_poll_cq");
    printf("%s: %s\n", of, ibv_wc_status_str(wc.status));
    return wc.status;
}

static void client(const struct peer* p) {
    if (mistake == NEVER_POLLED) {
        /* Mistake 8: a place in the queue becomes free when a completion behind it is polled. Unsignalled requests have
         * none, so one in every few must be signalled. */
        int posted = 0, rc;
        while ((rc = post_write(p, 0)) == 0) ++posted;
        printf("ibv_post_send: %s after %d requests\n", strerror(rc), posted);
        return;
    }
    expect_call("ibv_post_send", post_send(), 0);
    expect_call("ibv_post_send", post_write(p, 1), 0);
    completion("SEND");
    completion("WRITE");
    struct ibv_qp_attr a;
    struct ibv_qp_init_attr i;
    if (ibv_query_qp(qp, &a, IBV_QP_STATE, &i)) die("ibv_query_qp");
    printf("QP: %s\n", a.qp_state == IBV_QPS_RTS ? "RTS" : a.qp_state == IBV_QPS_ERR ? "ERR" : "another state");
}

int main(int argc, char** argv) {
    const char* server = argc > 2 ? argv[2] : NULL;
    int number = argc > 1 ? atoi(argv[1]) : -1, count = 0;
    if (number < NONE || number > NEVER_POLLED) {
        fprintf(stderr, "usage: eight_mistakes 0…8 [SERVER]\n");
        return 2;
    }
    mistake = (enum mistake)number;
    setvbuf(stdout, NULL, _IOLBF, 0);

    struct ibv_device** list = ibv_get_device_list(&count);
    if (!list || count == 0 || !(ctx = ibv_open_device(list[0]))) die("no RDMA device");
    ibv_free_device_list(list);
    if (ibv_query_port(ctx, 1, &port)) die("ibv_query_port");
    struct ibv_pd* pd = ibv_alloc_pd(ctx);
    if (!pd || !(cq = ibv_create_cq(ctx, 64, NULL, NULL, 0))) die("ibv_create_cq");
    mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!mr || !(qp = ibv_create_qp(pd, &init))) die("ibv_create_qp");

    int gid_index = choose_gid_index();
    to_init(!server);
    int tcp = connect_tcp(server, PORT);
    struct peer p = exchange(tcp, gid_index);
    /* Mistake 3: the server never leaves INIT, so it answers nothing. */
    if (!(mistake == PEER_NOT_READY && !server)) {
        to_rtr(&p, gid_index);
        to_rts();
    }
    /* Mistake 4: the message comes before there is anywhere to put it. */
    if (!server && mistake != NO_RECEIVE) post_receive();
    wait_for_peer(tcp);
    if (server) client(&p);
    wait_for_peer(tcp);
    if (!server) {
        struct ibv_wc wc;
        while (ibv_poll_cq(cq, 1, &wc) > 0) printf("receive: %s\n", ibv_wc_status_str(wc.status));
    }
    close(tcp);
    if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) || ibv_close_device(ctx))
        die("clean-up");
    return 0;
}
