// Streams, events, host functions.
#include "verbs_shim/cuda/runtime/runtime.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

uint64_t own_stream(void* stream) {
    return stream == nullptr ? kStreamPerThread : number_of(stream);
}

int ask_stream(GpuCall call, uint64_t stream, uint64_t handle = 0) {
    return run([&] { return stream_request(current_gpu(), call, stream, handle); });
}

int create(GpuCall call, void** handle, uint32_t flags) {
    if (handle == nullptr) return note(kGpuInvalidValue);
    return run([&] { return create_handle(current_gpu(), call, handle, flags); });
}

int launch_function(uint64_t stream, const StreamFunction& wanted) {
    return run([&] { return launch_in_stream(current_gpu(), stream, wanted); });
}

}  // namespace

}  // namespace simverbs::cuda

using namespace simverbs::cuda;
using namespace simverbs::protocol;

SIMVERBS_CUDA_EXPORT int cudaStreamCreate(void** stream) {
    return create(GpuCall::StreamCreate, stream, 0);
}
SIMVERBS_CUDA_EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
    return flags > 1 ? note(kGpuInvalidValue) : create(GpuCall::StreamCreate, stream, flags);
}
SIMVERBS_CUDA_EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned flags, int) {
    return flags > 1 ? note(kGpuInvalidValue) : create(GpuCall::StreamCreate, stream, flags);
}
SIMVERBS_CUDA_EXPORT int cudaStreamDestroy(void* stream) {
    return ask_stream(GpuCall::StreamDestroy, number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaStreamQuery(void* stream) {
    return ask_stream(GpuCall::StreamQuery, number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaStreamQuery_ptsz(void* stream) {
    return ask_stream(GpuCall::StreamQuery, own_stream(stream));
}
SIMVERBS_CUDA_EXPORT int cudaStreamSynchronize(void* stream) {
    return ask_stream(GpuCall::Wait, number_of(stream));
}
SIMVERBS_CUDA_EXPORT int cudaStreamSynchronize_ptsz(void* stream) {
    return ask_stream(GpuCall::Wait, own_stream(stream));
}
SIMVERBS_CUDA_EXPORT int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
    return ask_stream(GpuCall::StreamWaitEvent, number_of(stream), number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaStreamWaitEvent_ptsz(void* stream, void* event, unsigned) {
    return ask_stream(GpuCall::StreamWaitEvent, own_stream(stream), number_of(event));
}
/// Every stream has the lowest priority: copies know none.
SIMVERBS_CUDA_EXPORT int cudaStreamGetPriority(void*, int* priority) {
    if (priority != nullptr) *priority = 0;
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaStreamGetFlags(void*, unsigned* flags) {
    if (flags != nullptr) *flags = 0;
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaStreamIsCapturing(void*, int* status) {
    if (status != nullptr) *status = 0;
    return run([] { return 0; });
}
SIMVERBS_CUDA_EXPORT int cudaThreadExchangeStreamCaptureMode(int*) {
    return 0;
}
SIMVERBS_CUDA_EXPORT int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    if (function == nullptr) return note(kGpuInvalidValue);
    return launch_function(number_of(stream), {function, nullptr, data, stream});
}
SIMVERBS_CUDA_EXPORT int cudaLaunchHostFunc_ptsz(void* stream, void (*function)(void*), void* data) {
    if (function == nullptr) return note(kGpuInvalidValue);
    return launch_function(own_stream(stream), {function, nullptr, data, stream});
}
SIMVERBS_CUDA_EXPORT int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                                               unsigned flags) {
    if (callback == nullptr || flags != 0) return note(kGpuInvalidValue);
    return launch_function(number_of(stream), {nullptr, callback, data, stream});
}

SIMVERBS_CUDA_EXPORT int cudaEventCreate(void** event) {
    return create(GpuCall::EventCreate, event, 0);
}
SIMVERBS_CUDA_EXPORT int cudaEventCreateWithFlags(void** event, unsigned flags) {
    return flags > 7 ? note(kGpuInvalidValue) : create(GpuCall::EventCreate, event, flags);
}
SIMVERBS_CUDA_EXPORT int cudaEventRecord(void* event, void* stream) {
    return ask_stream(GpuCall::EventRecord, number_of(stream), number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaEventRecord_ptsz(void* event, void* stream) {
    return ask_stream(GpuCall::EventRecord, own_stream(stream), number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
    return cudaEventRecord(event, stream);
}
SIMVERBS_CUDA_EXPORT int cudaEventQuery(void* event) {
    return ask_stream(GpuCall::EventQuery, 0, number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaEventSynchronize(void* event) {
    if (event == nullptr) return note(kGpuInvalidHandle);
    return ask_stream(GpuCall::Wait, 0, number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaEventDestroy(void* event) {
    return ask_stream(GpuCall::EventDestroy, 0, number_of(event));
}
SIMVERBS_CUDA_EXPORT int cudaEventElapsedTime(float* ms, void* begin, void* end) {
    if (ms == nullptr) return note(kGpuInvalidValue);
    return run([&] { return event_elapsed(current_gpu(), ms, begin, end); });
}
SIMVERBS_CUDA_EXPORT int cudaEventElapsedTime_v2(float* ms, void* begin, void* end) {
    return cudaEventElapsedTime(ms, begin, end);
}

SIMVERBS_CUDA_EXPORT int cudaIpcGetEventHandle(void* handle, void* event) {
    if (handle == nullptr) return note(kGpuInvalidValue);
    return run([&] { return ipc_export_event(current_gpu(), handle, event); });
}

struct IpcEventHandle {
    uint8_t bytes[kGpuTokenBytes];
};

SIMVERBS_CUDA_EXPORT int cudaIpcOpenEventHandle(void** event, IpcEventHandle handle) {
    if (event == nullptr) return note(kGpuInvalidValue);
    return run([&] { return ipc_open_event(current_gpu(), event, handle.bytes); });
}
