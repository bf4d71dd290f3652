// Streams, events, host functions, kernels.
#include <cstdio>

#include "verbs_shim/cuda/driver/driver.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

namespace {

int ask_stream(GpuCall call, const void* stream, const void* event = nullptr) {
    return with_context([&](uint32_t gpu) { return stream_request(gpu, call, number_of(stream), number_of(event)); });
}

int create(GpuCall call, void** handle, uint32_t flags) {
    if (handle == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) { return create_handle(gpu, call, handle, flags); });
}

int launch_function(const StreamFunction& wanted) {
    if (wanted.function == nullptr && wanted.callback == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) { return launch_in_stream(gpu, number_of(wanted.stream), wanted); });
}

int no_kernels(int result) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
        std::fprintf(stderr,
                     "simverbs: there is no GPU that could run kernels of a module. Launch them through the runtime "
                     "with a host function: simverbs_cuda_register_host_function (simverbs_cuda.h).\n");
    return result;
}

}  // namespace

SIMVERBS_CUDA_EXPORT int cuStreamCreate(void** stream, unsigned flags) {
    return flags > 1 ? static_cast<int>(kGpuInvalidValue) : create(GpuCall::StreamCreate, stream, flags);
}
SIMVERBS_CUDA_EXPORT int cuStreamCreateWithPriority(void** stream, unsigned flags, int) {
    return cuStreamCreate(stream, flags);
}
SIMVERBS_CUDA_EXPORT int cuStreamDestroy_v2(void* stream) {
    return ask_stream(GpuCall::StreamDestroy, stream);
}
SIMVERBS_CUDA_EXPORT int cuStreamQuery(void* stream) {
    return ask_stream(GpuCall::StreamQuery, stream);
}
SIMVERBS_CUDA_EXPORT int cuStreamSynchronize(void* stream) {
    return ask_stream(GpuCall::Wait, stream);
}
SIMVERBS_CUDA_EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    return ask_stream(GpuCall::StreamWaitEvent, stream, event);
}
SIMVERBS_CUDA_EXPORT int cuStreamGetPriority(void*, int* priority) {
    if (priority != nullptr) *priority = 0;
    return with_context([](uint32_t) { return 0; });
}
SIMVERBS_CUDA_EXPORT int cuStreamGetFlags(void*, unsigned* flags) {
    if (flags != nullptr) *flags = 0;
    return with_context([](uint32_t) { return 0; });
}
SIMVERBS_CUDA_EXPORT int cuStreamIsCapturing(void*, int* status) {
    if (status != nullptr) *status = 0;
    return with_context([](uint32_t) { return 0; });
}
SIMVERBS_CUDA_EXPORT int cuStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data, unsigned) {
    return launch_function({nullptr, callback, data, stream});
}
SIMVERBS_CUDA_EXPORT int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    return launch_function({function, nullptr, data, stream});
}

SIMVERBS_CUDA_EXPORT int cuEventCreate(void** event, unsigned flags) {
    return flags > 7 ? static_cast<int>(kGpuInvalidValue) : create(GpuCall::EventCreate, event, flags);
}
SIMVERBS_CUDA_EXPORT int cuEventRecord(void* event, void* stream) {
    return ask_stream(GpuCall::EventRecord, stream, event);
}
SIMVERBS_CUDA_EXPORT int cuEventRecordWithFlags(void* event, void* stream, unsigned) {
    return ask_stream(GpuCall::EventRecord, stream, event);
}
SIMVERBS_CUDA_EXPORT int cuEventQuery(void* event) {
    return ask_stream(GpuCall::EventQuery, nullptr, event);
}
SIMVERBS_CUDA_EXPORT int cuEventSynchronize(void* event) {
    return event == nullptr ? static_cast<int>(kGpuInvalidHandle) : ask_stream(GpuCall::Wait, nullptr, event);
}
SIMVERBS_CUDA_EXPORT int cuEventDestroy_v2(void* event) {
    return ask_stream(GpuCall::EventDestroy, nullptr, event);
}
SIMVERBS_CUDA_EXPORT int cuEventElapsedTime(float* ms, void* begin, void* end) {
    if (ms == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) { return event_elapsed(gpu, ms, begin, end); });
}
SIMVERBS_CUDA_EXPORT int cuEventElapsedTime_v2(float* ms, void* begin, void* end) {
    return cuEventElapsedTime(ms, begin, end);
}

struct EventToken {
    uint8_t bytes[kGpuTokenBytes];
};

SIMVERBS_CUDA_EXPORT int cuIpcGetEventHandle(EventToken* handle, void* event) {
    if (handle == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) { return ipc_export_event(gpu, handle->bytes, event); });
}
SIMVERBS_CUDA_EXPORT int cuIpcOpenEventHandle(void** event, EventToken handle) {
    if (event == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) { return ipc_open_event(gpu, event, handle.bytes); });
}

SIMVERBS_CUDA_EXPORT int cuModuleLoadData(void** module, const void*) {
    if (module == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t) { return no_kernels(kGpuNotSupported); });
}
SIMVERBS_CUDA_EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
    return cuModuleLoadData(module, image);
}
SIMVERBS_CUDA_EXPORT int cuModuleLoad(void** module, const char* file) {
    return cuModuleLoadData(module, file);
}
SIMVERBS_CUDA_EXPORT int cuModuleGetFunction(void**, void*, const char*) {
    return kGpuNotFound;
}
SIMVERBS_CUDA_EXPORT int cuModuleUnload(void*) {
    return kGpuInvalidHandle;
}
SIMVERBS_CUDA_EXPORT int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                        void*, void**, void**) {
    return no_kernels(kGpuInvalidHandle);
}
