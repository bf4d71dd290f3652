/* The server dies of SIGKILL while the client writes to it: the client's writes end with "transport retry counter
 * exceeded", after the time that timeout and retry_cnt say, and the client says so and ends with 1. */
#include <signal.h>
#include <time.h>

#include "rc_pair.h"

int main(int argc, char** argv) {
    struct endpoint e;
    struct address peer;
    open_endpoint(&e, 1 << 20, NULL);
    int client = argc > 2 && !strcmp(argv[1], "client"), fd;
    if (client) {
        fd = tcp_connect(argv[2], "18700");
    } else {
        int listener = tcp_listen("18700");
        fd = accept(listener, NULL, NULL);
        if (fd < 0) die("accept");
    }
    swap_addresses(fd, &e.self, &peer);
    connect_endpoint(&e, &peer, 10, 3);
    swap_addresses(fd, &e.self, &peer);
    if (!client) {
        usleep(500);
        raise(SIGKILL);
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (uint64_t i = 0;; ++i) {
        if (post(&e, IBV_WR_RDMA_WRITE, i, 1 << 20, &peer)) die("post");
        struct ibv_wc wc = wait_completion(&e);
        if (wc.status == IBV_WC_SUCCESS) continue;
        clock_gettime(CLOCK_MONOTONIC, &t1);
        double ms = (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-6;
        printf("client: %s after %.0f ms\n", ibv_wc_status_str(wc.status), ms);
        return 1;
    }
}
