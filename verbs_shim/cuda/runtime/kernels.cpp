// Kernels: what nvcc's code registers, and launches. No GPU runs here: a launch calls what the program has registered
// for the kernel (simverbs_cuda.h), or fails.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/cuda/include/simverbs_cuda.h"
#include "verbs_shim/cuda/runtime/runtime.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

constexpr size_t kMostArguments = 64;
constexpr uint64_t kDefaultNs = 5000;

struct Registered {
    const void* kernel = nullptr;
    simverbs_host_function function = nullptr;
    size_t num_arguments = 0;
    size_t bytes[kMostArguments] = {};
    Registered* next = nullptr;
};
std::atomic<Registered*> g_registered{nullptr};

/// Names, for errors: what __cudaRegisterFunction has told.
struct Named {
    const void* kernel;
    const char* name;
    Named* next;
};
std::atomic<Named*> g_named{nullptr};

template <class T>
void push(std::atomic<T*>& list, T* item) {
    item->next = list.load();
    while (!list.compare_exchange_weak(item->next, item)) {
    }
}

const Registered* find(const void* kernel) {
    for (const Registered* r = g_registered.load(); r != nullptr; r = r->next)
        if (r->kernel == kernel) return r;
    return nullptr;
}

const char* name_of(const void* kernel) {
    for (const Named* n = g_named.load(); n != nullptr; n = n->next)
        if (n->kernel == kernel) return n->name;
    return "of unknown name";
}

/// One launch on its way; the arguments' bytes follow it.
struct Launch {
    GpuHostCall call;
    const Registered* kernel = nullptr;
    simverbs_launch launch = {};
    void* arguments[kMostArguments] = {};
};

void run_launch(GpuHostCall* self) {
    auto* const l = reinterpret_cast<Launch*>(self);
    l->launch.duration_ns = kDefaultNs;
    l->kernel->function(l->arguments, &l->launch);
    constexpr uint64_t kPsOfANs = 1000;
    l->call.took_ps = l->launch.duration_ns * kPsOfANs;
}

int refuse(const void* kernel) {
    char text[512];
    std::snprintf(text, sizeof text,
                  "cudaLaunchKernel: there is no GPU that could run the kernel %s. Register a host function for it: "
                  "simverbs_cuda_register_host_function (simverbs_cuda.h).",
                  name_of(kernel));
    static std::atomic<bool> told{false};
    if (!told.exchange(true)) std::fprintf(stderr, "simverbs: %s\n", text);
    return kGpuInvalidDeviceFunction;
}

struct Size {
    unsigned x, y, z;
};

int launch(const void* kernel, Size grid, Size block, void** arguments, size_t shared_bytes, uint64_t stream) {
    return run([&] {
        constexpr uint64_t kMostThreads = 1024;
        const Registered* const r = find(kernel);
        if (r == nullptr) return refuse(kernel);
        const uint64_t threads = uint64_t{block.x} * block.y * block.z;
        constexpr int kInvalidConfiguration = 9;
        if (threads == 0 || threads > kMostThreads || uint64_t{grid.x} * grid.y * grid.z == 0)
            return kInvalidConfiguration;
        size_t bytes = 0;
        for (size_t i = 0; i < r->num_arguments; ++i) bytes += (r->bytes[i] + 15) / 16 * 16;
        auto* const l = static_cast<Launch*>(std::calloc(1, sizeof(Launch) + 16 + bytes));
        if (l == nullptr) return static_cast<int>(kGpuOutOfMemory);
        auto at = (reinterpret_cast<uintptr_t>(l + 1) + 15) / 16 * 16;
        for (size_t i = 0; i < r->num_arguments; ++i) {
            l->arguments[i] = reinterpret_cast<void*>(at);
            std::memcpy(l->arguments[i], arguments[i], r->bytes[i]);
            at += (r->bytes[i] + 15) / 16 * 16;
        }
        l->kernel = r;
        l->launch = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, kDefaultNs};
        l->call.run = run_launch;
        l->call.sees_gpu_memory = true;
        l->call.done = [](GpuHostCall* self) { std::free(self); };
        const int result = calls()->host_call(current_gpu(), stream, &l->call);
        if (result != 0) std::free(l);
        return result;
    });
}

// The configuration between <<< >>> and the call of the kernel's stub.
struct Configuration {
    Size grid, block;
    size_t shared_bytes;
    void* stream;
};
thread_local Configuration t_configuration __attribute__((tls_model("initial-exec")));

}  // namespace

}  // namespace simverbs::cuda

using namespace simverbs::cuda;
using namespace simverbs::protocol;

