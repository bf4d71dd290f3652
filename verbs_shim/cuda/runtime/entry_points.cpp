// cudaGetDriverEntryPoint: functions of the driver by name.
#include <dlfcn.h>

#include "verbs_shim/cuda/runtime/runtime.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

namespace {

using GetProcAddress = int(const char* symbol, void** function, int version, uint64_t flags, int* status);

enum QueryResult { kFound = 0, kSymbolNotFound = 1 };

int entry_point(const char* symbol, void** function, int version, uint64_t flags, int* status) {
    if (symbol == nullptr || function == nullptr) return note(kGpuInvalidValue);
    return run([&] {
        *function = nullptr;
        void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        auto* const get =
            library == nullptr ? nullptr : reinterpret_cast<GetProcAddress*>(::dlsym(library, "cuGetProcAddress_v2"));
        int found = kSymbolNotFound;
        const int result = get == nullptr ? kGpuNotFound : get(symbol, function, version, flags, &found);
        if (status != nullptr) {
            *status = found;
            return result == kGpuNotFound ? 0 : result;
        }
        return result;
    });
}

}  // namespace

SIMVERBS_CUDA_EXPORT int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                                 int* status) {
    return entry_point(symbol, function, SIMVERBS_CUDART_VERSION, flags, status);
}
SIMVERBS_CUDA_EXPORT int cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                                      int* status) {
    return entry_point(symbol, function, SIMVERBS_CUDART_VERSION, flags, status);
}
SIMVERBS_CUDA_EXPORT int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                          unsigned long long flags, int* status) {
    return entry_point(symbol, function, static_cast<int>(version), flags, status);
}
