/* A transport between GPUs in the way of NCCL's: a device, connections, memory regions that are kept, and sends and
 * receives that are begun with one call and asked after with another.
 *
 *     gcc -O2 -Wall nccl_like.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -lgdrapi -libverbs -o
 * nccl_like first:  ./nccl_like [-g GPU] [-d ADAPTER]         second:  ./nccl_like [-g GPU] [-d ADAPTER] FIRST
 *
 * A receiver writes where it wants its messages into the sender's list of offers, an RDMA WRITE of 32 bytes. To a large
 * message the sender waits for its offer, and answers with an RDMA WRITE_WITH_IMM from GPU to GPU. The immediate says
 * how many bytes, and uses up a receive: so the receiver learns of the end, and no CPU touches the bytes (GPUDirect
 * RDMA).
 *
 * A small message does not wait: the sender's CPU fetches it from its GPU (GDRCopy), the WRITE_WITH_IMM puts it into a
 * slot of the receiver's host memory, and the receiver's CPU stores it into its GPU. Of offers it only needs to know
 * that its slot is free again.
 *
 * Runs unmodified on real hardware and between simulated hosts. */
#include <gdrapi.h>
#include <getopt.h>

#include "gpu_rdma.h"

#define PORT "18621"
#define REQUESTS 8       /* under way at most, in each direction */
#define SLOTS 16         /* twice as many: messages may be that far ahead of their receives */
#define EAGER_BYTES 1024 /* larger ones wait for an offer */
#define MOST_REGIONS 64
#define IMM_EAGER (1u << 31) /* in the immediate: it lies in a slot */

/* ---- the device ---- */

/* A memory region, and the GPU's memory as the CPU sees it. */
struct region {
    char* at;
    size_t bytes;
    struct ibv_mr* mr;
    gdr_mh_t pin;
    char* window; /* byte `at` through BAR1 */
    size_t mapped;
};

struct device {
    struct nic nic;
    gdr_t gdr;
    struct region regions[MOST_REGIONS];
    unsigned registered, found; /* misses and hits of the cache */
};

static void device_init(struct device* d, const char* name, int gpu) {
    CUDA(cudaSetDevice(gpu));
    open_nic(&d->nic, name);
    if (!(d->gdr = gdr_open())) {
        fprintf(stderr, "gdr_open failed: is the kernel module gdrdrv loaded?\n");
        exit(1);
    }
}

/* Registering takes far longer than sending: what has been registered once stays so. On a GPU it is whole pages of
 * 64 KiB, as GDRCopy pins them. */
