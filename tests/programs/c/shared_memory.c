/* Large registered buffers behave as the private memory that they were: contents, realloc, fork, madvise, mremap. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rc_pair.h"

static const size_t kBytes = 1 << 20;
static const int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

static struct endpoint x, y;
static char* peer; /* what y has registered */

static void check(int ok, const char* what) {
    if (ok) return;
    printf("%s: wrong\n", what);
    exit(1);
}

static char pattern(size_t i, int seed) {
    return (char)(i * 31 + i / 4096 + (size_t)seed);
}
static void fill(char* p, size_t from, size_t to, int seed) {
    for (size_t i = from; i < to; ++i) p[i] = pattern(i, seed);
}
static int filled(const char* p, size_t from, size_t to, int seed) {
    for (size_t i = from; i < to; ++i)
        if (p[i] != pattern(i, seed)) return 0;
    return 1;
}
static int zero(const char* p, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
        if (p[i] != 0) return 0;
    return 1;
}

static char* map(size_t bytes) {
    char* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) die("mmap");
    return p;
}
static struct ibv_mr* reg(struct endpoint* e, void* p, size_t bytes) {
    struct ibv_mr* mr = ibv_reg_mr(e->pd, p, bytes, kAll);
    if (!mr) die("ibv_reg_mr");
    return mr;
}
static void dereg(struct ibv_mr* mr) {
    if (ibv_dereg_mr(mr)) die("ibv_dereg_mr");
}

/* Is the address in memory that is shared with the server? */
static int is_shared(const void* p) {
    char line[512];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && (unsigned long)p >= begin && (unsigned long)p < end)
            found = strstr(line, "simverbs-memory") != NULL;
    }
    if (maps) fclose(maps);
    return found;
}

/* From x's memory at p to the peer's buffer, or the other way. */
static void transfer(enum ibv_wr_opcode opcode, char* p, uint32_t lkey, size_t offset, size_t bytes) {
    struct ibv_sge sge = {.addr = (uintptr_t)p, .length = (uint32_t)bytes, .lkey = lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr* bad;
    wr.wr.rdma.remote_addr = y.self.addr + offset;
    wr.wr.rdma.rkey = y.self.rkey;
    if (ibv_post_send(x.qp, &wr, &bad)) die("ibv_post_send");
    check(wait_completion(&x).status == IBV_WC_SUCCESS, "work completion");
}
static void round_trip(char* p, struct ibv_mr* mr, size_t bytes, const char* what) {
    fill(p, 0, bytes, 3);
    transfer(IBV_WR_RDMA_WRITE, p, mr->lkey, 0, bytes);
    check(filled(peer, 0, bytes, 3), what);
    fill(peer, 0, bytes, 4);
    transfer(IBV_WR_RDMA_READ, p, mr->lkey, 0, bytes);
    check(filled(p, 0, bytes, 4), what);
}

static void contents_survive(void) {
    char* p = map(3 * kBytes);
    fill(p, 0, kBytes, 1); /* the rest was never touched */
    struct ibv_mr* mr = reg(&x, p + 100, 2 * kBytes);
    check(filled(p, 0, kBytes, 1) && zero(p, kBytes, 3 * kBytes), "contents after registration");
    struct ibv_mr* again = reg(&x, p + 4096, kBytes);
    struct ibv_mr* small = reg(&x, p + 5000, 10);
    transfer(IBV_WR_RDMA_WRITE, p + 100, mr->lkey, 0, kBytes - 100); /* begins before what is shared */
    check(filled(p, 0, kBytes, 1) && memcmp(peer, p + 100, kBytes - 100) == 0, "a write from an unaligned buffer");
    dereg(mr);
    transfer(IBV_WR_RDMA_WRITE, p + 4096, again->lkey, 0, kBytes);
    check(memcmp(peer, p + 4096, kBytes) == 0, "the second registration");
    dereg(again);
    transfer(IBV_WR_RDMA_READ, p + 5000, small->lkey, 0, 10);
    check(memcmp(peer, p + 5000, 10) == 0, "the third registration");
    dereg(small);
    for (int i = 0; i < 10; ++i) {
        mr = reg(&x, p, kBytes);
        round_trip(p, mr, kBytes, "registered again");
        dereg(mr);
    }
    if (ibv_rereg_mr(mr = reg(&x, p, 4096), IBV_REREG_MR_CHANGE_TRANSLATION, x.pd, p + kBytes, kBytes, 0)) die("rereg");
    round_trip(p + kBytes, mr, kBytes, "after ibv_rereg_mr");
    dereg(mr);
    munmap(p, 3 * kBytes);
}

static void realloc_grows(void) {
    char* p = malloc(kBytes);
    fill(p, 0, kBytes, 1);
    struct ibv_mr* mr = reg(&x, p, kBytes);
    round_trip(p, mr, kBytes, "malloc");
    dereg(mr);
    p = realloc(p, 4 * kBytes);
    check(filled(p, 0, kBytes, 4), "contents after realloc");
    fill(p, 0, 4 * kBytes, 5);
    mr = reg(&x, p, 4 * kBytes);
    check(filled(p, 0, 4 * kBytes, 5), "contents after registering what realloc gave");
    round_trip(p, mr, kBytes, "after realloc");
    dereg(mr);
    free(p);
}

static void mremap_grows(void) {
    char* p = map(kBytes);
    struct ibv_mr* mr = reg(&x, p, kBytes);
    fill(p, 0, kBytes, 1);
    dereg(mr);
    p = mremap(p, kBytes, 4 * kBytes, MREMAP_MAYMOVE);
    check(p != MAP_FAILED && filled(p, 0, kBytes, 1) && zero(p, kBytes, 4 * kBytes), "mremap");
    fill(p, 0, 4 * kBytes, 6);
    mr = reg(&x, p, 4 * kBytes);
    round_trip(p, mr, kBytes, "after mremap");
    dereg(mr);
    check(mremap(p, 4 * kBytes, kBytes, 0) == p && (p = mremap(p, kBytes, 2 * kBytes, MREMAP_MAYMOVE)) != MAP_FAILED &&
              zero(p, kBytes, 2 * kBytes),
          "what mremap cut off");
    munmap(p, 2 * kBytes);
    /* Registered in part: still one mapping to the program, also while it is registered. */
    p = map(3 * kBytes);
    fill(p, 0, 3 * kBytes, 7);
    mr = reg(&x, p + kBytes, kBytes);
    char* moved = mremap(p, 3 * kBytes, 64 * kBytes, MREMAP_MAYMOVE);
    check(moved != MAP_FAILED && filled(moved, 0, 3 * kBytes, 7) && zero(moved, 3 * kBytes, 64 * kBytes),
          "mremap of a buffer that is registered in part");
    if (moved == p) round_trip(p + kBytes, mr, kBytes, "registered while it grew");
    dereg(mr);
    munmap(moved, 64 * kBytes);
}

static void fork_separates(void) {
    char* p = map(kBytes);
    int to_child[2], to_parent[2], status = 0;
    char byte = 0;
    struct ibv_mr* mr = reg(&x, p, kBytes);
    fill(p, 0, kBytes, 1);
    mprotect(p + kBytes / 2, 4096, PROT_READ);
    if (pipe(to_child) || pipe(to_parent)) die("pipe");
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        if (read(to_child[0], &byte, 1) != 1) _exit(1);
        if (!filled(p, 0, kBytes, 1)) _exit(2); /* the parent's bytes of the fork, not of now */
        fill(p, 0, kBytes / 2, 9);
        if (write(to_parent[1], "", 1) != 1) _exit(3);
        if (is_shared(p)) _exit(4);
        _exit(filled(p, 0, kBytes / 2, 9) ? 0 : 5);
    }
    mprotect(p + kBytes / 2, 4096, PROT_READ | PROT_WRITE);
    fill(p, 0, kBytes, 2);
    if (write(to_child[1], "", 1) != 1 || read(to_parent[0], &byte, 1) != 1) die("pipe");
    check(filled(p, 0, kBytes, 2), "the parent's bytes after the child wrote");
    if (waitpid(child, &status, 0) != child) die("waitpid");
    if (status) printf("child: status %x\n", status);
    check(status == 0, "the child's bytes");
    round_trip(p, mr, kBytes, "the parent after fork");
    dereg(mr);
    munmap(p, kBytes);
}

