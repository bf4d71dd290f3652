// Devices, errors, versions.
#include <cstring>

#include "verbs_shim/cuda/runtime/runtime.hpp"

namespace simverbs::cuda {

using namespace protocol;

int& last_error() noexcept {
    thread_local int error __attribute__((tls_model("initial-exec"))) = 0;
    return error;
}

int ready() noexcept {
    const GpuCalls* const c = calls();
    if (c == nullptr) return kGpuInsufficientDriver;
    if (const int result = c->open()) return result;
    if (c->current() < 0) c->set_current(0);
    return 0;
}

namespace {

/// Runs `f(gpu, info)` for a device that exists.
template <class F>
int with_device(int device, F f) noexcept {
    return run([&] {
        const GpuInfo* const info = device < 0 ? nullptr : calls()->info(static_cast<uint32_t>(device));
        return info == nullptr ? static_cast<int>(kGpuInvalidDevice) : f(static_cast<uint32_t>(device), *info);
    });
}

const char* text_of(int error, bool name) {
    const ErrorText* const e = error_text(error);
    if (e == nullptr) return name ? "unrecognized error code" : "unrecognized error code";
    return name ? e->runtime_name : e->text;
}

unsigned g_flags[kMaxGpusPerHost];
size_t g_limits[8] = {1024, 1048576, 8388608, 2, 2048, 128, 0, 0};

}  // namespace

}  // namespace simverbs::cuda

using namespace simverbs::cuda;
using namespace simverbs::protocol;

SIMVERBS_CUDA_EXPORT int cudaGetLastError() {
    const int error = last_error();
    last_error() = 0;
    return error;
}

SIMVERBS_CUDA_EXPORT int cudaPeekAtLastError() {
    return last_error();
}

SIMVERBS_CUDA_EXPORT const char* cudaGetErrorName(int error) {
    return text_of(error, true);
}

SIMVERBS_CUDA_EXPORT const char* cudaGetErrorString(int error) {
    return text_of(error, false);
}

SIMVERBS_CUDA_EXPORT int cudaRuntimeGetVersion(int* version) {
    if (version == nullptr) return note(kGpuInvalidValue);
    *version = SIMVERBS_CUDART_VERSION;
    return 0;
}

SIMVERBS_CUDA_EXPORT int cudaDriverGetVersion(int* version) {
    if (version == nullptr) return note(kGpuInvalidValue);
    const GpuCalls* const c = calls();
    *version = c == nullptr || c->open() != 0 ? 0 : static_cast<int>(c->driver_version());
    return 0;
}

SIMVERBS_CUDA_EXPORT int cudaGetDeviceCount(int* count) {
    if (count == nullptr) return note(kGpuInvalidValue);
    *count = 0;
    return run([&] {
        *count = static_cast<int>(calls()->count());
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaGetDevice(int* device) {
    if (device == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        *device = calls()->current();
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaSetDevice(int device) {
    return with_device(device, [&](uint32_t, const GpuInfo&) {
        calls()->set_current(device);
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaInitDevice(int device, unsigned, unsigned) {
    return with_device(device, [](uint32_t, const GpuInfo&) { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaSetValidDevices(int*, int) {
    return run([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaChooseDevice(int* device, const void*) {
    if (device == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        *device = 0;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaSetDeviceFlags(unsigned flags) {
    return run([&] {
        g_flags[current_gpu()] = flags;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaGetDeviceFlags(unsigned* flags) {
    if (flags == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        *flags = g_flags[current_gpu()];
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int device) {
    if (value == nullptr) return note(kGpuInvalidValue);
    return with_device(device, [&](uint32_t, const GpuInfo& info) {
        return attribute_of(info, attribute, *value) ? kGpuSuccess : kGpuInvalidValue;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetPCIBusId(char* id, int length, int device) {
    return with_device(device, [&](uint32_t, const GpuInfo& info) {
        return pci_id_of(info, id, length) ? kGpuSuccess : kGpuInvalidValue;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetByPCIBusId(int* device, const char* id) {
    if (device == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        const int found = gpu_at_pci_id(id);
        if (found < 0) return kGpuInvalidDevice;
        *device = found;
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceSynchronize() {
    return run([] { return wait_for_gpu(current_gpu()); });
}

SIMVERBS_CUDA_EXPORT int cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}

SIMVERBS_CUDA_EXPORT int cudaDeviceReset() {
    return run([] {
        if (const int result = wait_for_gpu(current_gpu())) return result;
        GpuRequest r = make_request(GpuCall::Reset, current_gpu());
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    constexpr int kGreatest = -5;
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatest;
    return run([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetLimit(size_t* value, int limit) {
    if (value == nullptr || limit < 0 || limit > 7) return note(kGpuInvalidValue);
    *value = g_limits[limit];
    return run([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceSetLimit(int limit, size_t value) {
    if (limit < 0 || limit > 7) return note(kGpuInvalidValue);
    g_limits[limit] = value;
    return run([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceSetCacheConfig(int) {
    return run([] { return 0; });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (can == nullptr) return note(kGpuInvalidValue);
    return with_device(device, [&](uint32_t, const GpuInfo& info) {
        if (peer < 0 || calls()->info(static_cast<uint32_t>(peer)) == nullptr) return kGpuInvalidDevice;
        *can = (info.peers >> peer & 1) != 0 ? 1 : 0;
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
    constexpr int kRank = 1, kAccess = 2;
    if (value == nullptr) return note(kGpuInvalidValue);
    return with_device(device, [&](uint32_t, const GpuInfo& info) {
        if (peer < 0 || peer == device || calls()->info(static_cast<uint32_t>(peer)) == nullptr)
            return kGpuInvalidDevice;
        const bool can = (info.peers >> peer & 1) != 0;
        *value = can && (attribute == kRank || attribute == kAccess) ? 1 : 0;
        return kGpuSuccess;
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    if (flags != 0) return note(kGpuInvalidValue);
    return with_device(peer, [](uint32_t gpu, const GpuInfo&) {
        GpuRequest r = make_request(GpuCall::PeerEnable, current_gpu());
        r.value = gpu;
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceDisablePeerAccess(int peer) {
    return with_device(peer, [](uint32_t gpu, const GpuInfo&) {
        GpuRequest r = make_request(GpuCall::PeerDisable, current_gpu());
        r.value = gpu;
        return ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cudaDeviceFlushGPUDirectRDMAWrites(int, int) {
    return run([] { return 0; });  // DMA writes are in the GPU's memory when their completion is seen
}

SIMVERBS_CUDA_EXPORT int cudaProfilerStart() {
    return 0;
}

SIMVERBS_CUDA_EXPORT int cudaProfilerStop() {
    return 0;
}
