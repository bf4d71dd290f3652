// Memory, pointers, copies.
#include <cstring>

#include "verbs_shim/cuda/runtime/runtime.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

enum Kind { kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefault = 4 };
constexpr size_t kPitchAlignment = 512;

/// Does the address belong to what the caller says: GPU memory, or managed memory which is either?
bool may_be_device(uint64_t address) {
    if (calls()->is_gpu_address(address)) return true;
    GpuRequest r = make_request(GpuCall::Pointer, 0);
    GpuReply reply;
    r.address = address;
    return calls()->request(&r, &reply, nullptr) == 0 && reply.flags != kGpuUnregistered;
}

int check_kind(uint64_t to, uint64_t from, int kind) {
    if (kind < kHostToHost || kind > kDefault) return kGpuInvalidMemcpyDirection;
    if (kind == kDefault) return 0;
    const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
    const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
    const bool to_ok = to_device ? may_be_device(to) : !calls()->is_gpu_address(to);
    const bool from_ok = from_device ? may_be_device(from) : !calls()->is_gpu_address(from);
    return to_ok && from_ok ? 0 : kGpuInvalidValue;
}

int copy_rows(const Copy& c, int kind) {
    return run([&] {
        if (c.bytes == 0 || c.rows == 0) return 0;
        if (const int wrong = check_kind(c.to, c.from, kind)) return wrong;
        return copy(current_gpu(), c);
    });
}

Copy make_copy(void* to, const void* from, size_t bytes, uint64_t stream, bool sync) {
    Copy c;
    c.to = number_of(to);
    c.from = number_of(from);
    c.bytes = bytes;
    c.stream = stream;
    c.sync = sync;
    return c;
}

Copy make_copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                  uint64_t stream, bool sync) {
    Copy c = make_copy(to, from, width, stream, sync);
    c.rows = height;
    c.to_pitch = to_pitch;
    c.from_pitch = from_pitch;
    return c;
}

int fill_rows(void* to, size_t pitch, int value, size_t width, size_t height, uint64_t stream) {
    return run([&] {
        return fill(current_gpu(), number_of(to), width, height, pitch, static_cast<uint32_t>(value) & 0xFF, 1, stream);
    });
}

int alloc_host(void** pointer, size_t bytes, uint32_t flags) {
    if (pointer == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        uint64_t address = 0;
        const int result = calls()->host_alloc(bytes, flags, &address);
        if (result == 0) *pointer = reinterpret_cast<void*>(address);
        return result;
    });
}

/// With --default-stream per-thread, stream 0 is the thread's own.
uint64_t own(uint64_t stream) {
    return stream == kStreamDefault ? kStreamPerThread : stream;
}

}  // namespace

}  // namespace simverbs::cuda

using namespace simverbs::cuda;
using namespace simverbs::protocol;