static void madvise_empties(void) {
    for (int registered = 0; registered < 2; ++registered) {
        char* p = map(2 * kBytes);
        fill(p, 0, 2 * kBytes, 1);
        struct ibv_mr* mr = reg(&x, p, kBytes);
        if (!registered) dereg(mr);
        check(madvise(p + 4096, kBytes, MADV_DONTNEED) == 0 && filled(p, 0, 4096, 1) && zero(p, 4096, kBytes + 4096) &&
                  filled(p, kBytes + 4096, 2 * kBytes, 1),
              "MADV_DONTNEED");
        check(madvise(p, kBytes, MADV_FREE) == 0, "MADV_FREE");
        if (registered) {
            round_trip(p, mr, kBytes, "after madvise");
            dereg(mr);
        }
        munmap(p, 2 * kBytes);
    }
}

static void* on_a_stack(void* unused) {
    char big[256 << 10];
    fill(big, 0, sizeof big, 1);
    struct ibv_mr* mr = reg(&x, big, sizeof big);
    round_trip(big, mr, sizeof big, "a thread's stack");
    dereg(mr);
    return unused;
}

static void* in_an_arena(void* unused) {
    /* A thread's arena gives memory back to the kernel in a way that nobody can intercept. */
    char* p = malloc(100 << 10);
    struct ibv_mr* mr = reg(&x, p, 100 << 10);
    round_trip(p, mr, 100 << 10, "an arena");
    dereg(mr);
    check(!is_shared(p + (50 << 10)), "an arena is not shared");
    free(p);
    p = calloc(1, 120 << 10);
    check(zero(p, 0, 120 << 10), "calloc");
    free(p);
    return unused;
}

static void in_thread(void* (*function)(void*)) {
    pthread_t t;
    if (pthread_create(&t, NULL, function, NULL) || pthread_join(t, NULL)) die("thread");
}

int main(int argc, char** argv) {
    open_endpoint(&x, 4096, NULL);
    open_endpoint(&y, 4 * kBytes, NULL);
    connect_endpoint(&x, &y.self, 14, 7);
    connect_endpoint(&y, &x.self, 14, 7);
    peer = y.buffer;
    check(is_shared(peer + kBytes) == (argc < 2 || strcmp(argv[1], "unshared") != 0), "sharing");
    contents_survive();
    realloc_grows();
    mremap_grows();
    fork_separates();
    madvise_empties();
    in_thread(on_a_stack);
    in_thread(in_an_arena);
    on_a_stack(NULL);
    printf("shared memory: ok\n");
    return 0;
}
