/* Ring all-reduce over the GPUs of one host, or of two with an adapter (rail) for each GPU.
 *
 *     gcc -O2 -Wall gpu_allreduce.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -libverbs -lpthread
 *     one host:   ./gpu_allreduce -s [OPTIONS]
 *     two hosts:  ./gpu_allreduce [OPTIONS]            and:  ./gpu_allreduce [OPTIONS] FIRST
 *
 * -g GPUS of each host (default: all)   -n BYTES on each GPU (16 MiB)   -l LANES side by side (2)
 *
 * Each GPU has as many floats; in the end each has the sum of all. There are as many rings as GPUs in a host, and each
 * has its part of the bytes. Ring r enters the first host at GPU r and goes upwards from GPU to GPU until GPU r-1,
 * leaves by the rail of that GPU, enters the second host at its GPU r-1, and goes downwards to GPU r and by that rail
 * back: so each rail carries one ring in each direction, and no byte crosses from rail to rail outside of a host. GPU
 * to GPU is cudaMemcpy: NVLink where there is, else PCIe.
 *
 * With n GPUs, a ring's part is n chunks. In step s the GPU at place p sends on chunk p-s. For n-1 steps the next one
 * adds what comes to its own (reduce-scatter), for n-1 more it replaces its own (all-gather). Bus bandwidth as
 * nccl-tests count it: bytes / time * 2(n-1)/n, which is what each ring's links carried.
 *
 * A lane is a part of all the bytes with threads of its own: while one lane waits for its kernel or its adapter,
 * another's copies go on. Sums are added by a kernel: add_floats.cu with nvcc and -DHAVE_KERNEL on hardware; between
 * simulated hosts, where nothing could run it, by a function of the host that stands for it. */
#include <getopt.h>
#include <pthread.h>

#include "add_floats.h"
#include "gpu_rdma.h"

#define PORT "18622"
#define MOST_GPUS MOST_SUMS
#define MOST_LANES 16
#define BLOCK (1u << 18) /* floats of a part of the test pattern */

/* ---- the kernel ---- */

#ifdef HAVE_KERNEL
void add_floats(struct sums s);
#else
static void add_floats(struct sums s) {
    (void)s; /* its address stands for the kernel */
}
#endif

/* simverbs has this, hardware has not. */
struct simverbs_launch {
    unsigned int grid[3], block[3];
    size_t shared_bytes;
    uint64_t duration_ns;
};
int simverbs_cuda_register_host_function(const void* kernel, void (*function)(void**, struct simverbs_launch*),
                                         size_t num_arguments, const size_t* argument_bytes) __attribute__((weak));

static void add_on_host(void** arguments, struct simverbs_launch* launch) {
    const struct sums* s = arguments[0];
    for (unsigned r = 0; r < s->count; ++r)
        for (unsigned i = 0; i < s->floats; ++i) s->to[r][i] += s->from[r][i];
    /* Two reads and a write at 1500 GB/s. */
    launch->duration_ns = 2000 + (uint64_t)s->count * s->floats * sizeof(float) * 3 / 1500;
}

static void launch_sums(struct sums* s, cudaStream_t stream) {
    void* arguments[] = {s};
    CUDA(cudaLaunchKernel((const void*)add_floats, (dim3){32, s->count, 1}, (dim3){512, 1, 1}, arguments, 0, stream));
}

/* ---- who is where ---- */

static int gpus, lanes = 2, hosts = 2, my_host;
static size_t bytes = 16u << 20, chunk; /* on each GPU; what is handed on in a step */

static struct gpu {
    char *data, *scratch;    /* scratch: what has come and is not yet added */
    struct nic nic;          /* its rail */
    struct window mine[2];   /* data, scratch */
    struct window theirs[2]; /* of the GPU at the other end of the rail */
    struct wire wires[MOST_LANES];
    int arrived[MOST_LANES]; /* chunks by the rail so far */
} all[MOST_GPUS];
static pthread_barrier_t step_barriers[MOST_LANES], begin_barrier;

