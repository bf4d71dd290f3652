/* What simverbs adds to CUDA's runtime: kernels as functions of the host. There is no GPU that could run them. */
#ifndef SIMVERBS_CUDA_H
#define SIMVERBS_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One launch of a kernel. */
struct simverbs_launch {
    unsigned int grid[3], block[3];
    size_t shared_bytes;
    /* How long the kernel takes on the GPU, in nanoseconds; the function may set it. 5000 if it does not. */
    uint64_t duration_ns;
};

/* Runs when a stream comes to the launch, in a thread of its own. Pointers to GPU memory among the arguments can be
 * used in it, as the kernel uses them; it may not call CUDA. `arguments` points to copies of the launch's. */
typedef void (*simverbs_host_function)(void** arguments, struct simverbs_launch* launch);

/* From now on, launches of `kernel` (what cudaLaunchKernel gets: with nvcc, the kernel's name) run `function`. The
 * kernel has `num_arguments` arguments of these sizes in bytes. Returns cudaSuccess or cudaErrorInvalidValue. */
int simverbs_cuda_register_host_function(const void* kernel, simverbs_host_function function, size_t num_arguments,
                                         const size_t* argument_bytes);

#ifdef __cplusplus
}
#endif
#endif
