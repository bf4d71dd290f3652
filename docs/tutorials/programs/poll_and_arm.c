/* Sleeping until a completion comes: the order of arming and polling decides whether one can be missed.
 *
 *     gcc -O2 -Wall poll_and_arm.c -libverbs -o poll_and_arm
 *     server:  ./poll_and_arm right|wrong         client:  ./poll_and_arm right|wrong SERVER
 *
 * A ping-pong of 50 messages. An event tells of the next completion after ibv_req_notify_cq, never of one that is there
 * already. So whoever polls until the queue is empty, then arms and sleeps, sleeps for ever if the completion came
 * between the two: the window is tens of nanoseconds wide, and a thread that the kernel interrupts just there makes it
 * milliseconds. The right way costs one more poll: arm, poll once more, and only then sleep. Runs unmodified on real
 * hardware and between simulated hosts (scenario poll_and_arm puts a completion there). */
#include "event_pair.h"

#define PORT "18610"
#define MESSAGES 50
#define BYTES 64

static int is_wrong;

/* Takes what is there; sends an answer for each message. How many these were. */
static int take_all(struct pair* p, int answers) {
    struct ibv_wc wc;
    int n, taken = 0;
    while ((n = ibv_poll_cq(p->cq, 1, &wc)) > 0) {
        if (wc.status != IBV_WC_SUCCESS) {
            printf("%s\n", ibv_wc_status_str(wc.status));
            exit(1);
        }
        ++taken;
        post_receive(p, BYTES);
        if (answers && post_send(p, BYTES, 0)) die("ibv_post_send");
    }
    if (n < 0) die("ibv_poll_cq");
    return taken;
}

static void sleep_until_event(struct pair* p) {
    struct ibv_cq* cq;
    void* context;
    if (ibv_get_cq_event(p->channel, &cq, &context)) die("ibv_get_cq_event");
    ibv_ack_cq_events(cq, 1);
}

static int serve(struct pair* p) {
    int done = 0;
    if (ibv_req_notify_cq(p->cq, 0)) die("ibv_req_notify_cq");
    done += take_all(p, 1);
    while (done < MESSAGES) {
        sleep_until_event(p);
        done += take_all(p, 1);
        if (ibv_req_notify_cq(p->cq, 0)) die("ibv_req_notify_cq");
        /* What came before the arming has made no event, and never will. */
        if (!is_wrong) done += take_all(p, 1);
    }
    return done;
}

static int ask(struct pair* p) {
    int done = 0;
    while (done < MESSAGES) {
        if (post_send(p, BYTES, 0)) die("ibv_post_send");
        int got = 0;
        while (got == 0) got = take_all(p, 0);
        done += got;
    }
    return done;
}

int main(int argc, char** argv) {
    static struct pair p;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2 || (strcmp(argv[1], "right") && strcmp(argv[1], "wrong"))) {
        fprintf(stderr, "usage: %s right|wrong [SERVER]\n", argv[0]);
        return 2;
    }
    is_wrong = !strcmp(argv[1], "wrong");
    make_pair(&p, 128, 64);
    start_pair(&p);
    for (int i = 0; i < 8; ++i) post_receive(&p, BYTES);
    int fd = connect_tcp(argc > 2 ? argv[2] : NULL, PORT);
    connect_pair(&p, fd, 1, 14, 7);
    printf("%d messages\n", argc > 2 ? ask(&p) : serve(&p));
    /* The queue pair goes with the process: not before the last answer is there. */
    wait_for_peer(fd);
    return 0;
}