SIMVERBS_CUDA_EXPORT int simverbs_cuda_register_host_function(const void* kernel, simverbs_host_function function,
                                                              size_t num_arguments, const size_t* argument_bytes) {
    if (kernel == nullptr || function == nullptr || num_arguments > kMostArguments) return note(kGpuInvalidValue);
    auto* const r = static_cast<Registered*>(std::calloc(1, sizeof(Registered)));
    if (r == nullptr) return note(kGpuOutOfMemory);
    r->kernel = kernel;
    r->function = function;
    r->num_arguments = num_arguments;
    for (size_t i = 0; i < num_arguments; ++i) r->bytes[i] = argument_bytes[i];
    push(g_registered, r);
    return 0;
}

SIMVERBS_CUDA_EXPORT int cudaLaunchKernel(const void* kernel, Size grid, Size block, void** arguments,
                                          size_t shared_bytes, void* stream) {
    return launch(kernel, grid, block, arguments, shared_bytes, number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaLaunchKernel_ptsz(const void* kernel, Size grid, Size block, void** arguments,
                                               size_t shared_bytes, void* stream) {
    return launch(kernel, grid, block, arguments, shared_bytes,
                  stream == nullptr ? kStreamPerThread : number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaLaunchCooperativeKernel(const void* kernel, Size grid, Size block, void** arguments,
                                                     size_t shared_bytes, void* stream) {
    return launch(kernel, grid, block, arguments, shared_bytes, number_of(stream));
}
struct LaunchConfiguration {
    Size grid, block;
    size_t shared_bytes;
    void* stream;
    void* attributes;
    unsigned num_attributes;
};
SIMVERBS_CUDA_EXPORT int cudaLaunchKernelExC(const LaunchConfiguration* c, const void* kernel, void** arguments) {
    if (c == nullptr) return note(kGpuInvalidValue);
    return launch(kernel, c->grid, c->block, arguments, c->shared_bytes, number_of(c->stream));
}

SIMVERBS_CUDA_EXPORT int cudaFuncGetAttributes(void* attributes, const void* kernel) {
    constexpr size_t kBytes = 48;  // up to maxThreadsPerBlock and what CUDA 9 had
    if (attributes == nullptr) return note(kGpuInvalidValue);
    std::memset(attributes, 0, kBytes);
    return run([&] { return find(kernel) != nullptr ? 0 : refuse(kernel); });
}
SIMVERBS_CUDA_EXPORT int cudaFuncSetAttribute(const void*, int, int) {
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaFuncSetCacheConfig(const void*, int) {
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads,
                                                                                size_t, unsigned) {
    constexpr int kThreads = 2048, kBlocks = 32;
    if (blocks == nullptr || threads <= 0) return note(kGpuInvalidValue);
    *blocks = threads > kThreads ? 0 : kThreads / threads < kBlocks ? kThreads / threads : kBlocks;
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                                       size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared_bytes, 0);
}
SIMVERBS_CUDA_EXPORT int cudaGetSymbolAddress(void**, const void*) {
    return note(kGpuNotSupported);
}

// What code from nvcc calls before main and at the end: images are not looked into, names are kept.
SIMVERBS_CUDA_EXPORT void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
SIMVERBS_CUDA_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
SIMVERBS_CUDA_EXPORT void __cudaUnregisterFatBinary(void**) {}
SIMVERBS_CUDA_EXPORT void __cudaRegisterFunction(void**, const char* kernel, char*, const char* name, int, void*, void*,
                                                 void*, void*, int*) {
    auto* const named = static_cast<Named*>(std::malloc(sizeof(Named)));
    if (named == nullptr) return;
    *named = {kernel, name, nullptr};
    push(g_named, named);
}
SIMVERBS_CUDA_EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
SIMVERBS_CUDA_EXPORT void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}
SIMVERBS_CUDA_EXPORT char __cudaInitModule(void**) {
    return 1;
}
SIMVERBS_CUDA_EXPORT unsigned __cudaPushCallConfiguration(Size grid, Size block, size_t shared_bytes, void* stream) {
    t_configuration = {grid, block, shared_bytes, stream};
    return 0;
}
SIMVERBS_CUDA_EXPORT int __cudaPopCallConfiguration(Size* grid, Size* block, size_t* shared_bytes, void* stream) {
    *grid = t_configuration.grid;
    *block = t_configuration.block;
    *shared_bytes = t_configuration.shared_bytes;
    *static_cast<void**>(stream) = t_configuration.stream;
    return 0;
}
/// CUDA 12.8 and later take the kernel's handle from here.
SIMVERBS_CUDA_EXPORT int __cudaGetKernel(void** handle, const void* kernel) {
    *handle = const_cast<void*>(kernel);
    return 0;
}
SIMVERBS_CUDA_EXPORT int __cudaLaunchKernel(void* kernel, Size grid, Size block, void** arguments, size_t shared_bytes,
                                            void* stream) {
    return launch(kernel, grid, block, arguments, shared_bytes, number_of(stream));
}
