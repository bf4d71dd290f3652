// What the stand-in libraries of CUDA and GDRCopy find by its name.
#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/net/real.hpp"

namespace gpu = simverbs::client::gpu;

SIMVERBS_INTERPOSE const simverbs::protocol::GpuCalls* simverbs_gpu_calls() noexcept {
    static constexpr simverbs::protocol::GpuCalls kCalls{
        simverbs::protocol::kGpuCallsVersion,
        gpu::open,
        gpu::count,
        gpu::info,
        gpu::exports_dma_bufs,
        gpu::driver_version,
        gpu::topology,
        gpu::current,
        gpu::set_current,
        gpu::request,
        gpu::alloc,
        gpu::free,
        gpu::ipc_open,
        gpu::ipc_close,
        gpu::host_alloc,
        gpu::host_free,
        gpu::is_gpu_address,
        gpu::host_call,
        gpu::map,
        gpu::unmap,
        gpu::explain,
    };
    return &kCalls;
}
