// Initialisation, devices, contexts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/cuda/driver/driver.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

constexpr size_t kMostPushed = 64;
std::atomic<bool> g_initialized{false};
Context g_primary[kMaxGpusPerHost];
unsigned g_retained[kMaxGpusPerHost];

struct Stack {
    Context* pushed[kMostPushed];
    size_t size;
};
thread_local Stack t_stack __attribute__((tls_model("initial-exec")));

}  // namespace

Context* primary_context(uint32_t gpu) noexcept {
    g_primary[gpu].gpu = gpu;
    g_primary[gpu].primary = true;
    return &g_primary[gpu];
}

Context* current_context() noexcept {
    if (t_stack.size != 0) {
        // cudaSetDevice may have chosen another GPU meanwhile.
        Context* const top = t_stack.pushed[t_stack.size - 1];
        const int gpu = calls()->current();
        if (top != nullptr && gpu >= 0 && static_cast<uint32_t>(gpu) != top->gpu)
            return primary_context(static_cast<uint32_t>(gpu));
        return top;
    }
    const int gpu = calls()->current();
    return gpu < 0 ? nullptr : primary_context(static_cast<uint32_t>(gpu));
}

void set_current_context(Context* context) noexcept {
    if (t_stack.size == 0) t_stack.size = 1;
    t_stack.pushed[t_stack.size - 1] = context;
    calls()->set_current(context == nullptr ? -1 : static_cast<int>(context->gpu));
    if (context == nullptr) --t_stack.size;
}

int initialized() noexcept {
    return g_initialized.load(std::memory_order_acquire) ? kGpuSuccess : kGpuNotInitialized;
}

}  // namespace simverbs::cuda

using namespace simverbs::cuda;
using namespace simverbs::protocol;

SIMVERBS_CUDA_EXPORT int cuInit(unsigned flags) {
    if (flags != 0) return kGpuInvalidValue;
    if (calls() == nullptr) return kGpuNoDevice;
    const int result = calls()->open();
    if (result == 0) g_initialized.store(true, std::memory_order_release);
    return result;
}