static struct region* device_region(struct device* d, void* at, size_t bytes) {
    struct region* r = d->regions;
    for (; r < d->regions + MOST_REGIONS && r->mr; ++r)
        if ((char*)at >= r->at && (char*)at + bytes <= r->at + r->bytes) {
            ++d->found;
            return r;
        }
    if (r == d->regions + MOST_REGIONS) {
        fprintf(stderr, "more than %d regions\n", MOST_REGIONS);
        exit(1);
    }
    ++d->registered;
    r->at = at;
    r->bytes = bytes;
    if (!(r->mr = reg_mr(&d->nic, at, bytes))) die("ibv_reg_mr of GPU memory");
    const uintptr_t page = (uintptr_t)at & GPU_PAGE_MASK;
    r->mapped = ((uintptr_t)at + bytes - page + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
    void* map;
    gdr_info_t info;
    if (gdr_pin_buffer(d->gdr, page, r->mapped, 0, 0, &r->pin) || gdr_map(d->gdr, r->pin, &map, r->mapped) ||
        gdr_get_info(d->gdr, r->pin, &info))
        die("GDRCopy");
    r->window = (char*)map + ((uintptr_t)at - info.va);
    return r;
}

static void device_close(struct device* d) {
    for (struct region* r = d->regions; r < d->regions + MOST_REGIONS && r->mr; ++r) {
        gdr_unmap(d->gdr, r->pin, r->window - ((uintptr_t)r->at & GPU_PAGE_OFFSET), r->mapped);
        gdr_unpin_buffer(d->gdr, r->pin);
        ibv_dereg_mr(r->mr);
    }
    gdr_close(d->gdr);
}

/* ---- a connection ---- */

/* A place for a message. RDMA writes the number, which is last, last: it says that the rest is there. */
struct offer {
    uint64_t addr;
    uint32_t rkey, bytes;
    uint64_t pad;
    volatile uint64_t number;
};

struct shared {
    /* The peer writes: its irecv's offers, its isend's small messages. */
    struct offer offers[SLOTS];
    char eager[SLOTS][EAGER_BYTES];
    /* What they are written from, on the other side. */
    struct offer my_offers[SLOTS];
    char my_eager[SLOTS][EAGER_BYTES];
};

enum kind { FREE, SEND, RECEIVE };
struct request {
    enum kind kind;
    struct region* region;
    char* at;
    uint32_t bytes;  /* of a receive: room first, then what came */
    uint64_t number; /* of its kind on this connection, from 1 */
    int done;
};

struct connection {
    struct device* device;
    struct wire wire;
    struct ibv_mr* mr; /* of `shared` */
    struct shared* shared;
    struct window peer;                   /* its `shared` */
    uint64_t sends, begun;                /* asked for, and posted: in order */
    uint64_t receives, arrived;           /* asked for, and come */
    uint32_t immediates[SLOTS];           /* of those that have come, by number */
    struct request requests[2][REQUESTS]; /* sends, receives */
};

static void connection_open(struct connection* c, struct device* d, int fd) {
    memset(c, 0, sizeof *c);
    c->device = d;
    const size_t bytes = (sizeof *c->shared + 4095) / 4096 * 4096;
    c->shared = aligned_alloc(4096, bytes);
    memset(c->shared, 0, bytes);
    if (!(c->mr = reg_mr(&d->nic, c->shared, bytes))) die("ibv_reg_mr");
    make_wire(&c->wire, &d->nic, 4 * SLOTS, SLOTS);
    for (int i = 0; i < SLOTS; ++i) post_receive(&c->wire);
    connect_wire(&c->wire, fd);
    struct window mine = {(uintptr_t)c->shared, c->mr->rkey, c->mr->lkey};
    exchange(fd, &mine, &c->peer, sizeof mine);
}

/* The peer's address of what is `at` in our `shared`. */
static uint64_t at_peer(const struct connection* c, const void* at) {
    return c->peer.addr + (uint64_t)((const char*)at - (const char*)c->shared);
}

static void post(struct connection* c, struct ibv_send_wr* wr, uint64_t from, uint32_t bytes, uint32_t lkey) {
    struct ibv_sge sge = {.addr = from, .length = bytes, .lkey = lkey};
    struct ibv_send_wr* bad;
    wr->sg_list = &sge;
    wr->num_sge = 1;
    wr->send_flags = IBV_SEND_SIGNALED;
    if (ibv_post_send(c->wire.qp, wr, &bad)) die("ibv_post_send");
}

/* Null: REQUESTS are under way. */
static struct request* new_request(struct connection* c, enum kind kind, void* at, size_t bytes) {
    for (struct request* r = c->requests[kind == RECEIVE]; r < c->requests[kind == RECEIVE] + REQUESTS; ++r) {
        if (r->kind != FREE) continue;
        *r = (struct request){kind, device_region(c->device, at, bytes), at, (uint32_t)bytes, 0, 0};
        r->number = kind == SEND ? ++c->sends : ++c->receives;
        return r;
    }
    return NULL;
}

static struct request* find_request(struct connection* c, enum kind kind, uint64_t number) {
    for (struct request* r = c->requests[kind == RECEIVE]; r < c->requests[kind == RECEIVE] + REQUESTS; ++r)
        if (r->kind == kind && r->number == number) return r;
    return NULL;
}

/* Posts the message, if the peer is ready for it. */
static int begin_send(struct connection* c, struct request* r) {
    struct ibv_send_wr wr = {.wr_id = (uintptr_t)r, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = r->bytes};
    if (r->bytes <= EAGER_BYTES) {
        /* An offer REQUESTS ahead of a message says that this message has been taken out of its slot. */
        const uint64_t needed = r->number > REQUESTS ? r->number - REQUESTS : 0;
        if (c->shared->offers[needed % SLOTS].number < needed) return 0;
        char* const slot = c->shared->my_eager[r->number % SLOTS];
        gdr_copy_from_mapping(r->region->pin, slot, r->region->window + (r->at - r->region->at), r->bytes);
        wr.imm_data |= IMM_EAGER;
        wr.wr.rdma.remote_addr = at_peer(c, c->shared->eager[r->number % SLOTS]);
        wr.wr.rdma.rkey = c->peer.rkey;
        post(c, &wr, (uintptr_t)slot, r->bytes, c->mr->lkey);
        return 1;
    }
    const struct offer* offer = &c->shared->offers[r->number % SLOTS];
    if (offer->number != r->number) return 0;
    if (r->bytes > offer->bytes) {
        fprintf(stderr, "a message of %u bytes for a receive of %u\n", r->bytes, offer->bytes);
        exit(1);
    }
    wr.wr.rdma.remote_addr = offer->addr;
    wr.wr.rdma.rkey = offer->rkey;
    post(c, &wr, (uintptr_t)r->at, r->bytes, r->region->mr->lkey);
    return 1;
}

/* Message `r->number` has come. */
static void end_receive(struct connection* c, struct request* r) {
    const uint32_t imm = c->immediates[r->number % SLOTS];
    r->bytes = imm & ~IMM_EAGER;
    if (imm & IMM_EAGER)
        gdr_copy_to_mapping(r->region->pin, r->region->window + (r->at - r->region->at),
                            c->shared->eager[r->number % SLOTS], r->bytes);
    r->done = 1;
}

/* Whatever can go on, does. */
static void progress(struct connection* c) {
    struct ibv_wc wc;
    struct request* r;
    while (poll_wire(&c->wire, &wc)) {
        if (is_receive(&wc)) {
            c->immediates[++c->arrived % SLOTS] = wc.imm_data;
            post_receive(&c->wire);
            if ((r = find_request(c, RECEIVE, c->arrived))) end_receive(c, r);
        } else if (wc.wr_id) {
            ((struct request*)(uintptr_t)wc.wr_id)->done = 1;
        }
    }
    while ((r = find_request(c, SEND, c->begun + 1)) && begin_send(c, r)) ++c->begun;
}

static struct request* isend(struct connection* c, void* at, size_t bytes) {
    struct request* r = new_request(c, SEND, at, bytes);
    progress(c);
    return r;
}

static struct request* irecv(struct connection* c, void* at, size_t bytes) {
    struct request* r = new_request(c, RECEIVE, at, bytes);
    if (!r) return NULL;
    struct offer* offer = &c->shared->my_offers[r->number % SLOTS];
    *offer = (struct offer){(uintptr_t)at, r->region->mr->rkey, (uint32_t)bytes, 0, r->number};
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_RDMA_WRITE,
        .wr = {.rdma = {.remote_addr = at_peer(c, &c->shared->offers[r->number % SLOTS]), .rkey = c->peer.rkey}}};
    post(c, &wr, (uintptr_t)offer, sizeof *offer, c->mr->lkey);
    if (r->number <= c->arrived) end_receive(c, r);
    return r;
}