SIMVERBS_CUDA_EXPORT int cudaMemGetInfo(size_t* free, size_t* total) {
    return run([&] {
        GpuRequest r = make_request(GpuCall::MemoryInfo, current_gpu());
        GpuReply reply;
        const int result = calls()->request(&r, &reply, nullptr);
        if (free != nullptr) *free = reply.bytes;
        if (total != nullptr) *total = reply.value;
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cudaMalloc(void** pointer, size_t bytes) {
    if (pointer == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        *pointer = nullptr;
        if (bytes == 0) return 0;
        uint64_t address = 0;
        const int result = calls()->alloc(current_gpu(), bytes, &address);
        if (result == 0) *pointer = reinterpret_cast<void*>(address);
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cudaMallocAsync(void** pointer, size_t bytes, void*) {
    return cudaMalloc(pointer, bytes);
}

SIMVERBS_CUDA_EXPORT int cudaFree(void* pointer) {
    return run([&] { return pointer == nullptr ? 0 : free_memory(number_of(pointer)); });
}

SIMVERBS_CUDA_EXPORT int cudaFreeAsync(void* pointer, void*) {
    return cudaFree(pointer);
}

SIMVERBS_CUDA_EXPORT int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    if (pitch == nullptr) return note(kGpuInvalidValue);
    *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    return cudaMalloc(pointer, *pitch * height);
}

SIMVERBS_CUDA_EXPORT int cudaMallocHost(void** pointer, size_t bytes) {
    return alloc_host(pointer, bytes, 0);
}

SIMVERBS_CUDA_EXPORT int cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
    return alloc_host(pointer, bytes, 0);
}

SIMVERBS_CUDA_EXPORT int cudaFreeHost(void* pointer) {
    return run([&] { return pointer == nullptr ? 0 : calls()->host_free(number_of(pointer)); });
}

SIMVERBS_CUDA_EXPORT int cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
    return alloc_host(pointer, bytes, kGpuHostManaged);
}

SIMVERBS_CUDA_EXPORT int cudaHostRegister(void* pointer, size_t bytes, unsigned) {
    return run([&] {
        GpuRequest r = make_request(GpuCall::HostRegister, current_gpu());
        r.address = number_of(pointer);
        r.bytes = bytes;
        return calls()->is_gpu_address(r.address) ? static_cast<int>(kGpuInvalidValue) : ask(r);
    });
}

SIMVERBS_CUDA_EXPORT int cudaHostUnregister(void* pointer) {
    return run([&] {
        GpuRequest r = make_request(GpuCall::HostUnregister, current_gpu());
        r.address = number_of(pointer);
        return ask(r);
    });
}

/// Unified addressing: the GPU's address of registered memory is the CPU's.
SIMVERBS_CUDA_EXPORT int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
    if (device == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        GpuRequest r = make_request(GpuCall::Pointer, current_gpu());
        GpuReply reply;
        r.address = number_of(host);
        if (const int result = calls()->request(&r, &reply, nullptr)) return result;
        if (reply.flags == kGpuUnregistered || reply.flags == kGpuDeviceMemory)
            return static_cast<int>(kGpuInvalidValue);
        *device = host;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaHostGetFlags(unsigned* flags, void*) {
    if (flags == nullptr) return note(kGpuInvalidValue);
    constexpr unsigned kPortableAndMapped = 3;
    *flags = kPortableAndMapped;
    return run([] { return 0; });
}

/// CUDA 13's struct is longer; what it adds is reserved and left alone.
struct PointerAttributes {
    int type, device;
    void *device_pointer, *host_pointer;
};

SIMVERBS_CUDA_EXPORT int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
    if (attributes == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        GpuRequest r = make_request(GpuCall::Pointer, current_gpu());
        GpuReply reply;
        r.address = number_of(pointer);
        if (const int result = calls()->request(&r, &reply, nullptr)) return result;
        constexpr int kNoDevice = -2;
        void* const address = const_cast<void*>(pointer);
        attributes->type = static_cast<int>(reply.flags);
        attributes->device = reply.flags == kGpuUnregistered ? kNoDevice : static_cast<int>(reply.gpu);
        attributes->device_pointer = reply.flags == kGpuUnregistered ? nullptr : address;
        attributes->host_pointer = reply.flags == kGpuDeviceMemory ? nullptr : address;
        return 0;
    });
}

SIMVERBS_CUDA_EXPORT int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
    return copy_rows(make_copy(to, from, bytes, kStreamDefault, true), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpy_ptds(void* to, const void* from, size_t bytes, int kind) {
    return copy_rows(make_copy(to, from, bytes, kStreamPerThread, true), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
    return copy_rows(make_copy(to, from, bytes, number_of(stream), false), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes, int kind, void* stream) {
    return copy_rows(make_copy(to, from, bytes, own(number_of(stream)), false), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                      size_t height, int kind) {
    return copy_rows(make_copy_2d(to, to_pitch, from, from_pitch, width, height, kStreamDefault, true), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpy2D_ptds(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                           size_t height, int kind) {
    return copy_rows(make_copy_2d(to, to_pitch, from, from_pitch, width, height, kStreamPerThread, true), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                           size_t height, int kind, void* stream) {
    return copy_rows(make_copy_2d(to, to_pitch, from, from_pitch, width, height, number_of(stream), false), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpy2DAsync_ptsz(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                                size_t width, size_t height, int kind, void* stream) {
    return copy_rows(make_copy_2d(to, to_pitch, from, from_pitch, width, height, own(number_of(stream)), false), kind);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
    return copy_rows(make_copy(to, from, bytes, kStreamDefault, true), kDefault);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyPeer_ptds(void* to, int, const void* from, int, size_t bytes) {
    return copy_rows(make_copy(to, from, bytes, kStreamPerThread, true), kDefault);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, void* stream) {
    return copy_rows(make_copy(to, from, bytes, number_of(stream), false), kDefault);
}
SIMVERBS_CUDA_EXPORT int cudaMemcpyPeerAsync_ptsz(void* to, int, const void* from, int, size_t bytes, void* stream) {
    return copy_rows(make_copy(to, from, bytes, own(number_of(stream)), false), kDefault);
}

SIMVERBS_CUDA_EXPORT int cudaMemset(void* to, int value, size_t bytes) {
    return fill_rows(to, bytes, value, bytes, 1, kStreamDefault);
}
SIMVERBS_CUDA_EXPORT int cudaMemset_ptds(void* to, int value, size_t bytes) {
    return fill_rows(to, bytes, value, bytes, 1, kStreamPerThread);
}
SIMVERBS_CUDA_EXPORT int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
    return fill_rows(to, bytes, value, bytes, 1, number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaMemsetAsync_ptsz(void* to, int value, size_t bytes, void* stream) {
    return fill_rows(to, bytes, value, bytes, 1, own(number_of(stream)));
}
SIMVERBS_CUDA_EXPORT int cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    return fill_rows(to, pitch, value, width, height, kStreamDefault);
}
SIMVERBS_CUDA_EXPORT int cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                           void* stream) {
    return fill_rows(to, pitch, value, width, height, number_of(stream));
}

SIMVERBS_CUDA_EXPORT int cudaIpcGetMemHandle(void* handle, void* pointer) {
    if (handle == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        GpuRequest r = make_request(GpuCall::IpcExport, current_gpu());
        GpuReply reply;
        r.address = number_of(pointer);
        const int result = calls()->request(&r, &reply, nullptr);
        std::memcpy(handle, reply.token, sizeof reply.token);
        return result;
    });
}

struct IpcHandle {
    uint8_t bytes[kGpuTokenBytes];
};

SIMVERBS_CUDA_EXPORT int cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags) {
    constexpr unsigned kLazyPeerAccess = 1;
    if (pointer == nullptr || flags != kLazyPeerAccess) return note(kGpuInvalidValue);
    return run([&] {
        uint64_t address = 0;
        const int result = calls()->ipc_open(current_gpu(), handle.bytes, &address);
        if (result == 0) *pointer = reinterpret_cast<void*>(address);
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cudaIpcCloseMemHandle(void* pointer) {
    return run([&] { return calls()->ipc_close(number_of(pointer)); });
}
