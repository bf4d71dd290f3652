/* Few bytes to and from a GPU: GDRCopy against cudaMemcpy.
 *
 *     gcc -O2 -Wall gdr_latency.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -lgdrapi -o gdr_latency
 *     ./gdr_latency [GPU]
 *
 * cudaMemcpy asks the GPU's copy engine: several microseconds, however little it is. GDRCopy maps the GPU's memory into
 * the process (BAR1), and the CPU writes and reads it itself. Writes are gathered and posted: as fast as nothing else.
 * Reads wait for the GPU's answer again and again: good for a flag, bad for more. Pinning takes long, once.
 *
 * Runs unmodified on real hardware (with the module gdrdrv) and on a simulated host. */
#include <cuda_runtime_api.h>
#include <gdrapi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST (64u << 10)
#define ROUNDS 10

#define CUDA(call) check_cuda(call, #call)
static void check_cuda(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
static void check_gdr(int error, const char* call) {
    if (!error) return;
    fprintf(stderr, "%s: %s\n", call, strerror(error));
    exit(1);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* How long one takes, of ROUNDS in a row. */
#define TIME(call)                                         \
    ({                                                     \
        const double begin = now_us();                     \
        for (int round = 0; round < ROUNDS; ++round) call; \
        (now_us() - begin) / ROUNDS;                       \
    })

int main(int argc, char** argv) {
    char *gpu_memory, *host_memory;
    CUDA(cudaSetDevice(argc > 1 ? atoi(argv[1]) : 0));
    /* gdr_pin_buffer takes whole GPU pages of 64 KiB. */
    CUDA(cudaMalloc((void**)&gpu_memory, MOST + GPU_PAGE_SIZE));
    CUDA(cudaMallocHost((void**)&host_memory, 2 * MOST));
    char* const page = (char*)(((uintptr_t)gpu_memory + GPU_PAGE_OFFSET) & GPU_PAGE_MASK);
    char* const back = host_memory + MOST;
    for (unsigned i = 0; i < MOST; ++i) host_memory[i] = (char)(i * 7 + 1);

    gdr_t gdr = gdr_open();
    if (!gdr) {
        fprintf(stderr, "gdr_open failed: is the kernel module gdrdrv loaded?\n");
        return 1;
    }
    gdr_mh_t handle;
    gdr_info_t info;
    void* mapping;
    const double begin = now_us();
    check_gdr(gdr_pin_buffer(gdr, (unsigned long)page, MOST, 0, 0, &handle), "gdr_pin_buffer");
    const double pinned = now_us();
    check_gdr(gdr_map(gdr, handle, &mapping, MOST), "gdr_map");
    const double mapped = now_us();
    check_gdr(gdr_get_info(gdr, handle, &info), "gdr_get_info");
    char* const window = (char*)mapping + ((uint64_t)(uintptr_t)page - info.va);
    printf("once: pinning %.0f us, mapping %.1f us\n", pinned - begin, mapped - pinned);

    printf("     bytes   host -> GPU (us)       GPU -> host (us)\n");
    printf("           GDRCopy  cudaMemcpy    GDRCopy  cudaMemcpy\n");
    int wrong = 0;
    for (unsigned bytes = 8; bytes <= MOST; bytes *= 2) {
        CUDA(cudaMemset(page, 0, MOST));
        CUDA(cudaDeviceSynchronize());
        const double store = TIME(gdr_copy_to_mapping(handle, window, host_memory, bytes));
        const double copy_in = TIME(CUDA(cudaMemcpy(page, host_memory, bytes, cudaMemcpyHostToDevice)));
        const double load = TIME(gdr_copy_from_mapping(handle, back, window, bytes));
        wrong += memcmp(back, host_memory, bytes) != 0;
        memset(back, 0, bytes);
        const double copy_out = TIME(CUDA(cudaMemcpy(back, page, bytes, cudaMemcpyDeviceToHost)));
        wrong += memcmp(back, host_memory, bytes) != 0;
        printf("%10u %7.3f %11.3f %10.3f %11.3f\n", bytes, store, copy_in, load, copy_out);
    }
    /* What one way has written, the other must read. */
    memset(back, 0x5a, MOST);
    gdr_copy_to_mapping(handle, window, back, MOST);
    CUDA(cudaMemcpy(host_memory, page, MOST, cudaMemcpyDeviceToHost));
    wrong += memcmp(host_memory, back, MOST) != 0;
    printf(wrong ? "%d copies were wrong\n" : "all copies were right\n", wrong);

    check_gdr(gdr_unmap(gdr, handle, mapping, MOST), "gdr_unmap");
    check_gdr(gdr_unpin_buffer(gdr, handle), "gdr_unpin_buffer");
    gdr_close(gdr);
    CUDA(cudaFreeHost(host_memory));
    CUDA(cudaFree(gpu_memory));
    return wrong != 0;
}