/* Is it over? Then the request is free again; of a receive, `bytes` says how much came. */
static int test(struct connection* c, struct request* r, uint32_t* bytes) {
    if (!r->done) progress(c);
    if (!r->done) return 0;
    if (bytes) *bytes = r->bytes;
    r->kind = FREE;
    return 1;
}

static void finish(struct connection* c, struct request* r) {
    while (!test(c, r, NULL)) {
    }
}

/* ---- what is done with it ---- */

#define MOST (4u << 20)
#define ROUNDS 10

static char pattern(size_t i, int round) {
    return (char)(i * 131 + i / 251 + (size_t)round * 17 + 1);
}

/* The first side sends, the second sends it back; both check what they got at last. */
static int ping_pong(struct connection* c, char* gpu, int is_first) {
    static char host[MOST];
    int wrong = 0;
    if (is_first) printf("     bytes   half a round (us)\n");
    for (uint32_t bytes = 8; bytes <= MOST; bytes *= 8) {
        for (size_t i = 0; i < bytes; ++i) host[i] = pattern(i, (int)bytes);
        if (is_first) CUDA(cudaMemcpy(gpu, host, bytes, cudaMemcpyHostToDevice));
        CUDA(cudaDeviceSynchronize());
        char* const in = gpu + MOST;
        double begin = 0;
        /* One round more, which is not measured. */
        struct request* coming = irecv(c, in, bytes);
        for (int round = 0; round <= ROUNDS; ++round) {
            if (round == 1) begin = now_us();
            if (is_first) finish(c, isend(c, gpu, bytes));
            finish(c, coming);
            /* The next may come as soon as the peer has our answer. */
            if (round < ROUNDS) coming = irecv(c, in, bytes);
            if (!is_first) finish(c, isend(c, in, bytes));
        }
        if (is_first)
            printf("%10u %12.2f   %s\n", bytes, (now_us() - begin) / ROUNDS / 2,
                   bytes <= EAGER_BYTES ? "GDRCopy" : "GPUDirect");
        static char back[MOST];
        CUDA(cudaMemcpy(back, in, bytes, cudaMemcpyDeviceToHost));
        wrong += memcmp(back, host, bytes) != 0;
    }
    return wrong;
}

