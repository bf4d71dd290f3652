// Functions by name, errors by number, and the private tables that a static runtime asks for.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "verbs_shim/cuda/driver/driver.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

namespace {

/// The newest of a function that cuda.h knows as `symbol`.
void* find_function(const char* symbol) {
    static void* self = nullptr;
    if (self == nullptr) {
        Dl_info info{};
        if (::dladdr(reinterpret_cast<void*>(&find_function), &info) != 0)
            self = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }
    if (self == nullptr) return nullptr;
    char name[128];
    for (const char* suffix : {"_v2", ""}) {
        const int n = std::snprintf(name, sizeof name, "%s%s", symbol, suffix);
        if (n < 0 || static_cast<size_t>(n) >= sizeof name) return nullptr;
        if (void* const found = ::dlsym(self, name)) return found;
    }
    return nullptr;
}

}  // namespace

SIMVERBS_CUDA_EXPORT int cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int* status) {
    enum Query { kFound = 0, kSymbolNotFound = 1 };
    if (symbol == nullptr || function == nullptr) return kGpuInvalidValue;
    *function = find_function(symbol);
    if (status != nullptr) *status = *function != nullptr ? kFound : kSymbolNotFound;
    return *function != nullptr ? kGpuSuccess : kGpuNotFound;
}
SIMVERBS_CUDA_EXPORT int cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

SIMVERBS_CUDA_EXPORT int cuGetErrorName(int error, const char** name) {
    if (name == nullptr) return kGpuInvalidValue;
    const ErrorText* const e = error_text(error);
    *name = e == nullptr ? nullptr : e->driver_name;
    return *name != nullptr ? kGpuSuccess : kGpuInvalidValue;
}
SIMVERBS_CUDA_EXPORT int cuGetErrorString(int error, const char** text) {
    if (text == nullptr) return kGpuInvalidValue;
    const ErrorText* const e = error_text(error);
    *text = e == nullptr || e->driver_name == nullptr ? nullptr : e->text;
    return *text != nullptr ? kGpuSuccess : kGpuInvalidValue;
}

/// Nobody but CUDA's own runtime asks for these; when it is linked in statically there is no other sign of it.
SIMVERBS_CUDA_EXPORT int cuGetExportTable(const void** table, const void*) {
    static std::atomic<bool> told{false};
    if (table != nullptr) *table = nullptr;
    if (!told.exchange(true))
        std::fprintf(stderr,
                     "simverbs: this program contains CUDA's runtime (nvcc links it in statically unless told "
                     "otherwise), which needs private tables of NVIDIA's driver that a simulated GPU does not have. "
                     "Link it with the shared runtime: nvcc -cudart shared.\n");
    return kGpuNotSupported;
}
