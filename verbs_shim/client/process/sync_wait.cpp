#include "verbs_shim/client/process/sync_wait.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "verbs_shim/client/turn/thread_state.hpp"

namespace simverbs::client::process {

namespace {

constexpr uint32_t kBuckets = 64;
std::atomic<uint32_t> g_waiting[kBuckets];

uint32_t bucket(const volatile void* object) {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(object) >> 3) * 0x9E3779B97F4A7C15ULL >> 58);
}

uint64_t key(const volatile void* object, bool process_shared) {
    // Addresses of shared objects differ between processes: one key for the whole lab.
    const uint64_t id = process_shared ? uint64_t{5} << 40
                                       : (uint64_t{4} << 40) | (uint64_t{turn::process_index()} << 8) | bucket(object);
    return object_key(protocol::ObjectKind::ProcessSync, id);
}

}  // namespace

bool contended(bool process_shared) {
    return process_shared || turn::g_process.threads.load(std::memory_order_relaxed) > 1;
}

turn::Woken wait_for_notify(const volatile void* object, bool process_shared, const char* what, int64_t deadline_ps,
                            bool cancellation_point) {
    const uint64_t k = key(object, process_shared);
    turn::WaitSet set(what);
    set.cancellation_point = cancellation_point;
    set.add_object(k, turn::object_value(k), kWakeUpPs);
    set.add_deadline(deadline_ps);
    std::atomic<uint32_t>& waiting = g_waiting[bucket(object)];
    waiting.fetch_add(1, std::memory_order_relaxed);
    const turn::Woken woken = turn::wait(set);
    waiting.fetch_sub(1, std::memory_order_relaxed);
    if (woken == turn::Woken::ServerGone) nap();
    return woken;
}

void notify(const volatile void* object, bool process_shared) {
    if (process_shared || g_waiting[bucket(object)].load(std::memory_order_relaxed) != 0)
        turn::object_bump(key(object, process_shared));
}

void nap() {
    constexpr timespec kMoment{0, 1'000'000};
    kernel(SYS_nanosleep, &kMoment, nullptr);
}

}  // namespace simverbs::client::process
