/* Raw packet QPs of two adapters of one host: whole Ethernet frames out, flow steering in. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
#define CHECK(what, condition)                                                \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("FAILED %s (line %d, errno %d)\n", what, __LINE__, errno); \
            ++failures;                                                       \
        }                                                                     \
    } while (0)

struct side {
    struct ibv_context* context;
    struct ibv_pd* pd;
    struct ibv_cq* cq;
    struct ibv_qp* qp;
    struct ibv_mr* mr;
    uint8_t* bytes;
    uint8_t mac[6];
};

static void die(const char* what) {
    perror(what);
    exit(2);
}

/* The MAC address behind the link-local GID of port 1. */
static void mac_of(struct ibv_context* context, uint8_t* mac) {
    union ibv_gid gid;
    if (ibv_query_gid(context, 1, 0, &gid)) die("ibv_query_gid");
    const uint8_t* id = gid.raw + 8;
    const uint8_t found[6] = {(uint8_t)(id[0] ^ 2), id[1], id[2], id[5], id[6], id[7]};
    memcpy(mac, found, 6);
}

static struct ibv_qp* make_qp(struct side* s) {
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq, .recv_cq = s->cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RAW_PACKET};
    return ibv_create_qp(s->pd, &init);
}

static void to_rts(struct ibv_qp* qp) {
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    CHECK("to INIT without a port", ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
    CHECK("to INIT", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0);
    attr.qp_state = IBV_QPS_RTR;
    CHECK("to RTR", ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    CHECK("to RTS", ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
}

static void open_side(struct side* s, struct ibv_device* device) {
    s->context = ibv_open_device(device);
    if (!s->context) die("ibv_open_device");
    s->pd = ibv_alloc_pd(s->context);
    s->bytes = calloc(4, 4096);
    s->mr = ibv_reg_mr(s->pd, s->bytes, 4 * 4096, IBV_ACCESS_LOCAL_WRITE);
    s->cq = ibv_create_cq(s->context, 32, NULL, NULL, 0);
    mac_of(s->context, s->mac);
    s->qp = make_qp(s);
    if (s->qp == NULL && errno == EPERM) {
        printf("raw packets: not permitted\n");
        exit(0);
    }
    if (s->qp == NULL) die("ibv_create_qp");
    to_rts(s->qp);
}

/* A UDP datagram to `mac` and port `port`, of which only the headers that steering looks at are filled in. */
static size_t make_frame(struct side* from, const uint8_t* mac, uint16_t port) {
    uint8_t* f = from->bytes;
    memset(f, 0, 100);
    memcpy(f, mac, 6);
    memcpy(f + 6, from->mac, 6);
    f[12] = 0x08;
    f[14] = 0x45;
    f[23] = 17;
    memcpy(f + 30, "\x0a\x00\x00\x07", 4);
    f[36] = (uint8_t)(port >> 8);
    f[37] = (uint8_t)port;
    memcpy(f + 42, "hello", 5);
    return 100;
}

static int send_frame(struct side* s, size_t bytes) {
    struct ibv_sge sge = {(uintptr_t)s->bytes, (uint32_t)bytes, s->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    return ibv_post_send(s->qp, &wr, &bad);
}

static void receive(struct side* s, struct ibv_qp* qp, uint64_t id) {
    struct ibv_sge sge = {(uintptr_t)s->bytes + 8192, 4096, s->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK("ibv_post_recv", ibv_post_recv(qp, &wr, &bad) == 0);
}

/* The completions of a side within a millisecond: wr_ids as decimal digits, the last one is in `wc`. */
static unsigned completed(struct side* s, struct ibv_wc* wc) {
    unsigned ids = 0;
    for (int i = 0; i < 5; ++i) {
        usleep(200);
        while (ibv_poll_cq(s->cq, 1, wc) == 1) ids = ids * 10 + (unsigned)wc->wr_id;
    }
    return ids;
}

struct udp_rule {
    struct ibv_flow_attr attr;
    struct ibv_flow_spec_eth eth;
    struct ibv_flow_spec_ipv4 ipv4;
    struct ibv_flow_spec_tcp_udp udp;
};

static struct udp_rule rule_for(struct side* s, uint16_t port) {
    struct udp_rule r = {.attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof r, .num_of_specs = 3, .port = 1},
                         .eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof r.eth},
                         .ipv4 = {.type = IBV_FLOW_SPEC_IPV4, .size = sizeof r.ipv4},
                         .udp = {.type = IBV_FLOW_SPEC_UDP, .size = sizeof r.udp}};
    memcpy(r.eth.val.dst_mac, s->mac, 6);
    memset(r.eth.mask.dst_mac, 0xFF, 6);
    memcpy(&r.ipv4.val.dst_ip, "\x0a\x00\x00\x07", 4);
    r.ipv4.mask.dst_ip = 0xFFFFFFFF;
    r.udp.val.dst_port = htons(port);
    r.udp.mask.dst_port = 0xFFFF;
    return r;
}

static void steering(struct side* a, struct side* b) {
    struct ibv_wc wc;
    struct ibv_qp* other = make_qp(b);
    to_rts(other);
    for (int i = 0; i < 6; ++i) receive(b, b->qp, 2);
    for (int i = 0; i < 6; ++i) receive(b, other, 3);
    const size_t bytes = make_frame(a, b->mac, 7);
    CHECK("post", send_frame(a, bytes) == 0);
    CHECK("a frame to nobody is sent", completed(a, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    CHECK("no rule, no frame", completed(b, &wc) == 0);

    struct udp_rule rule = rule_for(b, 7);
    struct ibv_flow* flow = ibv_create_flow(b->qp, &rule.attr);
    CHECK("ibv_create_flow", flow != NULL);
    CHECK("post", send_frame(a, bytes) == 0);
    CHECK("the rule's QP gets the frame",
          completed(b, &wc) == 2 && wc.status == IBV_WC_SUCCESS && wc.byte_len == bytes);
    CHECK("byte by byte", memcmp(a->bytes, b->bytes + 8192, bytes) == 0);
    send_frame(a, make_frame(a, b->mac, 8));
    CHECK("another port does not fit", completed(b, &wc) == 0);

    struct ibv_flow_attr rest = {.type = IBV_FLOW_ATTR_ALL_DEFAULT, .size = sizeof rest, .port = 1};
    struct ibv_flow* all = ibv_create_flow(other, &rest);
    CHECK("default rule", all != NULL);
    send_frame(a, make_frame(a, b->mac, 8));
    CHECK("what fits nowhere goes to the default", completed(b, &wc) == 3);
    send_frame(a, make_frame(a, b->mac, 7));
    CHECK("and nothing else", completed(b, &wc) == 2);
    send_frame(a, make_frame(a, (const uint8_t*)"\xff\xff\xff\xff\xff\xff", 7));
    CHECK("a broadcast as well", completed(b, &wc) == 3);
    rest.type = IBV_FLOW_ATTR_SNIFFER;
    struct ibv_flow* sniffer = ibv_create_flow(other, &rest);
    send_frame(a, make_frame(a, b->mac, 7));
    CHECK("a sniffer sees what others get", completed(b, &wc) == 23);

    CHECK("a QP with rules stays", ibv_destroy_qp(b->qp) == EBUSY);
    rest.port = 2;
    CHECK("no such port", ibv_create_flow(other, &rest) == NULL && errno == EINVAL);
    CHECK("destroy", ibv_destroy_flow(flow) == 0 && ibv_destroy_flow(all) == 0 && ibv_destroy_flow(sniffer) == 0);
    CHECK("destroy the QP", ibv_destroy_qp(other) == 0);
}

/* Frames of many flows over two work queues. */
static void spreading(struct side* a, struct side* b) {
    struct ibv_wq* queues[2];
    struct ibv_wc wc;
    unsigned got[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        struct ibv_wq_init_attr init = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1, .pd = b->pd, .cq = b->cq};
        queues[i] = ibv_create_wq(b->context, &init);
        CHECK("ibv_create_wq", queues[i] != NULL);
        struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR};
        CHECK("from RESET to ERR", ibv_modify_wq(queues[i], &attr) == EINVAL);
        attr.wq_state = IBV_WQS_RDY;
        CHECK("from RESET to RDY", ibv_modify_wq(queues[i], &attr) == 0 && queues[i]->state == IBV_WQS_RDY);
        for (int k = 0; k < 16; ++k) {
            struct ibv_sge sge = {(uintptr_t)b->bytes + 8192, 4096, b->mr->lkey};
            struct ibv_recv_wr wr = {.wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1}, *bad;
            CHECK("ibv_post_wq_recv", ibv_post_wq_recv(queues[i], &wr, &bad) == 0);
        }
    }
    struct ibv_rwq_ind_table_init_attr table_init = {.log_ind_tbl_size = 1, .ind_tbl = queues};
    struct ibv_rwq_ind_table* table = ibv_create_rwq_ind_table(b->context, &table_init);
    CHECK("ibv_create_rwq_ind_table", table != NULL);
    uint8_t key[40];
    for (int i = 0; i < 40; ++i) key[i] = (uint8_t)(i * 37 + 5);
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_RAW_PACKET,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
        .pd = b->pd,
        .rwq_ind_tbl = table,
        .rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, 40, key, IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP}};
    struct ibv_qp* rss = ibv_create_qp_ex(b->context, &init);
    CHECK("an RSS QP", rss != NULL);
    struct ibv_flow_attr rest = {.type = IBV_FLOW_ATTR_ALL_DEFAULT, .size = sizeof rest, .port = 1};
    struct ibv_flow* flow = ibv_create_flow(rss, &rest);
    CHECK("ibv_create_flow", flow != NULL);
    for (uint16_t port = 0; port < 16; ++port) {
        (void)completed(a, &wc);
        CHECK("post", send_frame(a, make_frame(a, b->mac, port)) == 0);
        (void)completed(b, &wc);
        CHECK("one of the queues gets it", wc.status == IBV_WC_SUCCESS && wc.qp_num == queues[wc.wr_id & 1]->wq_num);
        ++got[wc.wr_id & 1];
    }
    CHECK("each gets some, and all are there", got[0] > 0 && got[1] > 0 && got[0] + got[1] == 16);
    CHECK("a table in use stays", ibv_destroy_rwq_ind_table(table) == EBUSY);
    CHECK("a queue in a table stays", ibv_destroy_wq(queues[0]) == EBUSY);
    CHECK("destroy", ibv_destroy_flow(flow) == 0 && ibv_destroy_qp(rss) == 0 && ibv_destroy_rwq_ind_table(table) == 0 &&
                         ibv_destroy_wq(queues[0]) == 0 && ibv_destroy_wq(queues[1]) == 0);
    completed(a, &wc);
}

static void errors(struct side* a, struct side* b) {
    struct ibv_wc wc;
    completed(a, &wc);
    make_frame(a, b->mac, 7);
    CHECK("post of 13 bytes", send_frame(a, 13) == 0);
    CHECK("less than a header", completed(a, &wc) == 1 && wc.status == IBV_WC_LOC_LEN_ERR);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
    CHECK("from SQE to RTS", ibv_modify_qp(a->qp, &attr, IBV_QP_STATE) == 0);
    CHECK("post of more than the MTU", send_frame(a, 1515) == 0);
    CHECK("more than the MTU", completed(a, &wc) == 1 && wc.status == IBV_WC_LOC_LEN_ERR);
}

int main(void) {
    int count = 0;
    struct ibv_device** list = ibv_get_device_list(&count);
    if (list == NULL || count < 2) die("two adapters are needed");
    struct side a = {0}, b = {0};
    open_side(&a, list[0]);
    open_side(&b, list[1]);
    steering(&a, &b);
    spreading(&a, &b);
    errors(&a, &b);
    CHECK("destroy", ibv_destroy_qp(a.qp) == 0 && ibv_destroy_qp(b.qp) == 0);
    printf("raw packets: %s\n", failures == 0 ? "ok" : "FAILED");
    return failures != 0;
}
