// GDRCopy's library: pins and mappings of GPU memory. The module gdrdrv behind it is the lab's server.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/cuda/common/calls.hpp"
#include "verbs_shim/gdrapi/include/gdrapi.h"

#undef gdr_get_info

using namespace simverbs::cuda;
using namespace simverbs::protocol;

struct gdr {
    uint32_t magic;
};

namespace {

/// A pin; what a gdr_mh_t stands for.
struct Pin {
    uint64_t handle = 0, va = 0, bytes = 0;
    void* mapped = nullptr;
    size_t mapped_bytes = 0;
};

Pin* pin_of(gdr_mh_t handle) {
    return reinterpret_cast<Pin*>(handle.h);
}

/// 0 or an errno.
int ask_driver(GpuCall call, const Pin* pin, uint64_t bytes, GpuReply& reply, int* fd = nullptr) {
    GpuRequest r = make_request(call, 0);
    r.handle = pin == nullptr ? 0 : pin->handle;
    r.bytes = bytes;
    return calls()->request(&r, &reply, fd);
}

bool has_driver() {
    GpuRequest r = make_request(GpuCall::Modules, 0);
    GpuReply reply;
    return calls()->request(&r, &reply, nullptr) == 0 && (reply.flags & kModuleGdrdrv) != 0;
}

bool in_mapping(const Pin& pin, const void* at, size_t bytes) {
    const auto* const begin = static_cast<const char*>(pin.mapped);
    const auto* const p = static_cast<const char*>(at);
    return begin != nullptr && p >= begin && bytes <= pin.mapped_bytes &&
           static_cast<size_t>(p - begin) <= pin.mapped_bytes - bytes;
}

constexpr uint32_t kGdrMagic = 0x47445243;

}  // namespace

SIMVERBS_CUDA_EXPORT gdr_t gdr_open() {
    if (calls() == nullptr || calls()->open() != 0) return nullptr;
    if (!has_driver()) {
        calls()->explain("gdr_open: the kernel module gdrdrv is not loaded on this host (modprobe gdrdrv).");
        return nullptr;
    }
    auto* const g = static_cast<gdr*>(std::malloc(sizeof(gdr)));
    if (g != nullptr) g->magic = kGdrMagic;
    return g;
}

SIMVERBS_CUDA_EXPORT int gdr_close(gdr_t g) {
    if (g == nullptr || g->magic != kGdrMagic) return EINVAL;
    g->magic = 0;
    std::free(g);
    return 0;
}

SIMVERBS_CUDA_EXPORT int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle) {
    if (g == nullptr || handle == nullptr || flags > GDR_PIN_FLAG_FORCE_PCIE) return EINVAL;
    GpuRequest r = make_request(GpuCall::Pin, 0);
    GpuReply reply;
    r.address = addr;
    r.bytes = size;
    if (const int error = calls()->request(&r, &reply, nullptr)) return error;
    auto* const pin = static_cast<Pin*>(std::calloc(1, sizeof(Pin)));
    if (pin == nullptr) return ENOMEM;
    pin->handle = reply.handle;
    pin->va = reply.address;
    pin->bytes = reply.bytes;
    handle->h = reinterpret_cast<unsigned long>(pin);
    return 0;
}

SIMVERBS_CUDA_EXPORT int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t, uint32_t,
                                        gdr_mh_t* handle) {
    return gdr_pin_buffer_v2(g, addr, size, GDR_PIN_FLAG_DEFAULT, handle);
}

SIMVERBS_CUDA_EXPORT int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle) {
    Pin* const pin = pin_of(handle);
    if (g == nullptr || pin == nullptr) return EINVAL;
    if (pin->mapped != nullptr) calls()->unmap(pin->mapped, pin->mapped_bytes);
    GpuReply reply;
    const int error = ask_driver(GpuCall::Unpin, pin, 0, reply);
    std::free(pin);
    return error;
}

SIMVERBS_CUDA_EXPORT int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag) {
    if (g == nullptr || flag == nullptr || pin_of(handle) == nullptr) return EINVAL;
    GpuReply reply;
    const int error = ask_driver(GpuCall::PinInfo, pin_of(handle), 0, reply);
    if (error == 0) *flag = reply.flags != 0 ? 1 : 0;
    return error;
}

