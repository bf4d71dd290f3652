#include "verbs_shim/client/gpu/gpus.hpp"

#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::gpu {

using namespace protocol;

namespace {

/// Where GPUs' addresses lie if nothing else does: one TiB each, the same in every process.
constexpr uint64_t kFirstAddress = 0x2000'0000'0000;
constexpr uint64_t kAddressesAGpu = uint64_t{1} << 40;
constexpr uint64_t kAlignment = uint64_t{2} << 20;

struct State {
    std::atomic<bool> open{false};
    uint64_t epoch = 0;  ///< of the connection
    OpenGpusReply gpus;
    std::atomic<uint64_t> base[kMaxGpusPerHost] = {};
};
State g_state;
verbs::Lock g_lock;
thread_local int t_current __attribute__((tls_model("initial-exec"))) = -1;

bool is_error(long result) {
    return result < 0 && result > -4096;
}

uint64_t reserve(uint32_t gpu, uint64_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const uint64_t wanted = kFirstAddress + gpu * kAddressesAGpu;
    const long at = raw_syscall(SYS_mmap, static_cast<long>(wanted), static_cast<long>(bytes), PROT_NONE,
                                kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (!is_error(at) && static_cast<uint64_t>(at) == wanted) return wanted;
    const long other = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes + kAlignment), PROT_NONE, kFlags, -1, 0);
    if (is_error(other)) return 0;
    return (static_cast<uint64_t>(other) + kAlignment - 1) / kAlignment * kAlignment;
}

int result_of(int error) {
    switch (error) {
        case 0:
            return kGpuSuccess;
        case ENODEV:
            return kGpuNoDevice;
        case ENOMEM:
            return kGpuOutOfMemory;
        default:
            return kGpuUnknown;
    }
}

int ask(GpuRequest& request, GpuReply& reply, int* fd) {
    request.h = connection::make_request<GpuRequest>(Op::UseGpu).h;
    const int error = connection::request(&request, &reply, sizeof reply, fd, fd == nullptr ? 0 : 1);
    if (error != 0) return connection::server_gone() ? kGpuUnknown : result_of(error);
    return reply.result;
}

/// Until the object has another value.
bool wait_for_change(uint64_t key, uint64_t seen, const char* what) {
    if (turn::active()) {
        turn::WaitSet set(what);
        set.cancellation_point = false;
        set.add_object(key, seen, 0);
        switch (turn::wait(set)) {
            case turn::Woken::ServerGone:
                connection::note_server_gone();
                return false;
            case turn::Woken::Interrupted:
                turn::deliver_signals();
                break;
            case turn::Woken::Item:
            case turn::Woken::Deadline:
            case turn::Woken::Visible:
                break;
        }
        return true;
    }
    constexpr timespec kMoment{0, 20'000};
    while (turn::object_value(key) == seen) {
        if (!connection::check_server()) return false;
        kernel(SYS_nanosleep, &kMoment, nullptr);
    }
    return true;
}

const char* name_of_wait(GpuCall call) {
    if (call == GpuCall::Copy) return "a copy of a GPU";
    return call == GpuCall::HostFunctionTake ? "host functions of GPU streams" : "work of a GPU";
}

}  // namespace

int open() noexcept {
    if (g_state.open.load(std::memory_order_acquire))
        return g_state.epoch == connection::epoch() ? kGpuSuccess : kGpuNotInitialized;
    const turn::InShim in_shim;
    if (!connection::joined()) return kGpuNoDevice;
    const verbs::Guard guard(g_lock);
    if (g_state.open.load()) return kGpuSuccess;
    auto request = connection::make_request<ObjectRequest>(Op::OpenGpus);
    const int error = connection::request(&request, &g_state.gpus, sizeof g_state.gpus);
    if (error != 0) return result_of(error);
    for (uint32_t gpu = 0; gpu < g_state.gpus.num_gpus && gpu < kMaxGpusPerHost; ++gpu) {
        GpuRequest place;
        GpuReply reply;
        place.call = GpuCall::Place;
        place.gpu = gpu;
        place.address = reserve(gpu, g_state.gpus.gpus[gpu].bytes);
        if (place.address == 0) return kGpuOutOfMemory;
        if (const int result = ask(place, reply, nullptr)) return result;
        g_state.base[gpu].store(place.address, std::memory_order_release);
    }
    g_state.epoch = connection::epoch();
    g_state.open.store(true, std::memory_order_release);
    return kGpuSuccess;
}

uint32_t count() noexcept {
    return g_state.open.load(std::memory_order_acquire) ? g_state.gpus.num_gpus : 0;
}

const GpuInfo* info(uint32_t gpu) noexcept {
    return gpu < count() ? &g_state.gpus.gpus[gpu] : nullptr;
}

bool exports_dma_bufs() noexcept {
    return count() != 0 && g_state.gpus.dma_buf != 0;
}

uint32_t driver_version() noexcept {
    return g_state.gpus.driver_version;
}

const char* topology() noexcept {
    g_state.gpus.topology[sizeof g_state.gpus.topology - 1] = '\0';
    return g_state.gpus.topology;
}

int current() noexcept {
    return t_current;
}

void set_current(int gpu) noexcept {
    t_current = gpu;
}

uint64_t base_of(uint32_t gpu) noexcept {
    return gpu < kMaxGpusPerHost ? g_state.base[gpu].load(std::memory_order_acquire) : 0;
}

bool is_gpu_address(uint64_t address) noexcept {
    for (uint32_t gpu = 0; gpu < kMaxGpusPerHost; ++gpu) {
        const uint64_t base = base_of(gpu);
        if (base == 0) return false;
        if (address >= base && address - base < g_state.gpus.gpus[gpu].bytes) return true;
    }
    return false;
}

int request(GpuRequest* request, GpuReply* reply, int* fd) noexcept {
    if (const int result = open()) return result;
    const turn::InShim in_shim;
    if (fd != nullptr) *fd = -1;
    const GpuCall call = request->call;
    int result = ask(*request, *reply, fd);
    while (reply->key != 0 && (result == kGpuSuccess || result == kGpuNotReady)) {
        if (!wait_for_change(reply->key, reply->seen, name_of_wait(call))) return kGpuUnknown;
        // What was asked for has been begun: only its end is asked for again.
        if (call != GpuCall::HostFunctionTake) request->call = GpuCall::Wait;
        request->value = reply->value;
        request->flags = 1;
        *reply = {};
        result = ask(*request, *reply, nullptr);
    }
    return result;
}

void explain(const char* text) noexcept {
    const turn::InShim in_shim;
    (void)verbs::explain(0, "%s", text);
}

void explain_access(uint64_t address) noexcept {
    static std::atomic<bool> told{false};
    if (told.exchange(true)) return;
    char text[256];
    std::snprintf(text, sizeof text,
                  "SIGSEGV: the program uses %#llx, an address of GPU memory, on the CPU. Only GPUs and adapters reach "
                  "it: copy with cudaMemcpy, or map it with GDRCopy (gdr_pin_buffer, gdr_map).",
                  static_cast<unsigned long long>(address));
    explain(text);
}

}  // namespace simverbs::client::gpu