static int wrap(int i, int n) {
    return (i % n + n) % n;
}
static int ranks(void) {
    return gpus * hosts;
}
/* Place of this host's GPU in a ring. */
static int place(int gpu, int ring) {
    return my_host == 0 ? wrap(gpu - ring, gpus) : gpus + wrap(ring - 1 - gpu, gpus);
}
static int next_gpu(int gpu) {
    return wrap(my_host == 0 ? gpu + 1 : gpu - 1, gpus);
}
/* The ring that leaves this host by this GPU's rail; -1: none. */
static int leaving_ring(int gpu) {
    return hosts == 1 ? -1 : my_host == 0 ? wrap(gpu + 1, gpus) : gpu;
}
static size_t data_at(int lane, int ring, int piece) {
    return ((size_t)(lane * gpus + ring) * (size_t)ranks() + (size_t)piece) * chunk;
}
static size_t scratch_at(int lane, int ring, int step) {
    return ((size_t)(lane * gpus + ring) * 2 + (size_t)(step % 2)) * chunk;
}

/* ---- one lane of one GPU ---- */

struct worker {
    int gpu, lane;
    cudaStream_t stream;
    pthread_t thread;
};

/* Ends in the next one's scratch as long as it has to be added there. */
static int is_added(int step) {
    return step < ranks() - 1;
}

/* One copy for as many of the chunks [first, ...) of `rings` as lie at equal distances. How many that were. */
static int copy_run(const struct worker* w, int step, const int* rings, int first, int count) {
    const int next = next_gpu(w->gpu);
    size_t from[MOST_GPUS] = {0}, to[MOST_GPUS] = {0};
    int run = 0;
    for (int i = first; i < count; ++i, ++run) {
        const int piece = wrap(place(w->gpu, rings[i]) - step, ranks());
        from[run] = data_at(w->lane, rings[i], piece);
        to[run] = is_added(step) ? scratch_at(w->lane, rings[i], step) : from[run];
        if (run > 1 && (from[run] - from[run - 1] != from[1] - from[0] || to[run] - to[run - 1] != to[1] - to[0]))
            break;
    }
    char* const target = (is_added(step) ? all[next].scratch : all[next].data) + to[0];
    if (run == 1)
        CUDA(cudaMemcpyPeerAsync(target, next, all[w->gpu].data + from[0], w->gpu, chunk, w->stream));
    else
        CUDA(cudaMemcpy2DAsync(target, to[1] - to[0], all[w->gpu].data + from[0], from[1] - from[0], chunk, (size_t)run,
                               cudaMemcpyDefault, w->stream));
    return run;
}

static void do_step(const struct worker* w, int step, cudaEvent_t added) {
    struct gpu* const gpu = &all[w->gpu];
    /* What came in the last step. */
    if (step > 0 && is_added(step - 1)) {
        struct sums s = {.count = (unsigned)gpus, .floats = (unsigned)(chunk / sizeof(float))};
        for (int ring = 0; ring < gpus; ++ring) {
            const int piece = wrap(place(w->gpu, ring) - step, ranks());
            s.to[ring] = (float*)(gpu->data + data_at(w->lane, ring, piece));
            s.from[ring] = (float*)(gpu->scratch + scratch_at(w->lane, ring, step - 1));
        }
        launch_sums(&s, w->stream);
    }
    CUDA(cudaEventRecord(added, w->stream));
    const int leaving = leaving_ring(w->gpu);
    int rings[MOST_GPUS], count = 0;
    for (int ring = 0; ring < gpus; ++ring)
        if (ring != leaving) rings[count++] = ring;
    for (int i = 0; i < count;) i += copy_run(w, step, rings, i, count);
    if (leaving >= 0) {
        CUDA(cudaEventSynchronize(added));
        const size_t from = data_at(w->lane, leaving, wrap(place(w->gpu, leaving) - step, ranks()));
        const size_t to = is_added(step) ? scratch_at(w->lane, leaving, step) : from;
        const struct window* target = &gpu->theirs[is_added(step)];
        const uint32_t number = (uint32_t)step;
        struct wire* wire = &gpu->wires[w->lane];
        struct ibv_wc wc;
        post_write(wire, gpu->mine[0].addr + from, gpu->mine[0].lkey, target->addr + to, target->rkey, (uint32_t)chunk,
                   &number);
        /* Until ours is there, and the one of this step that comes by this rail. */
        for (int sent = 0; !sent || gpu->arrived[w->lane] <= step;) {
            if (poll_wire(wire, &wc) == 0) continue;
            if (is_receive(&wc)) {
                ++gpu->arrived[w->lane];
                post_receive(wire);
            } else {
                sent = 1;
            }
        }
    }
    CUDA(cudaStreamSynchronize(w->stream));
}

