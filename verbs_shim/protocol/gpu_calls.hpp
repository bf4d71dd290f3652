// What the stand-ins for libcuda, libcudart and libgdrapi call in the preload library, which has the way into the lab.
// They find it by `simverbs_gpu_calls`; outside a lab there is none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "verbs_shim/protocol/gpu_messages.hpp"

namespace simverbs::protocol {

inline constexpr uint32_t kGpuCallsVersion = 1;
inline constexpr char kGpuCallsName[] = "simverbs_gpu_calls";

/// A function of the program that runs when a stream comes to it, in a thread of the program's own.
struct GpuHostCall {
    void (*run)(GpuHostCall* self) = nullptr;
    bool sees_gpu_memory = false;               ///< a kernel: GPU addresses can be used while it runs
    uint64_t took_ps = 0;                       ///< set by `run`: time on the GPU
    void (*done)(GpuHostCall* self) = nullptr;  ///< afterwards: gives the memory back
};

/// All return a GpuResult, unless said otherwise, and may be called from any thread.
struct GpuCalls {
    uint32_t version = kGpuCallsVersion;

    /// First of all, and again at no cost. kGpuNoDevice: the host has no GPU. kGpuNotInitialized: forked from a process
    /// that used them.
    int (*open)() noexcept;
    /// After that: how many, what they are (null: no such GPU), whether memory can be exported as dma-bufs.
    uint32_t (*count)() noexcept;
    const GpuInfo* (*info)(uint32_t gpu) noexcept;
    bool (*exports_dma_bufs)() noexcept;
    uint32_t (*driver_version)() noexcept;
    const char* (*topology)() noexcept;  ///< what `nvidia-smi topo -m` prints

    /// The GPU that the calling thread uses; -1: none yet.
    int (*current)() noexcept;
    void (*set_current)(int gpu) noexcept;

    /// Fills in the header, asks, and waits as long as the reply says that it is not yet. `fd` gets a descriptor of the
    /// reply, or -1; may be null.
    int (*request)(GpuRequest* request, GpuReply* reply, int* fd) noexcept;

    int (*alloc)(uint32_t gpu, uint64_t bytes, uint64_t* address) noexcept;
    int (*free)(uint64_t address) noexcept;
    int (*ipc_open)(uint32_t gpu, const uint8_t* token, uint64_t* address) noexcept;
    int (*ipc_close)(uint64_t address) noexcept;
    /// Host memory that the GPUs know; `flags`: GpuHostFlag.
    int (*host_alloc)(uint64_t bytes, uint32_t flags, uint64_t* address) noexcept;
    int (*host_free)(uint64_t address) noexcept;
    /// Is it in a range that is reserved for GPUs' memory?
    bool (*is_gpu_address)(uint64_t address) noexcept;

    int (*host_call)(uint32_t gpu, uint64_t stream, GpuHostCall* call) noexcept;

    /// Maps [offset, offset + bytes) of a descriptor of GPU memory, which is closed; null: not possible.
    void* (*map)(int fd, uint64_t offset, uint64_t bytes) noexcept;
    void (*unmap)(void* at, uint64_t bytes) noexcept;

    /// A sentence of --explain.
    void (*explain)(const char* text) noexcept;
};

using GpuCallsFunction = const GpuCalls*() noexcept;

}  // namespace simverbs::protocol
