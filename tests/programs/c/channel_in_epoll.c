/* The completion channel's descriptor in an epoll set, non-blocking, beside a pipe and a timerfd. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "rc_pair.h"

static struct ibv_comp_channel* channel;
static struct ibv_comp_channel* make(struct ibv_context* ctx) {
    return channel = ibv_create_comp_channel(ctx);
}

int main(void) {
    struct endpoint x, y;
    open_endpoint(&x, 4096, make);
    open_endpoint(&y, 4096, NULL);
    connect_endpoint(&x, &y.self, 14, 7);
    connect_endpoint(&y, &x.self, 14, 7);
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    int ep = epoll_create1(0), pipes[2], timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (pipe(pipes)) die("pipe");
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = channel->fd};
    epoll_ctl(ep, EPOLL_CTL_ADD, channel->fd, &ev);
    ev.data.fd = pipes[0];
    epoll_ctl(ep, EPOLL_CTL_ADD, pipes[0], &ev);
    ev.data.fd = timer;
    epoll_ctl(ep, EPOLL_CTL_ADD, timer, &ev);
    struct itimerspec in = {.it_value = {.tv_nsec = 5000000}};
    timerfd_settime(timer, 0, &in, NULL);
    if (ibv_req_notify_cq(x.cq, 0)) die("ibv_req_notify_cq");
    if (post(&x, IBV_WR_RDMA_WRITE, 9, 64, &y.self)) die("post");
    int order[3], n = 0;
    while (n < 3) {
        if (epoll_wait(ep, &ev, 1, -1) != 1) die("epoll_wait");
        if (ev.data.fd == channel->fd) {
            struct ibv_cq* cq;
            void* context;
            if (ibv_get_cq_event(channel, &cq, &context)) die("ibv_get_cq_event");
            ibv_ack_cq_events(cq, 1);
            if (wait_completion(&x).wr_id != 9) return 1;
            order[n++] = 'c';
            if (write(pipes[1], "x", 1) != 1) die("write");
        } else if (ev.data.fd == pipes[0]) {
            char c;
            if (read(pipes[0], &c, 1) != 1) die("read");
            order[n++] = 'p';
        } else {
            uint64_t expirations;
            if (read(timer, &expirations, 8) != 8) die("read");
            order[n++] = 't';
        }
    }
    printf("order %c%c%c\n", order[0], order[1], order[2]);
    return order[0] == 'c' && order[1] == 'p' && order[2] == 't' ? 0 : 1;
}
