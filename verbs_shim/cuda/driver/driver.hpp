// What each function of the driver API has around it. Functions are exported under the names that cuda.h gives them
// (cuMemAlloc is cuMemAlloc_v2).
#pragma once

#include "verbs_shim/cuda/common/calls.hpp"

namespace simverbs::cuda {

/// A context: all of one GPU share what the process has there.
struct Context {
    uint32_t gpu = 0;
    bool primary = false;
};

/// The primary context of a GPU.
Context* primary_context(uint32_t gpu) noexcept;
/// The calling thread's context; null: none.
Context* current_context() noexcept;
void set_current_context(Context* context) noexcept;

/// cuInit was called: 0, or why nothing works.
int initialized() noexcept;

/// Runs `f`, which returns a result, once the driver is initialised.
template <class F>
int with_driver(F f) noexcept {
    const int result = initialized();
    return result != 0 ? result : f();
}

/// Runs `f(info)` for a device that exists.
template <class F>
int with_device(int device, F f) noexcept {
    return with_driver([&] {
        const protocol::GpuInfo* const info = device < 0 ? nullptr : calls()->info(static_cast<uint32_t>(device));
        return info == nullptr ? static_cast<int>(protocol::kGpuInvalidDevice) : static_cast<int>(f(*info));
    });
}

/// Runs `f(gpu)` with the GPU of the calling thread's context.
template <class F>
int with_context(F f) noexcept {
    return with_driver([&] {
        const Context* const c = current_context();
        return c == nullptr ? static_cast<int>(protocol::kGpuInvalidContext) : static_cast<int>(f(c->gpu));
    });
}

}  // namespace simverbs::cuda