SIMVERBS_CUDA_EXPORT int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info) {
    const Pin* const pin = pin_of(handle);
    if (g == nullptr || pin == nullptr || info == nullptr) return EINVAL;
    std::memset(info, 0, sizeof *info);
    info->va = pin->va;
    info->mapped_size = pin->bytes;
    info->page_size = GPU_PAGE_SIZE;
    info->cycles_per_ms = 1;
    info->mapped = pin->mapped != nullptr ? 1 : 0;
    info->wc_mapping = info->mapped;
    info->mapping_type = pin->mapped != nullptr ? GDR_MAPPING_TYPE_WC : GDR_MAPPING_TYPE_NONE;
    return 0;
}

/// The struct of version 2.0 ends before the type of the mapping.
SIMVERBS_CUDA_EXPORT int gdr_get_info(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info) {
    gdr_info_v2_t all;
    const int error = gdr_get_info_v2(g, handle, &all);
    if (error == 0 && info != nullptr)
        std::memcpy(static_cast<void*>(info), &all, offsetof(gdr_info_v2_t, mapping_type));
    return error;
}

SIMVERBS_CUDA_EXPORT int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int) {
    Pin* const pin = pin_of(handle);
    if (g == nullptr || pin == nullptr || va == nullptr) return EINVAL;
    if (pin->mapped != nullptr) return EAGAIN;
    const size_t length = (size + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK;
    if (length == 0 || length > pin->bytes) return EINVAL;
    GpuReply reply;
    int fd = -1;
    if (const int error = ask_driver(GpuCall::PinMap, pin, 0, reply, &fd)) return error;
    void* const at = calls()->map(fd, reply.value, length);
    if (at == nullptr) return ENOMEM;
    pin->mapped = at;
    pin->mapped_bytes = length;
    *va = at;
    return 0;
}

SIMVERBS_CUDA_EXPORT int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size) {
    return gdr_map_v2(g, handle, va, size, 0);
}

SIMVERBS_CUDA_EXPORT int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t) {
    Pin* const pin = pin_of(handle);
    if (g == nullptr || pin == nullptr || pin->mapped == nullptr || va != pin->mapped) return EINVAL;
    GpuReply reply;
    if (const int error = ask_driver(GpuCall::PinUnmap, pin, 0, reply)) return error;
    calls()->unmap(pin->mapped, pin->mapped_bytes);
    pin->mapped = nullptr;
    pin->mapped_bytes = 0;
    return 0;
}

SIMVERBS_CUDA_EXPORT int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size) {
    Pin* const pin = pin_of(handle);
    if (pin == nullptr || !in_mapping(*pin, map_d_ptr, size)) return EINVAL;
    std::memcpy(map_d_ptr, h_ptr, size);
    GpuReply reply;
    return size == 0 ? 0 : ask_driver(GpuCall::PinStore, pin, size, reply);
}

SIMVERBS_CUDA_EXPORT int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size) {
    Pin* const pin = pin_of(handle);
    if (pin == nullptr || !in_mapping(*pin, map_d_ptr, size)) return EINVAL;
    GpuReply reply;
    if (size == 0) return 0;
    if (const int error = ask_driver(GpuCall::PinLoad, pin, size, reply)) return error;
    std::memcpy(h_ptr, map_d_ptr, size);
    return 0;
}

SIMVERBS_CUDA_EXPORT void gdr_runtime_get_version(int* major, int* minor) {
    if (major != nullptr) *major = GDR_API_MAJOR_VERSION;
    if (minor != nullptr) *minor = GDR_API_MINOR_VERSION;
}

SIMVERBS_CUDA_EXPORT int gdr_driver_get_version(gdr_t g, int* major, int* minor) {
    if (g == nullptr || major == nullptr || minor == nullptr) return EINVAL;
    gdr_runtime_get_version(major, minor);
    return 0;
}

SIMVERBS_CUDA_EXPORT int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v) {
    if (g == nullptr || v == nullptr || attr < GDR_ATTR_USE_PERSISTENT_MAPPING || attr >= GDR_ATTR_MAX) return EINVAL;
    *v = attr == GDR_ATTR_USE_PERSISTENT_MAPPING ? 1 : 0;
    return 0;
}
