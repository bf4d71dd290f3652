// Streams, events, host functions, kernels.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/cuda/driver/driver.hpp"

using namespace simverbs::cuda;
using namespace simverbs::protocol;

namespace {

int ask_stream(GpuCall call, const void* stream, const void* event = nullptr) {
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(call, gpu);
        r.stream = number_of(stream);
        r.handle = number_of(event);
        return ask(r);
    });
}

int create(GpuCall call, void** handle, uint32_t flags) {
    if (handle == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(call, gpu);
        GpuReply reply;
        r.flags = flags;
        const int result = calls()->request(&r, &reply, nullptr);
        if (result == 0) *handle = handle_of<void*>(reply.handle);
        return result;
    });
}

struct HostFunction {
    GpuHostCall call;
    void (*function)(void*);
    void (*callback)(void* stream, int status, void* data);
    void* data;
    void* stream;
};

int launch_function(void* stream, void (*function)(void*), void (*callback)(void*, int, void*), void* data) {
    if (function == nullptr && callback == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        auto* const f = static_cast<HostFunction*>(std::malloc(sizeof(HostFunction)));
        if (f == nullptr) return static_cast<int>(kGpuOutOfMemory);
        *f = {{}, function, callback, data, stream};
        f->call.run = [](GpuHostCall* self) {
            const auto* const h = reinterpret_cast<HostFunction*>(self);
            if (h->function != nullptr)
                h->function(h->data);
            else
                h->callback(h->stream, 0, h->data);
        };
        f->call.done = [](GpuHostCall* self) { std::free(self); };
        const int result = calls()->host_call(gpu, number_of(stream), &f->call);
        if (result != 0) std::free(f);
        return result;
    });
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
    return launch_function(stream, nullptr, callback, data);
}
SIMVERBS_CUDA_EXPORT int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    return launch_function(stream, function, nullptr, data);
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
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::EventElapsed, gpu);
        GpuReply reply;
        r.handle = number_of(begin);
        r.value = number_of(end);
        const int result = calls()->request(&r, &reply, nullptr);
        constexpr double kPsOfAMs = 1e9;
        if (result == 0) *ms = static_cast<float>(static_cast<double>(reply.time_ps) / kPsOfAMs);
        return result;
    });
}
SIMVERBS_CUDA_EXPORT int cuEventElapsedTime_v2(float* ms, void* begin, void* end) {
    return cuEventElapsedTime(ms, begin, end);
}

struct EventToken {
    uint8_t bytes[kGpuTokenBytes];
};

SIMVERBS_CUDA_EXPORT int cuIpcGetEventHandle(EventToken* handle, void* event) {
    if (handle == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::IpcExportEvent, gpu);
        GpuReply reply;
        r.handle = number_of(event);
        const int result = calls()->request(&r, &reply, nullptr);
        std::memcpy(handle->bytes, reply.token, sizeof reply.token);
        return result;
    });
}
SIMVERBS_CUDA_EXPORT int cuIpcOpenEventHandle(void** event, EventToken handle) {
    if (event == nullptr) return kGpuInvalidValue;
    return with_context([&](uint32_t gpu) {
        GpuRequest r = make_request(GpuCall::IpcOpenEvent, gpu);
        GpuReply reply;
        std::memcpy(r.token, handle.bytes, sizeof r.token);
        const int result = calls()->request(&r, &reply, nullptr);
        if (result == 0) *event = handle_of<void*>(reply.handle);
        return result;
    });
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
