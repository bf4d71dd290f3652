/* Everything that a program can do to the lab's server beside its verbs calls: garbage on the control socket, handles
   of others, memory that goes away under its registration, garbage in its own rings. Ends well if it is refused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "rc_pair.h"

/* Past the preload library: these calls are nobody's business. */
static int raw_connect(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char* path = getenv("SIMVERBS_SOCKET");
    if (!path) die("SIMVERBS_SOCKET");
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    if (fd >= 0 && syscall(SYS_connect, fd, &address, sizeof address) != 0) {
        syscall(SYS_close, fd);
        return -1;
    }
    return fd;
}

static uint32_t state = 12345;
static uint32_t draw(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void garbage_on_the_socket(void) {
    int silent = 0;
    for (int i = 0; i < 400; ++i) silent += raw_connect() >= 0;
    static unsigned char bytes[20000];
    for (int i = 0; i < 100; ++i) {
        const int fd = raw_connect();
        if (fd < 0) continue;
        for (size_t k = 0; k < sizeof bytes; k += 4) memcpy(bytes + k, &(uint32_t){draw()}, 4);
        if (i % 2) memcpy(bytes, "BRVS\1\0", 6); /* the magic number, and the first operation */
        syscall(SYS_sendto, fd, bytes, draw() % sizeof bytes, MSG_NOSIGNAL, NULL, 0);
        if (i % 3) syscall(SYS_close, fd);
    }
    printf("%d silent connections\n", silent > 0);
}

static void shrink_what_all_share(void) {
    char link[64], target[256];
    for (int fd = 0; fd < 256; ++fd) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, target, sizeof target - 1);
        if (n <= 0) continue;
        target[n] = 0;
        if (strstr(target, "simverbs-") && syscall(SYS_ftruncate, fd, 0L) == 0) printf("shrunk %s\n", target);
    }
}

/* Handles that this program was never given. */
static void handles_of_others(struct endpoint* e) {
    int taken = 0;
    for (uint32_t h = 1000; h < 1100; ++h) {
        struct ibv_mr mr = *e->mr;
        struct ibv_qp qp = *e->qp;
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
        mr.handle = qp.handle = h;
        taken += ibv_dereg_mr(&mr) == 0;
        taken += ibv_modify_qp(&qp, &attr, IBV_QP_STATE) == 0;
    }
    printf("%d handles of others\n", taken);
}

static void memory_that_goes_away(struct endpoint* x, struct endpoint* y) {
    struct ibv_wc wc;
    memset(&wc, 0, sizeof wc);
    munmap(y->buffer, y->bytes);
    if (post(x, IBV_WR_RDMA_WRITE, 1, 4096, &y->self)) die("post");
    while (ibv_poll_cq(x->cq, 1, &wc) == 0) {
    }
    printf("written to nowhere: %s\n", ibv_wc_status_str(wc.status));
}

static void stop(int number) {
    (void)number;
    _exit(0); /* its own garbage has caught up with it */
}

static unsigned char* find_arena(void) {
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned char* arena = NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "simverbs-arena")) arena = (unsigned char*)strtoull(line, NULL, 16);
    if (maps) fclose(maps);
    if (!arena) die("no arena");
    return arena;
}

/* A process that the lab does not know of writes to the slots of the rings while the server reads them: what is checked
   and what is used must be one reading. The counters are left alone, so that the server goes on to read. */
static void garbage_while_it_is_read(struct endpoint* x) {
    enum { ROUNDS = 2000, COUNTERS = 4096 };
    volatile uint32_t* const word = (volatile uint32_t*)(find_arena() + COUNTERS);
    volatile uint32_t* const reports = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED) die("mmap");
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        static const uint32_t nasty[] = {0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, 64, 0x10000};
        /* Doorbells: every fourth word is kind and count. Words of the slots behind them. */
        for (uint32_t i = 0; reports[1] == 0; ++i) {
            const uint32_t at = draw() % (3u << 18);
            const uint32_t was = word[at];
            if (was == 0) continue;
            word[at] = nasty[i % 7];
            word[at] = was;
            reports[0]++;
        }
        syscall(SYS_exit_group, 0);
    }
    struct ibv_wc wc;
    for (int round = 0; round < ROUNDS; ++round) {
        (void)post(x, IBV_WR_RDMA_WRITE, 1, 64, &x->self);
        (void)ibv_poll_cq(x->cq, 1, &wc);
        if (round % 8 == 0) usleep(5);
    }
    reports[1] = 1;
    syscall(SYS_wait4, child, NULL, 0, NULL);
    printf("written while it was read: %s\n", reports[0] != 0 ? "yes" : "no");
    fflush(stdout);
}

static void garbage_in_the_rings(struct endpoint* x) {
    unsigned char* const arena = find_arena();
    printf("writing garbage\n");
    fflush(stdout);
    struct ibv_wc wc;
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 200; ++i) arena[draw() % (round % 2 ? 4096u : 2u << 20)] = (unsigned char)draw();
        (void)post(x, IBV_WR_RDMA_WRITE, 1, 64, &x->self);
        (void)ibv_poll_cq(x->cq, 1, &wc);
        usleep(5);
    }
}

int main(void) {
    struct endpoint x, y;
    signal(SIGSEGV, stop);
    signal(SIGBUS, stop);
    open_endpoint(&x, 1 << 16, NULL);
    open_endpoint(&y, 1 << 18, NULL);
    connect_endpoint(&x, &y.self, 8, 1);
    connect_endpoint(&y, &x.self, 8, 1);
    shrink_what_all_share();
    handles_of_others(&x);
    memory_that_goes_away(&x, &y);
    garbage_on_the_socket();
    fflush(stdout);
    garbage_while_it_is_read(&x);
    garbage_in_the_rings(&x);
    _exit(0);
}
