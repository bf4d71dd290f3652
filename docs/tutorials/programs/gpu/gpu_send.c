/* Bytes from the memory of a GPU to the memory of a GPU in another host: by way of both hosts' memories, or directly.
 *
 *     gcc -O2 -Wall gpu_send.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -lcuda -libverbs -o gpu_send
 *     receiver:  ./gpu_send WAY [OPTIONS]            sender:  ./gpu_send WAY [OPTIONS] RECEIVER
 *
 * --staged     GPU -> host memory, all of it; RDMA WRITE; host memory -> GPU
 * --pipelined  the same in chunks: while one is on the wire, the next comes from the GPU and the last goes into the
 * other
 * --direct     the adapters read and write the GPUs' memories (GPUDirect RDMA by the kernel module nvidia_peermem)
 * --dmabuf     the same, memory handed over as a dma-buf (CUDA 11.7, Linux 5.12, the open GPU kernel modules)
 *
 * -n BYTES (default 64 MiB)  -c CHUNK (4 MiB)  -g GPU (0)  -d ADAPTER (the first)  -p: pageable host memory
 *
 * Runs unmodified on real hardware and between simulated hosts. */
#include <cuda.h>
#include <getopt.h>

#include "gpu_rdma.h"

#define PORT "18620"
#define BLOCK (1u << 20) /* of the pattern */
#define DEPTH 64         /* writes under way */

enum way { STAGED, PIPELINED, DIRECT, DMABUF };
static const char* const kWays[] = {"--staged", "--pipelined", "--direct", "--dmabuf"};

static enum way way;
static size_t bytes = 64u << 20, chunk = 4u << 20;
static char *gpu_memory, *host_memory; /* the second where the way leads over the host */
static struct nic nic;
static struct wire to_peer;
static cudaStream_t streams[2];

static int is_direct(void) {
    return way == DIRECT || way == DMABUF;
}

static void report(const char* leg, double us) {
    printf("%-22s %9.3f ms %7.2f GB/s\n", leg, us / 1e3, (double)bytes / us / 1e3);
}

/* What block `n` of the message holds. */
static const uint64_t* pattern(uint64_t n) {
    static uint64_t block[BLOCK / 8];
    if (!block[1])
        for (size_t i = 0; i < BLOCK / 8; ++i) block[i] = i * 0x9E3779B97F4A7C15u;
    block[0] = n;
    return block;
}

static size_t block_bytes(size_t at) {
    return bytes - at < BLOCK ? bytes - at : BLOCK;
}

static void fill_gpu(void) {
    for (size_t at = 0; at < bytes; at += BLOCK)
        CUDA(cudaMemcpy(gpu_memory + at, pattern(at / BLOCK), block_bytes(at), cudaMemcpyHostToDevice));
}

static int check_gpu(void) {
    static char copy[BLOCK];
    for (size_t at = 0; at < bytes; at += BLOCK) {
        CUDA(cudaMemcpy(copy, gpu_memory + at, block_bytes(at), cudaMemcpyDeviceToHost));
        if (memcmp(copy, pattern(at / BLOCK), block_bytes(at))) {
            printf("wrong bytes in block %zu\n", at / BLOCK);
            return 1;
        }
    }
    printf("all %zu bytes are right\n", bytes);
    return 0;
}

/* The memory region that the adapter reads or writes. On hardware as here, this is where GPUDirect fails: EFAULT
 * without nvidia_peermem, EOPNOTSUPP without dma-bufs. */
