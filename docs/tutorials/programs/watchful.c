/* A sender and a receiver that look at their asynchronous events, and say everything that goes wrong.
 *
 *     gcc -O2 -Wall watchful.c -libverbs -o watchful
 *     server:  ./watchful MESSAGES         client:  ./watchful MESSAGES SERVER
 *
 * The client sends a burst of 8 messages every millisecond; the server takes what has come as often. Both print each
 * event (a port that goes down, a GID or P_Key that changes, a queue that overruns) and the first completion that
 * failed, and end with code 3 if not all messages went through. The timer of the QP is short, so that a dead path is
 * found in 100 ms. Runs unmodified on real hardware and between simulated hosts (scenarios port_flap, cq_overrun,
 * pkey_change). */
#include <fcntl.h>
#include <time.h>

#include "event_pair.h"

#define PORT "18611"
#define BURST 8
#define DEPTH 64
#define BYTES 256
#define QUIET_MS 200 /* without a completion: it gives up */

static int broken;
static char seen[512]; /* "; port error; port active" */

static void note(const char* what, const char* name) {
    printf("%s: %s\n", what, name);
    if (strlen(seen) + strlen(name) + 3 > sizeof seen) return;
    strcat(seen, "; ");
    strcat(seen, name);
}

static void say_events(struct pair* p) {
    struct ibv_async_event event;
    while (ibv_get_async_event(p->ctx, &event) == 0) {
        note("event", ibv_event_type_str(event.event_type));
        broken |= event.event_type == IBV_EVENT_CQ_ERR || event.event_type == IBV_EVENT_QP_FATAL ||
                  event.event_type == IBV_EVENT_DEVICE_FATAL;
        ibv_ack_async_event(&event);
    }
}

/* Good completions taken. */
static int take_all(struct pair* p, int is_server) {
    struct ibv_wc wc;
    int taken = 0;
    while (ibv_poll_cq(p->cq, 1, &wc) > 0) {
        if (wc.status != IBV_WC_SUCCESS) {
            if (!broken) note("completion", ibv_wc_status_str(wc.status));
            broken = 1;
            continue;
        }
        ++taken;
        if (is_server) post_receive(p, BYTES);
    }
    return taken;
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void rest(void) {
    const struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

int main(int argc, char** argv) {
    static struct pair p;
    const int wanted = argc > 1 ? atoi(argv[1]) : 0;
    const int is_server = argc == 2;
    int posted = 0, done = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (wanted < 1) {
        fprintf(stderr, "usage: %s MESSAGES [SERVER]\n", argv[0]);
        return 2;
    }
    make_pair(&p, DEPTH, DEPTH);
    fcntl(p.ctx->async_fd, F_SETFL, fcntl(p.ctx->async_fd, F_GETFL) | O_NONBLOCK);
    start_pair(&p);
    for (int i = 0; is_server && i < DEPTH; ++i) post_receive(&p, BYTES);
    int fd = connect_tcp(is_server ? NULL : argv[2], PORT);
    /* 4.096 us x 2^10, three retries. */
    connect_pair(&p, fd, 1, 10, 3);
    int64_t heard = now_ms();
    while (done < wanted && !broken && now_ms() - heard < QUIET_MS) {
        for (int i = 0; !is_server && i < BURST && posted < wanted && posted - done < DEPTH; ++i, ++posted)
            if (post_send(&p, BYTES, IBV_SEND_SIGNALED)) die("ibv_post_send");
        rest();
        say_events(&p);
        const int taken = take_all(&p, is_server);
        if (taken) heard = now_ms();
        done += taken;
    }
    rest();
    say_events(&p);
    printf("%d of %d messages %s%s\n", done, wanted, is_server ? "received" : "sent", seen);
    return done == wanted ? 0 : 3;
}
