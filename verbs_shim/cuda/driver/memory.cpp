// Memory, pointers, copies, dma-bufs.
#include <unistd.h>

#include <cstring>

#include "verbs_shim/cuda/driver/driver.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

using DevicePointer = unsigned long long;

namespace {

int do_copy(DevicePointer to, DevicePointer from, size_t bytes, void* stream, bool sync) {
    return with_context([&](uint32_t gpu) {
        Copy c;
        c.to = to;
        c.from = from;
        c.bytes = bytes;
        c.stream = number_of(stream);
        c.sync = sync;
        return copy(gpu, c);
    });
}

int do_fill(DevicePointer to, size_t pitch, uint32_t value, uint32_t value_bytes, size_t width, size_t height,
            void* stream) {
    return with_context([&](uint32_t gpu) {
        return fill(gpu, to, width * value_bytes, height, pitch, value, value_bytes, number_of(stream));
    });
}

/// What the driver knows of an address; kGpuInvalidValue where it knows nothing.
int look_up(DevicePointer address, GpuReply& reply) {
    return with_driver([&] {
        GpuRequest r = make_request(GpuCall::Pointer, 0);
        r.address = address;
        const int result = calls()->request(&r, &reply, nullptr);
        return result == 0 && reply.flags == kGpuUnregistered ? static_cast<int>(kGpuInvalidValue) : result;
    });
}

DevicePointer number(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
}

}  // namespace

SIMVERBS_CUDA_EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::MemoryInfo, gpu);
        GpuReply reply;
        const int result = calls()->request(&r, &reply, nullptr);
        if (free != nullptr) *free = reply.bytes;
        if (total != nullptr) *total = reply.value;
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
    if (pointer == nullptr || bytes == 0) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        uint64_t address = 0;
        const int result = calls()->alloc(gpu, bytes, &address);
        if (result == 0) *pointer = address;
        return result;
    });
}
SIMVERBS_CUDA_EXPORT int cuMemAllocAsync(DevicePointer* pointer, size_t bytes, void*) {
    return cuMemAlloc_v2(pointer, bytes);
}

SIMVERBS_CUDA_EXPORT int cuMemAllocPitch_v2(DevicePointer* pointer, size_t* pitch, size_t width, size_t height,
                                            unsigned) {
    constexpr size_t kAlignment = 512;
    if (pitch == nullptr) return kGpuInvalidValue;
    *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
    return cuMemAlloc_v2(pointer, *pitch * height);
}

SIMVERBS_CUDA_EXPORT int cuMemFree_v2(DevicePointer pointer) {
    return with_context([&](uint32_t) { return pointer == 0 ? 0 : free_memory(pointer); });
}
SIMVERBS_CUDA_EXPORT int cuMemFreeAsync(DevicePointer pointer, void*) {
    return cuMemFree_v2(pointer);
}

SIMVERBS_CUDA_EXPORT int cuMemGetAddressRange_v2(DevicePointer* base, size_t* bytes, DevicePointer pointer) {
    GpuReply reply;
    const int result = look_up(pointer, reply);
    if (result != 0) return result == kGpuInvalidValue ? static_cast<int>(kGpuNotFound) : result;
    if (base != nullptr) *base = reply.handle;
    if (bytes != nullptr) *bytes = reply.bytes;
    return 0;
}

SIMVERBS_CUDA_EXPORT int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
    if (pointer == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t) {
        uint64_t address = 0;
        const int result = calls()->host_alloc(bytes, 0, &address);
        if (result == 0) *pointer = reinterpret_cast<void*>(address);
        return result;
    });
}
SIMVERBS_CUDA_EXPORT int cuMemAllocHost_v2(void** pointer, size_t bytes) {
    return cuMemHostAlloc(pointer, bytes, 0);
}
SIMVERBS_CUDA_EXPORT int cuMemFreeHost(void* pointer) {
    return with_context([&](uint32_t) { return calls()->host_free(number_of(pointer)); });
}

SIMVERBS_CUDA_EXPORT int cuMemAllocManaged(DevicePointer* pointer, size_t bytes, unsigned) {
    if (pointer == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t) {
        uint64_t address = 0;
        const int result = calls()->host_alloc(bytes, kGpuHostManaged, &address);
        if (result == 0) *pointer = address;
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned) {
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::HostRegister, gpu);
        r.address = number_of(pointer);
        r.bytes = bytes;
        return calls()->is_gpu_address(r.address) ? static_cast<int>(kGpuInvalidValue) : ask(r);
    });
}
SIMVERBS_CUDA_EXPORT int cuMemHostUnregister(void* pointer) {
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::HostUnregister, gpu);
        r.address = number_of(pointer);
        return ask(r);
    });
}
SIMVERBS_CUDA_EXPORT int cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned) {
    if (device == nullptr) return kGpuInvalidValue;
    GpuReply reply;
    const int result = look_up(number(host), reply);
    if (result == 0) *device = number(host);
    return result;
}
SIMVERBS_CUDA_EXPORT int cuMemHostGetFlags(unsigned* flags, void*) {
    constexpr unsigned kPortableAndMapped = 3;
    if (flags != nullptr) *flags = kPortableAndMapped;
    return with_context([](uint32_t) { return 0; });
}