static void* work(void* argument) {
    const struct worker* w = argument;
    cudaEvent_t added;
    CUDA(cudaSetDevice(w->gpu));
    CUDA(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
    pthread_barrier_wait(&begin_barrier);
    for (int step = 0; step < 2 * (ranks() - 1); ++step) {
        do_step(w, step, added);
        /* What the GPU before this one sent in this step is there when its thread has come here. */
        pthread_barrier_wait(&step_barriers[w->lane]);
    }
    CUDA(cudaEventDestroy(added));
    return NULL;
}

/* ---- the test ---- */

/* Element i of block b on one rank. All are small integers: floats add them up exactly. */
static float value(size_t block, size_t i, int rank) {
    return (float)(block % 64 + i % 1021 + (size_t)rank);
}

static void prepare(int number) {
    struct gpu* gpu = &all[number];
    const size_t scratch_bytes = (size_t)lanes * (size_t)gpus * 2 * chunk;
    CUDA(cudaSetDevice(number));
    CUDA(cudaMalloc((void**)&gpu->data, bytes));
    CUDA(cudaMalloc((void**)&gpu->scratch, scratch_bytes));
    int can = 0;
    if (next_gpu(number) != number) CUDA(cudaDeviceCanAccessPeer(&can, number, next_gpu(number)));
    if (can) CUDA(cudaDeviceEnablePeerAccess(next_gpu(number), 0));
    static float block[BLOCK];
    for (size_t at = 0; at < bytes; at += sizeof block) {
        for (size_t i = 0; i < BLOCK; ++i) block[i] = value(at / sizeof block, i, my_host * gpus + number);
        CUDA(cudaMemcpy(gpu->data + at, block, bytes - at < sizeof block ? bytes - at : sizeof block,
                        cudaMemcpyHostToDevice));
    }
    CUDA(cudaDeviceSynchronize());
    if (hosts == 1) return;
    char name[16];
    snprintf(name, sizeof name, "%d", number);
    open_nic(&gpu->nic, name);
    for (int i = 0; i < 2; ++i) {
        char* const at = i == 0 ? gpu->data : gpu->scratch;
        struct ibv_mr* mr = reg_mr(&gpu->nic, at, i == 0 ? bytes : scratch_bytes);
        if (!mr) die("ibv_reg_mr of GPU memory");
        gpu->mine[i] = (struct window){(uintptr_t)at, mr->rkey, mr->lkey};
    }
    for (int lane = 0; lane < lanes; ++lane) {
        make_wire(&gpu->wires[lane], &gpu->nic, 4, 4);
        /* The other side is a step ahead at most. A message without a receive would wait for long. */
        for (int i = 0; i < 4; ++i) post_receive(&gpu->wires[lane]);
    }
}

/* How many elements are not the sum of all ranks'. */
static size_t count_wrong(void) {
    static float block[BLOCK];
    size_t wrong = 0;
    const float others = (float)(ranks() * (ranks() - 1) / 2);
    for (int g = 0; g < gpus; ++g)
        for (size_t at = 0; at < bytes; at += sizeof block) {
            const size_t floats = (bytes - at < sizeof block ? bytes - at : sizeof block) / sizeof(float);
            CUDA(cudaMemcpy(block, all[g].data + at, floats * sizeof(float), cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < floats; ++i)
                wrong += block[i] != value(at / sizeof block, i, 0) * (float)ranks() + others;
        }
    return wrong;
}

int main(int argc, char** argv) {
    for (int option; (option = getopt(argc, argv, "sg:n:l:")) != -1;) {
        if (option == 's') hosts = 1;
        if (option == 'g') gpus = atoi(optarg);
        if (option == 'n') bytes = strtoull(optarg, NULL, 0);
        if (option == 'l') lanes = atoi(optarg);
        if (option == '?') return 2;
    }
    const char* first = optind < argc ? argv[optind] : NULL;
    my_host = first ? 1 : 0;
    int there = 0;
    CUDA(cudaGetDeviceCount(&there));
    if (gpus == 0) gpus = there < MOST_GPUS ? there : MOST_GPUS;
    if (gpus < 1 || gpus > there || gpus > MOST_GPUS || lanes < 1 || lanes > MOST_LANES || ranks() < 2) {
        fprintf(stderr, "%d GPUs of %d, %d hosts, %d lanes: that is no ring\n", gpus, there, hosts, lanes);
        return 2;
    }
    /* Whole numbers of floats in all chunks. */
    const size_t chunks = (size_t)lanes * (size_t)gpus * (size_t)ranks();
    chunk = bytes / chunks / 256 * 256;
    bytes = chunk * chunks;
    if (chunk == 0) {
        fprintf(stderr, "too few bytes for %zu chunks\n", chunks);
        return 2;
    }
    const size_t argument_bytes[] = {sizeof(struct sums)};
    if (simverbs_cuda_register_host_function)
        simverbs_cuda_register_host_function((const void*)add_floats, add_on_host, 1, argument_bytes);

    for (int g = 0; g < gpus; ++g) prepare(g);
    const int fd = hosts == 1 ? -1 : connect_tcp(first, PORT);
    for (int g = 0; hosts == 2 && g < gpus; ++g) {
        for (int lane = 0; lane < lanes; ++lane) connect_wire(&all[g].wires[lane], fd);
        exchange(fd, all[g].mine, all[g].theirs, sizeof all[g].mine);
    }
    static struct worker workers[MOST_LANES][MOST_GPUS];
    pthread_barrier_init(&begin_barrier, NULL, (unsigned)(gpus * lanes) + 1);
    for (int lane = 0; lane < lanes; ++lane) {
        pthread_barrier_init(&step_barriers[lane], NULL, (unsigned)gpus);
        for (int g = 0; g < gpus; ++g) {
            struct worker* w = &workers[lane][g];
            *w = (struct worker){.gpu = g, .lane = lane};
            CUDA(cudaSetDevice(g));
            CUDA(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
            if (pthread_create(&w->thread, NULL, work, w)) die("pthread_create");
        }
    }
    if (hosts == 2) wait_for_peer(fd);
    pthread_barrier_wait(&begin_barrier);
    const double begin = now_us();
    for (int lane = 0; lane < lanes; ++lane)
        for (int g = 0; g < gpus; ++g) pthread_join(workers[lane][g].thread, NULL);
    const double us = now_us() - begin, rate = (double)bytes / us / 1e3;
    printf("%d GPUs, %zu bytes each in chunks of %zu: %.3f ms, algorithm %.1f GB/s, bus %.1f GB/s\n", ranks(), bytes,
           chunk, us / 1e3, rate, rate * 2 * (ranks() - 1) / ranks());
    const size_t wrong = count_wrong();
    printf(wrong ? "%zu sums are wrong\n" : "all sums are right\n", wrong);
    if (hosts == 2) wait_for_peer(fd);
    return wrong != 0;
}
