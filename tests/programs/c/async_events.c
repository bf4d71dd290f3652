/* Asynchronous events, each at the context that they concern: SRQ limit, access error and last WQE of the receiver's
 * QP, overflow of the sender's CQ and the fatal error of its QP. Both QPs are on one host. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "rc_pair.h"

#define RECEIVES 8
#define LIMIT 4

/* The next event, waited for by poll() and read without blocking; acknowledged. */
static enum ibv_event_type next_event(struct ibv_context* ctx, const void* concerns) {
    struct pollfd pfd = {.fd = ctx->async_fd, .events = POLLIN};
    struct ibv_async_event event;
    if (poll(&pfd, 1, 1000) != 1) {
        printf("no event within a second\n");
        exit(1);
    }
    if (ibv_get_async_event(ctx, &event)) die("ibv_get_async_event");
    printf("event: %s\n", ibv_event_type_str(event.event_type));
    if ((const void*)event.element.qp != concerns) {
        printf("it concerns another object\n");
        exit(1);
    }
    ibv_ack_async_event(&event);
    return event.event_type;
}

static void expect_event(struct ibv_context* ctx, const void* concerns, enum ibv_event_type type) {
    if (next_event(ctx, concerns) == type) return;
    printf("expected: %s\n", ibv_event_type_str(type));
    exit(1);
}

static void expect_no_event(struct ibv_context* ctx) {
    struct ibv_async_event event;
    if (ibv_get_async_event(ctx, &event) == 0 || errno != EAGAIN) {
        printf("an event that nobody expects\n");
        exit(1);
    }
}

static void nonblocking(struct ibv_context* ctx) {
    if (fcntl(ctx->async_fd, F_SETFL, fcntl(ctx->async_fd, F_GETFL) | O_NONBLOCK)) die("fcntl");
}

static struct ibv_srq* move_to_srq(struct endpoint* e) {
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};
    struct ibv_srq* srq = ibv_create_srq(e->pd, &attr);
    if (!srq) die("ibv_create_srq");
    ibv_destroy_qp(e->qp);
    struct ibv_qp_init_attr init = {.send_cq = e->cq,
                                    .recv_cq = e->cq,
                                    .srq = srq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 1, .max_send_sge = 1}};
    e->qp = ibv_create_qp(e->pd, &init);
    if (!e->qp) die("ibv_create_qp");
    e->self.qpn = e->qp->qp_num;
    for (int i = 0; i < RECEIVES; ++i) {
        struct ibv_sge sge = {.addr = (uintptr_t)e->buffer, .length = 64, .lkey = e->mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1}, *bad;
        if (ibv_post_srq_recv(srq, &wr, &bad)) die("ibv_post_srq_recv");
    }
    return srq;
}

static void srq_limit(struct endpoint* sender, struct endpoint* receiver, struct ibv_srq* srq) {
    struct ibv_srq_attr arm = {.srq_limit = LIMIT}, now;
    if (ibv_modify_srq(srq, &arm, IBV_SRQ_LIMIT)) die("ibv_modify_srq");
    for (uint64_t i = 0; i < RECEIVES - LIMIT; ++i) {
        if (post(sender, IBV_WR_SEND, i, 64, &receiver->self)) die("post");
        wait_completion(sender);
    }
    expect_no_event(receiver->ctx); /* LIMIT receives are left: not fewer */
    if (post(sender, IBV_WR_SEND, 9, 64, &receiver->self)) die("post");
    wait_completion(sender);
    expect_event(receiver->ctx, srq, IBV_EVENT_SRQ_LIMIT_REACHED);
    if (ibv_query_srq(srq, &now)) die("ibv_query_srq");
    printf("limit is now %u\n", now.srq_limit);
}

static void access_error(struct endpoint* sender, struct endpoint* receiver) {
    struct address wrong = receiver->self;
    wrong.rkey ^= 0x100;
    if (post(sender, IBV_WR_RDMA_WRITE, 10, 64, &wrong)) die("post");
    printf("sender: %s\n", ibv_wc_status_str(wait_completion(sender).status));
    expect_event(receiver->ctx, receiver->qp, IBV_EVENT_QP_ACCESS_ERR);
    expect_event(receiver->ctx, receiver->qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    expect_no_event(receiver->ctx);
}

/* A QP connected with itself completes more than its CQ holds. */
static void overflow(struct endpoint* e) {
    struct endpoint self = *e;
    self.cq = ibv_create_cq(e->ctx, 4, NULL, NULL, 0);
    if (!self.cq) die("ibv_create_cq");
    struct ibv_qp_init_attr init = {.send_cq = self.cq,
                                    .recv_cq = self.cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    self.qp = ibv_create_qp(e->pd, &init);
    if (!self.qp) die("ibv_create_qp");
    self.self.qpn = self.qp->qp_num;
    connect_endpoint(&self, &self.self, 14, 7);
    for (int i = 0; i <= self.cq->cqe; ++i) {
        if (post(&self, IBV_WR_RDMA_WRITE, 11, 64, &self.self)) die("post");
    }
    expect_event(e->ctx, self.cq, IBV_EVENT_CQ_ERR);
    expect_event(e->ctx, self.qp, IBV_EVENT_QP_FATAL);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr unused;
    if (ibv_query_qp(self.qp, &attr, IBV_QP_STATE, &unused)) die("ibv_query_qp");
    printf("its state: %d (IBV_QPS_ERR is %d)\n", attr.qp_state, IBV_QPS_ERR);
    if (ibv_destroy_qp(self.qp) || ibv_destroy_cq(self.cq)) die("destroy");
}

int main(void) {
    struct endpoint sender, receiver;
    open_endpoint(&sender, 4096, NULL);
    open_endpoint(&receiver, 4096, NULL);
    nonblocking(sender.ctx);
    nonblocking(receiver.ctx);
    expect_no_event(sender.ctx);
    struct ibv_srq* srq = move_to_srq(&receiver);
    connect_endpoint(&receiver, &sender.self, 14, 7);
    connect_endpoint(&sender, &receiver.self, 14, 7);
    srq_limit(&sender, &receiver, srq);
    access_error(&sender, &receiver);
    overflow(&sender);
    if (ibv_destroy_qp(receiver.qp) || ibv_destroy_srq(srq) || ibv_destroy_qp(sender.qp)) die("destroy");
    printf("async events: ok\n");
    return 0;
}
