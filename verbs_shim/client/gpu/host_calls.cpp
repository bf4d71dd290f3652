// Functions of the program that GPU streams call: a thread of the process takes them one by one, as CUDA's own does.
#include <pthread.h>

#include <atomic>

#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::gpu {

using namespace protocol;

namespace {

std::atomic<bool> g_has_helper{false};
verbs::Lock g_helper_lock;

void* serve(void*) {
    for (;;) {
        GpuRequest take;
        GpuReply reply;
        take.call = GpuCall::HostFunctionTake;
        const int result = request(&take, &reply, nullptr);
        if (result != kGpuSuccess) return nullptr;
        auto* const call = reinterpret_cast<GpuHostCall*>(reply.value);
        if (call->sees_gpu_memory) open_memory();
        call->run(call);
        if (call->sees_gpu_memory) close_memory();
        GpuRequest done;
        done.call = GpuCall::HostFunctionDone;
        done.value = reply.value;
        done.bytes = call->took_ps;
        if (call->done != nullptr) call->done(call);
        reply = {};
        (void)request(&done, &reply, nullptr);
    }
}

int start_helper() {
    if (g_has_helper.load()) return kGpuSuccess;
    const verbs::Guard guard(g_helper_lock);
    if (g_has_helper.load()) return kGpuSuccess;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const int error = pthread_create(&thread, &attributes, serve, nullptr);
    pthread_attr_destroy(&attributes);
    if (error != 0) return kGpuOutOfMemory;
    g_has_helper.store(true);
    return kGpuSuccess;
}

}  // namespace

int host_call(uint32_t gpu, uint64_t stream, GpuHostCall* call) noexcept {
    if (const int result = open()) return result;
    if (const int result = start_helper()) return result;
    GpuRequest r;
    GpuReply reply;
    r.call = GpuCall::HostFunction;
    r.gpu = gpu;
    r.stream = stream;
    r.value = reinterpret_cast<uint64_t>(call);
    return request(&r, &reply, nullptr);
}

}  // namespace simverbs::client::gpu