/* Messages of 1 MiB, eight under way. */
static int stream(struct connection* c, char* gpu, int is_first) {
    enum { MESSAGES = 32, AHEAD = 8, BYTES = 1 << 20 };
    struct request* under_way[AHEAD] = {0};
    const double begin = now_us();
    for (int i = 0; i < MESSAGES + AHEAD; ++i) {
        if (under_way[i % AHEAD]) finish(c, under_way[i % AHEAD]);
        char* const at = gpu + (size_t)(i % AHEAD) * BYTES;
        under_way[i % AHEAD] = i >= MESSAGES ? NULL : is_first ? isend(c, at, BYTES) : irecv(c, at, BYTES);
    }
    const double us = now_us() - begin;
    if (is_first) printf("%d messages of %d bytes: %.2f GB/s\n", MESSAGES, BYTES, (double)MESSAGES * BYTES / us / 1e3);
    return 0;
}

int main(int argc, char** argv) {
    static struct device device;
    static struct connection c;
    const char* adapter = NULL;
    int gpu = 0;
    for (int option; (option = getopt(argc, argv, "g:d:")) != -1;) {
        if (option == 'g') gpu = atoi(optarg);
        if (option == 'd') adapter = optarg;
        if (option == '?') return 2;
    }
    const char* first = optind < argc ? argv[optind] : NULL;
    device_init(&device, adapter, gpu);
    char* memory;
    CUDA(cudaMalloc((void**)&memory, 2 * MOST));
    device_region(&device, memory, 2 * MOST); /* else the first message of each place pays for it */
    const int fd = connect_tcp(first, PORT);
    connection_open(&c, &device, fd);
    wait_for_peer(fd);
    int wrong = ping_pong(&c, memory, !first);
    wait_for_peer(fd);
    wrong += stream(&c, memory, !first);
    wait_for_peer(fd);
    printf("%u regions registered, %u times found again\n", device.registered, device.found);
    printf(wrong ? "%d messages were wrong\n" : "all messages were right\n", wrong);
    device_close(&device);
    CUDA(cudaFree(memory));
    return wrong != 0;
}
