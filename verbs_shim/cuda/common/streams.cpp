// Streams and events: what both APIs ask of them.
#include <cstdlib>
#include <cstring>

#include "verbs_shim/cuda/common/calls.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

struct HostFunction {
    GpuHostCall call;
    StreamFunction wanted;
};

}  // namespace

int stream_request(uint32_t gpu, GpuCall call, uint64_t stream, uint64_t handle) noexcept {
    GpuRequest r = make_request(call, gpu);
    r.stream = stream;
    r.handle = handle;
    return ask(r);
}

int create_handle(uint32_t gpu, GpuCall call, void** handle, uint32_t flags) noexcept {
    GpuRequest r = make_request(call, gpu);
    GpuReply reply;
    r.flags = flags;
    const int result = calls()->request(&r, &reply, nullptr);
    if (result == 0) *handle = handle_of<void*>(reply.handle);
    return result;
}

int launch_in_stream(uint32_t gpu, uint64_t stream, const StreamFunction& wanted) noexcept {
    auto* const f = static_cast<HostFunction*>(std::malloc(sizeof(HostFunction)));
    if (f == nullptr) return kGpuOutOfMemory;
    *f = {{}, wanted};
    f->call.run = [](GpuHostCall* self) {
        const StreamFunction& w = reinterpret_cast<HostFunction*>(self)->wanted;
        if (w.function != nullptr)
            w.function(w.data);
        else
            w.callback(w.stream, 0, w.data);
    };
    f->call.done = [](GpuHostCall* self) { std::free(self); };
    const int result = calls()->host_call(gpu, stream, &f->call);
    if (result != 0) std::free(f);
    return result;
}

int event_elapsed(uint32_t gpu, float* ms, const void* begin, const void* end) noexcept {
    GpuRequest r = make_request(GpuCall::EventElapsed, gpu);
    GpuReply reply;
    r.handle = number_of(begin);
    r.value = number_of(end);
    const int result = calls()->request(&r, &reply, nullptr);
    constexpr double kPsOfAMs = 1e9;
    if (result == 0) *ms = static_cast<float>(static_cast<double>(reply.time_ps) / kPsOfAMs);
    return result;
}

int ipc_export_event(uint32_t gpu, void* token, const void* event) noexcept {
    GpuRequest r = make_request(GpuCall::IpcExportEvent, gpu);
    GpuReply reply;
    r.handle = number_of(event);
    const int result = calls()->request(&r, &reply, nullptr);
    std::memcpy(token, reply.token, sizeof reply.token);
    return result;
}

int ipc_open_event(uint32_t gpu, void** event, const void* token) noexcept {
    GpuRequest r = make_request(GpuCall::IpcOpenEvent, gpu);
    GpuReply reply;
    std::memcpy(r.token, token, sizeof r.token);
    const int result = calls()->request(&r, &reply, nullptr);
    if (result == 0) *event = handle_of<void*>(reply.handle);
    return result;
}

}  // namespace simverbs::cuda