SIMVERBS_CUDA_EXPORT int cuDriverGetVersion(int* version) {
    if (version == nullptr) return kGpuInvalidValue;
    *version = calls() == nullptr ? 0 : static_cast<int>(OpenGpusReply{}.driver_version);
    return 0;
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetCount(int* count) {
    if (count == nullptr) return kGpuInvalidValue;
    return with_driver([&] {
        *count = static_cast<int>(calls()->count());
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGet(int* device, int ordinal) {
    if (device == nullptr) return kGpuInvalidValue;
    return with_device(ordinal, [&](const GpuInfo&) {
        *device = ordinal;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetName(char* name, int length, int device) {
    if (name == nullptr || length <= 0) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        std::snprintf(name, static_cast<size_t>(length), "%s", info.name);
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetUuid(void* uuid, int device) {
    if (uuid == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        std::memcpy(uuid, info.uuid, sizeof info.uuid);
        return 0;
    });
}
SIMVERBS_CUDA_EXPORT int cuDeviceGetUuid_v2(void* uuid, int device) {
    return cuDeviceGetUuid(uuid, device);
}

SIMVERBS_CUDA_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
    if (bytes == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        *bytes = info.bytes;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (value == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        return attribute_of(info, attribute, *value) ? kGpuSuccess : kGpuInvalidValue;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceComputeCapability(int* major, int* minor, int device) {
    if (major == nullptr || minor == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        *major = static_cast<int>(info.capability / 10);
        *minor = static_cast<int>(info.capability % 10);
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetPCIBusId(char* id, int length, int device) {
    return with_device(
        device, [&](const GpuInfo& info) { return pci_id_of(info, id, length) ? kGpuSuccess : kGpuInvalidValue; });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetByPCIBusId(int* device, const char* id) {
    if (device == nullptr) return kGpuInvalidValue;
    return with_driver([&] {
        const int found = gpu_at_pci_id(id);
        if (found >= 0) *device = found;
        return found >= 0 ? kGpuSuccess : kGpuInvalidDevice;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
    if (can == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        if (peer < 0 || calls()->info(static_cast<uint32_t>(peer)) == nullptr) return kGpuInvalidDevice;
        *can = (info.peers >> peer & 1) != 0 ? 1 : 0;
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
    constexpr int kRank = 1, kAccess = 2;
    if (value == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo& info) {
        if (peer < 0 || peer == device || calls()->info(static_cast<uint32_t>(peer)) == nullptr)
            return kGpuInvalidDevice;
        *value = (info.peers >> peer & 1) != 0 && (attribute == kRank || attribute == kAccess) ? 1 : 0;
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuDevicePrimaryCtxRetain(Context** context, int device) {
    if (context == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo&) {
        ++g_retained[device];
        *context = primary_context(static_cast<uint32_t>(device));
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    return with_device(device, [&](const GpuInfo&) {
        if (g_retained[device] == 0) return kGpuInvalidContext;
        --g_retained[device];
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
    return with_device(device, [&](const GpuInfo&) {
        GpuRequest r = make_request(GpuCall::Reset, static_cast<uint32_t>(device));
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    return with_device(device, [&](const GpuInfo&) {
        if (flags != nullptr) *flags = 0;
        if (active != nullptr) *active = g_retained[device] != 0 || calls()->current() == device ? 1 : 0;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
    return with_device(device, [](const GpuInfo&) { return 0; });
}

SIMVERBS_CUDA_EXPORT int cuCtxCreate_v2(Context** context, unsigned, int device) {
    if (context == nullptr) return kGpuInvalidValue;
    return with_device(device, [&](const GpuInfo&) {
        auto* const c = static_cast<Context*>(std::calloc(1, sizeof(Context)));
        if (c == nullptr) return kGpuOutOfMemory;
        if (t_stack.size == kMostPushed) {
            std::free(c);
            return kGpuInvalidValue;
        }
        c->gpu = static_cast<uint32_t>(device);
        t_stack.pushed[t_stack.size++] = c;
        calls()->set_current(device);
        *context = c;
        return kGpuSuccess;
    });
}
SIMVERBS_CUDA_EXPORT int cuCtxCreate_v3(Context** context, void*, int, unsigned flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}
SIMVERBS_CUDA_EXPORT int cuCtxCreate_v4(Context** context, void*, unsigned flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}

SIMVERBS_CUDA_EXPORT int cuCtxPopCurrent_v2(Context** context) {
    return with_driver([&] {
        if (t_stack.size == 0) return kGpuInvalidContext;
        Context* const top = t_stack.pushed[--t_stack.size];
        if (context != nullptr) *context = top;
        Context* const next = t_stack.size == 0 ? nullptr : t_stack.pushed[t_stack.size - 1];
        calls()->set_current(next == nullptr ? -1 : static_cast<int>(next->gpu));
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxPushCurrent_v2(Context* context) {
    return with_driver([&] {
        if (context == nullptr || t_stack.size == kMostPushed) return kGpuInvalidContext;
        t_stack.pushed[t_stack.size++] = context;
        calls()->set_current(static_cast<int>(context->gpu));
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxDestroy_v2(Context* context) {
    return with_driver([&] {
        if (context == nullptr || context->primary) return kGpuInvalidContext;
        if (t_stack.size != 0 && t_stack.pushed[t_stack.size - 1] == context) (void)cuCtxPopCurrent_v2(nullptr);
        std::free(context);
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxSetCurrent(Context* context) {
    return with_driver([&] {
        set_current_context(context);
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxGetCurrent(Context** context) {
    if (context == nullptr) return kGpuInvalidValue;
    return with_driver([&] {
        *context = current_context();
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxGetDevice(int* device) {
    if (device == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        *device = static_cast<int>(gpu);
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxGetFlags(unsigned* flags) {
    if (flags != nullptr) *flags = 0;
    return with_context([](uint32_t) { return 0; });
}

SIMVERBS_CUDA_EXPORT int cuCtxGetApiVersion(Context*, unsigned* version) {
    if (version != nullptr) *version = 3020;
    return with_driver([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    constexpr int kGreatest = -5;
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatest;
    return with_context([](uint32_t) { return 0; });
}

SIMVERBS_CUDA_EXPORT int cuCtxSynchronize() {
    return with_context([](uint32_t gpu) { return wait_for_gpu(gpu); });
}

SIMVERBS_CUDA_EXPORT int cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
    if (peer == nullptr || flags != 0) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::PeerEnable, gpu);
        r.value = peer->gpu;
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cuCtxDisablePeerAccess(Context* peer) {
    if (peer == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::PeerDisable, gpu);
        r.value = peer->gpu;
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cuFlushGPUDirectRDMAWrites(int, int) {
    return with_context(
        [](uint32_t) { return 0; });  // DMA writes are in the GPU's memory when their completion is seen
}