SIMVERBS_CUDA_EXPORT int cuMemcpy(DevicePointer to, DevicePointer from, size_t bytes) {
    return do_copy(to, from, bytes, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes, void* stream) {
    return do_copy(to, from, bytes, stream, false);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
    return do_copy(to, number(from), bytes, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
    return do_copy(number(to), from, bytes, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) {
    return do_copy(to, from, bytes, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, void* stream) {
    return do_copy(to, number(from), bytes, stream, false);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, void* stream) {
    return do_copy(number(to), from, bytes, stream, false);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, void* stream) {
    return do_copy(to, from, bytes, stream, false);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyPeer(DevicePointer to, Context*, DevicePointer from, Context*, size_t bytes) {
    return do_copy(to, from, bytes, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpyPeerAsync(DevicePointer to, Context*, DevicePointer from, Context*, size_t bytes,
                                           void* stream) {
    return do_copy(to, from, bytes, stream, false);
}

/// CUDA_MEMCPY2D: types are 1 host, 2 device, 3 array, 4 unified.
struct Copy2D {
    size_t from_x, from_y;
    unsigned from_type;
    const void* from_host;
    DevicePointer from_device;
    void* from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    void* to_host;
    DevicePointer to_device;
    void* to_array;
    size_t to_pitch, width, height;
};

static int copy_2d(const Copy2D* p, void* stream, bool sync) {
    constexpr unsigned kHost = 1, kArray = 3;
    if (p == nullptr) return kGpuInvalidValue;
    if (p->from_type == kArray || p->to_type == kArray) return kGpuNotSupported;
    return with_context([&](uint32_t gpu) {
        Copy c;
        c.from =
            (p->from_type == kHost ? number(p->from_host) : p->from_device) + p->from_y * p->from_pitch + p->from_x;
        c.to = (p->to_type == kHost ? number(p->to_host) : p->to_device) + p->to_y * p->to_pitch + p->to_x;
        c.bytes = p->width;
        c.rows = p->height;
        c.from_pitch = p->from_pitch != 0 ? p->from_pitch : p->width;
        c.to_pitch = p->to_pitch != 0 ? p->to_pitch : p->width;
        c.stream = number_of(stream);
        c.sync = sync;
        return copy(gpu, c);
    });
}
SIMVERBS_CUDA_EXPORT int cuMemcpy2D_v2(const Copy2D* p) {
    return copy_2d(p, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpy2DUnaligned_v2(const Copy2D* p) {
    return copy_2d(p, nullptr, true);
}
SIMVERBS_CUDA_EXPORT int cuMemcpy2DAsync_v2(const Copy2D* p, void* stream) {
    return copy_2d(p, stream, false);
}

SIMVERBS_CUDA_EXPORT int cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t count) {
    return do_fill(to, count, value, 1, count, 1, nullptr);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD16_v2(DevicePointer to, unsigned short value, size_t count) {
    return do_fill(to, count * 2, value, 2, count, 1, nullptr);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD32_v2(DevicePointer to, unsigned value, size_t count) {
    return do_fill(to, count * 4, value, 4, count, 1, nullptr);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, void* stream) {
    return do_fill(to, count, value, 1, count, 1, stream);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count, void* stream) {
    return do_fill(to, count * 2, value, 2, count, 1, stream);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, void* stream) {
    return do_fill(to, count * 4, value, 4, count, 1, stream);
}
SIMVERBS_CUDA_EXPORT int cuMemsetD2D8_v2(DevicePointer to, size_t pitch, unsigned char value, size_t width,
                                         size_t height) {
    return do_fill(to, pitch, value, 1, width, height, nullptr);
}

/// CUpointer_attribute. What is not a GPU's or registered is unknown: an error of one attribute, and nothing in a list.
static int pointer_attribute(void* data, int attribute, DevicePointer pointer, const GpuReply& known) {
    constexpr unsigned kTypeHost = 1, kTypeDevice = 2;
    const bool device = known.flags == kGpuDeviceMemory;
    switch (attribute) {
        case 1:  // context
            *static_cast<Context**>(data) = primary_context(known.gpu);
            return 0;
        case 2:  // memory type
            *static_cast<unsigned*>(data) = device ? kTypeDevice : kTypeHost;
            return 0;
        case 3:  // device pointer
            *static_cast<DevicePointer*>(data) = pointer;
            return 0;
        case 4:  // host pointer
            if (device) return kGpuInvalidValue;
            *static_cast<DevicePointer*>(data) = pointer;
            return 0;
        case 5:  // P2P tokens
            std::memset(data, 0, 16);
            return device ? kGpuSuccess : kGpuInvalidValue;
        case 6:   // memory operations are synchronous
        case 10:  // legacy IPC
            *static_cast<int*>(data) = attribute == 10 && device ? 1 : 0;
            return 0;
        case 7:  // buffer id
            *static_cast<unsigned long long*>(data) = known.value;
            return 0;
        case 8:  // managed
            *static_cast<int*>(data) = known.flags == kGpuManagedMemory ? 1 : 0;
            return 0;
        case 9:  // device ordinal
            *static_cast<int*>(data) = static_cast<int>(known.gpu);
            return 0;
        case 11:  // range start
            *static_cast<DevicePointer*>(data) = known.handle;
            return 0;
        case 12:  // range size
            *static_cast<size_t*>(data) = known.bytes;
            return 0;
        case 13:  // mapped
            *static_cast<int*>(data) = 1;
            return 0;
        case 14:  // handle types that it can be exported as
            *static_cast<uint64_t*>(data) = 0;
            return 0;
        case 15:  // capable of GPUDirect RDMA
            *static_cast<int*>(data) = device ? 1 : 0;
            return 0;
        case 16:  // access flags: read and write
            *static_cast<unsigned*>(data) = 3;
            return 0;
        case 17:  // memory pool
            *static_cast<void**>(data) = nullptr;
            return 0;
        default:
            return kGpuInvalidValue;
    }
}

SIMVERBS_CUDA_EXPORT int cuPointerGetAttribute(void* data, int attribute, DevicePointer pointer) {
    if (data == nullptr) return kGpuInvalidValue;
    GpuReply known;
    const int result = look_up(pointer, known);
    return result != 0 ? result : pointer_attribute(data, attribute, pointer, known);
}

SIMVERBS_CUDA_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** data,
                                                DevicePointer pointer) {
    if (attributes == nullptr || data == nullptr) return kGpuInvalidValue;
    GpuReply known;
    const int result = look_up(pointer, known);
    if (result != 0 && result != kGpuInvalidValue) return result;
    constexpr int kOrdinal = 9, kNoDevice = -2;
    for (unsigned i = 0; i < count; ++i) {
        if (result == 0) {
            (void)pointer_attribute(data[i], attributes[i], pointer, known);
        } else if (attributes[i] == kOrdinal) {
            *static_cast<int*>(data[i]) = kNoDevice;
        } else {
            const bool wide = attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4 || attributes[i] == 7 ||
                              attributes[i] == 11 || attributes[i] == 12 || attributes[i] == 14 || attributes[i] == 17;
            std::memset(data[i], 0, wide ? sizeof(DevicePointer) : sizeof(int));
        }
    }
    return 0;
}

SIMVERBS_CUDA_EXPORT int cuPointerSetAttribute(const void*, int, DevicePointer pointer) {
    GpuReply known;
    return look_up(pointer, known);
}

SIMVERBS_CUDA_EXPORT int cuMemGetHandleForAddressRange(void* handle, DevicePointer pointer, size_t bytes, int type,
                                                       unsigned long long) {
    constexpr int kDmaBuf = 1;
    if (handle == nullptr || type != kDmaBuf) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::DmaBufExport, gpu);
        GpuReply reply;
        int fd = -1;
        r.address = pointer;
        r.bytes = bytes;
        const int result = calls()->request(&r, &reply, &fd);
        if (result == 0) *static_cast<int*>(handle) = fd;
        return result;
    });
}

struct IpcToken {
    uint8_t bytes[kGpuTokenBytes];
};

SIMVERBS_CUDA_EXPORT int cuIpcGetMemHandle(IpcToken* handle, DevicePointer pointer) {
    if (handle == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::IpcExport, gpu);
        GpuReply reply;
        r.address = pointer;
        const int result = calls()->request(&r, &reply, nullptr);
        std::memcpy(handle->bytes, reply.token, sizeof reply.token);
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cuIpcOpenMemHandle_v2(DevicePointer* pointer, IpcToken handle, unsigned flags) {
    constexpr unsigned kLazyPeerAccess = 1;
    if (pointer == nullptr || flags != kLazyPeerAccess) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        uint64_t address = 0;
        const int result = calls()->ipc_open(gpu, handle.bytes, &address);
        if (result == 0) *pointer = address;
        return result;
    });
}

SIMVERBS_CUDA_EXPORT int cuIpcCloseMemHandle(DevicePointer pointer) {
    return with_context([&](uint32_t) { return calls()->ipc_close(pointer); });
}