static struct window register_memory(void) {
    struct ibv_mr* mr;
    if (way == DMABUF) {
        int fd = -1;
        CUresult error = cuInit(0);
        if (error == CUDA_SUCCESS)
            error = cuMemGetHandleForAddressRange(&fd, (CUdeviceptr)(uintptr_t)gpu_memory, bytes,
                                                  CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
        if (error != CUDA_SUCCESS) {
            const char* text = NULL;
            cuGetErrorString(error, &text);
            fprintf(stderr, "dma-buf of GPU memory: %s\n", text ? text : "?");
            exit(1);
        }
        mr = ibv_reg_dmabuf_mr(nic.pd, 0, bytes, (uint64_t)(uintptr_t)gpu_memory, fd,
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        if (!mr) die("ibv_reg_dmabuf_mr of GPU memory");
        close(fd); /* the region holds the memory from now on */
    } else {
        mr = reg_mr(&nic, way == DIRECT ? gpu_memory : host_memory, bytes);
        if (!mr) die(way == DIRECT ? "ibv_reg_mr of GPU memory" : "ibv_reg_mr");
    }
    struct window w = {(uint64_t)(uintptr_t)(is_direct() ? gpu_memory : host_memory), mr->rkey, mr->lkey};
    return w;
}

/* Writes [at, at + length) of the message; with the last byte of all, or of each chunk, the receiver is told. */
static void send_range(const struct window* mine, const struct window* theirs, size_t at, size_t length,
                       int* under_way) {
    struct ibv_wc wc;
    while (*under_way == DEPTH) *under_way -= poll_wire(&to_peer, &wc);
    const uint32_t number = (uint32_t)(at / chunk);
    const int tell = way == PIPELINED || at + length == bytes;
    post_write(&to_peer, mine->addr + at, mine->lkey, theirs->addr + at, theirs->rkey, (uint32_t)length,
               tell ? &number : NULL);
    ++*under_way;
}

static size_t chunk_bytes(size_t at) {
    return bytes - at < chunk ? bytes - at : chunk;
}

static void send_message(const struct window* mine, const struct window* theirs) {
    const size_t chunks = (bytes + chunk - 1) / chunk;
    cudaEvent_t* there = calloc(chunks, sizeof *there);
    for (size_t i = 0; i < chunks; ++i) CUDA(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
    struct ibv_wc wc;
    int under_way = 0;
    const double begin = now_us();
    double staged = begin;
    if (way == STAGED) {
        CUDA(cudaMemcpy(host_memory, gpu_memory, bytes, cudaMemcpyDeviceToHost));
        staged = now_us();
        report("GPU -> host", staged - begin);
    }
    /* Queues all copies, and takes them up as they end. */
    for (size_t i = 0; way == PIPELINED && i < chunks; ++i) {
        const size_t at = i * chunk;
        CUDA(cudaMemcpyAsync(host_memory + at, gpu_memory + at, chunk_bytes(at), cudaMemcpyDeviceToHost,
                             streams[i % 2]));
        CUDA(cudaEventRecord(there[i], streams[i % 2]));
    }
    for (size_t i = 0; i < chunks; ++i) {
        if (way == PIPELINED) CUDA(cudaEventSynchronize(there[i]));
        send_range(mine, theirs, i * chunk, chunk_bytes(i * chunk), &under_way);
    }
    /* The acknowledgements of the writes, and the receiver's word that all is in its GPU. */
    for (int answered = 0; under_way > 0 || !answered;) {
        if (poll_wire(&to_peer, &wc) == 0) continue;
        if (is_receive(&wc))
            answered = 1;
        else if (--under_way == 0 && way != PIPELINED)
            report(is_direct() ? "GPU -> GPU" : "host -> host", now_us() - staged);
    }
    report("the whole way", now_us() - begin);
    for (size_t i = 0; i < chunks; ++i) CUDA(cudaEventDestroy(there[i]));
    free(there);
}

static void receive_message(void) {
    const size_t chunks = (bytes + chunk - 1) / chunk, last = chunks - 1;
    struct ibv_wc wc;
    for (size_t number = chunks; number != last;) {
        if (poll_wire(&to_peer, &wc) == 0) continue;
        number = wc.imm_data;
        if (way != PIPELINED) break;
        post_receive(&to_peer);
        const size_t at = number * chunk;
        CUDA(cudaMemcpyAsync(gpu_memory + at, host_memory + at, chunk_bytes(at), cudaMemcpyHostToDevice,
                             streams[number % 2]));
    }
    const double begin = now_us();
    if (way == STAGED) CUDA(cudaMemcpy(gpu_memory, host_memory, bytes, cudaMemcpyHostToDevice));
    if (way == PIPELINED) CUDA(cudaDeviceSynchronize());
    if (way == STAGED) report("host -> GPU", now_us() - begin);
    const uint32_t answer = 0;
    post_write(&to_peer, 0, 0, 0, 0, 0, &answer);
    while (poll_wire(&to_peer, &wc) == 0 || is_receive(&wc)) {
    }
}

int main(int argc, char** argv) {
    const char* device = NULL;
    int gpu = 0, pageable = 0, known = 0;
    for (int i = 0; argc > 1 && i < 4; ++i)
        if (!strcmp(argv[1], kWays[i])) way = (enum way)i, known = 1;
    optind = 2;
    for (int option; known && (option = getopt(argc, argv, "n:c:g:d:p")) != -1;) {
        if (option == 'n') bytes = strtoull(optarg, NULL, 0);
        if (option == 'c') chunk = strtoull(optarg, NULL, 0);
        if (option == 'g') gpu = atoi(optarg);
        if (option == 'd') device = optarg;
        if (option == 'p') pageable = 1;
        if (option == '?') known = 0;
    }
    if (!known || bytes == 0 || chunk == 0 || chunk > 1u << 30) {
        fprintf(stderr,
                "usage: %s --staged|--pipelined|--direct|--dmabuf [-n BYTES] [-c CHUNK] [-g GPU] [-d ADAPTER] "
                "[-p] [RECEIVER]\n",
                argv[0]);
        return 2;
    }
    const char* receiver = optind < argc ? argv[optind] : NULL;

    CUDA(cudaSetDevice(gpu));
    CUDA(cudaMalloc((void**)&gpu_memory, bytes));
    for (int i = 0; i < 2; ++i) CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    /* Pinned memory: the GPU's copy engine reads and writes it by itself. Pageable memory goes through the driver's
     * own buffers, copied by the CPU. */
    if (!is_direct() && !pageable) CUDA(cudaMallocHost((void**)&host_memory, bytes));
    if (!is_direct() && pageable && !(host_memory = aligned_alloc(BLOCK, (bytes + BLOCK - 1) / BLOCK * BLOCK)))
        die("aligned_alloc");
    open_nic(&nic, device);
    const struct window mine = register_memory();
    make_wire(&to_peer, &nic, DEPTH, 1024);
    for (int i = 0; i < 1024; ++i) post_receive(&to_peer);
    if (receiver)
        fill_gpu();
    else
        CUDA(cudaMemset(gpu_memory, 0, bytes));
    CUDA(cudaDeviceSynchronize());

    const int fd = connect_tcp(receiver, PORT);
    struct window theirs;
    connect_wire(&to_peer, fd);
    exchange(fd, &mine, &theirs, sizeof mine);
    int status = 0;
    if (receiver) {
        send_message(&mine, &theirs);
    } else {
        receive_message();
        status = check_gpu();
    }
    wait_for_peer(fd);
    return status;
}
