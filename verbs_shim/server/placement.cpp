#include "verbs_shim/server/placement.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

namespace simverbs::server {

namespace {

int64_t monotonic_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

void Placement::before_grant(const protocol::ThreadSlot& slot, pid_t pid) {
    core_ = static_cast<uint32_t>(::sched_getcpu() + 1);
    if (shared_->server_core.load(std::memory_order_relaxed) != core_)
        shared_->server_core.store(core_, std::memory_order_relaxed);
    // One that sleeps is woken best on the core that becomes free.
    if (!shares_core(slot) || slot.sleeps.load(std::memory_order_relaxed) != 0) return;
    if (++shared_grants_ < kMostShared) return;
    shared_grants_ = 0;
    move_away(slot.tid, pid);
}

/// By taking our core out of the thread's affinity for a moment. It waits for its turn and cannot look.
void Placement::move_away(pid_t tid, pid_t pid) {
    const int64_t now = monotonic_ns();
    if (now < not_before_ns_) return;
    not_before_ns_ = now + kAfterFailureNs;
    // The number stands in memory that any program may write: it must be one of the process's threads.
    if (core_ == 0 || pid == 0 || ::access(fmt::format("/proc/{}/task/{}", pid, tid).c_str(), F_OK) != 0) return;
    cpu_set_t allowed;
    if (::sched_getaffinity(tid, sizeof allowed, &allowed) != 0) return;
    cpu_set_t elsewhere = allowed;
    CPU_CLR(core_ - 1, &elsewhere);
    if (CPU_COUNT(&elsewhere) == 0 || ::sched_setaffinity(tid, sizeof elsewhere, &elsewhere) != 0) return;
    (void)::sched_setaffinity(tid, sizeof allowed, &allowed);
    not_before_ns_ = now + kBetweenMovesNs;
}

}  // namespace simverbs::server
