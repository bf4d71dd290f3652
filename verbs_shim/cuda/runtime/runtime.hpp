// What each function of the runtime API has around it.
#pragma once

#include "verbs_shim/cuda/common/calls.hpp"

// The versions' structs differ: those that matter are written out where they are filled.
#define SIMVERBS_CUDA_RUNTIME_IMPLEMENTATION

namespace simverbs::cuda {

/// The last error of the calling thread, as cudaGetLastError takes it.
int& last_error() noexcept;

/// The first call of a thread makes device 0 current; returns 0 or why nothing works.
int ready() noexcept;

inline uint32_t current_gpu() noexcept {
    return static_cast<uint32_t>(calls()->current());
}

inline int note(int result) noexcept {
    if (result != 0) last_error() = result;
    return result;
}

/// Runs `f`, which returns an error number, on a runtime that is ready.
template <class F>
int run(F f) noexcept {
    int result = ready();
    if (result == 0) result = f();
    return note(result);
}

}  // namespace simverbs::cuda
