// The way from the stand-in libraries into the preload library, and what they share on this side of it.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "verbs_shim/protocol/gpu_calls.hpp"

#define SIMVERBS_CUDA_EXPORT extern "C" __attribute__((visibility("default")))

namespace simverbs::cuda {

using protocol::GpuCall;
using protocol::GpuCalls;
using protocol::GpuReply;
using protocol::GpuRequest;

/// Null outside a lab.
inline const GpuCalls* calls() noexcept {
    static std::atomic<const GpuCalls*> known{nullptr};
    const GpuCalls* table = known.load(std::memory_order_acquire);
    if (table != nullptr) return table;
    void* const found = ::dlsym(RTLD_DEFAULT, protocol::kGpuCallsName);
    if (found == nullptr) return nullptr;
    table = reinterpret_cast<protocol::GpuCallsFunction*>(found)();
    if (table->version != protocol::kGpuCallsVersion) return nullptr;
    known.store(table, std::memory_order_release);
    return table;
}

/// A request that names a GPU and an address, a stream or nothing more.
inline GpuRequest make_request(GpuCall call, uint32_t gpu) noexcept {
    GpuRequest r;
    r.call = call;
    r.gpu = gpu;
    return r;
}

/// Asks, and forgets what else the reply says.
inline int ask(GpuRequest& request) noexcept {
    GpuReply reply;
    return calls()->request(&request, &reply, nullptr);
}

inline uint64_t number_of(const volatile void* handle) noexcept {
    return reinterpret_cast<uint64_t>(handle);
}
template <class Handle>
Handle handle_of(uint64_t number) noexcept {
    return reinterpret_cast<Handle>(number);
}

/// Copies of bytes: what memcpy of both APIs come to.
struct Copy {
    uint64_t to = 0, from = 0, bytes = 0, rows = 1, to_pitch = 0, from_pitch = 0;
    uint64_t stream = 0;
    bool sync = false;
};
int copy(uint32_t gpu, const Copy& copy) noexcept;
/// memset of both: `value` has `value_bytes` bytes.
int fill(uint32_t gpu, uint64_t to, uint64_t bytes, uint64_t rows, uint64_t pitch, uint32_t value, uint32_t value_bytes,
         uint64_t stream) noexcept;
/// Everything that the GPU has been given by this process is done.
int wait_for_gpu(uint32_t gpu) noexcept;
/// Waits for the GPU of the address, as freeing does, and frees. Not a GPU's address: kGpuInvalidValue.
int free_memory(uint64_t address) noexcept;

/// A call that names a stream, an event or both.
int stream_request(uint32_t gpu, GpuCall call, uint64_t stream, uint64_t handle) noexcept;
/// Makes a stream or an event.
int create_handle(uint32_t gpu, GpuCall call, void** handle, uint32_t flags) noexcept;
/// A function of the program in a stream: `function`, or a callback that is told of the stream.
struct StreamFunction {
    void (*function)(void* data) = nullptr;
    void (*callback)(void* stream, int status, void* data) = nullptr;
    void* data = nullptr;
    void* stream = nullptr;
};
int launch_in_stream(uint32_t gpu, uint64_t stream, const StreamFunction& wanted) noexcept;
/// Milliseconds between two events.
int event_elapsed(uint32_t gpu, float* ms, const void* begin, const void* end) noexcept;
/// Tokens have kGpuTokenBytes.
int ipc_export_event(uint32_t gpu, void* token, const void* event) noexcept;
int ipc_open_event(uint32_t gpu, void** event, const void* token) noexcept;

/// A device attribute by its number, which both APIs share. False: there is none of that number.
bool attribute_of(const protocol::GpuInfo& gpu, int attribute, int& value) noexcept;
/// "0000:17:00.0"; false if it does not fit.
bool pci_id_of(const protocol::GpuInfo& gpu, char* text, int length) noexcept;
/// The GPU at "[domain:]bus:device[.function]", or -1.
int gpu_at_pci_id(const char* text) noexcept;

/// Of an error number, in the words of the runtime (cudaErrorInvalidValue) or of the driver (CUDA_ERROR_INVALID_VALUE),
/// and what it means; null: there is no such error.
struct ErrorText {
    int number;
    const char* runtime_name;
    const char* driver_name;
    const char* text;
};
const ErrorText* error_text(int number) noexcept;

}  // namespace simverbs::cuda
