#include "verbs_shim/server/placement.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "verbs_shim/server/real_time.hpp"

namespace simverbs::server {

namespace {

constexpr uint32_t kMostShared = 16;
constexpr int64_t kBetweenMovesNs = 1'000'000;
constexpr int64_t kAfterFailureNs = 1'000'000'000;
constexpr uint32_t kCallsALook = 16;

}  // namespace

void Placement::before_grant(const protocol::ThreadSlot& slot) {
    core_ = static_cast<uint32_t>(::sched_getcpu() + 1);
    if (shared_->server_core.load(std::memory_order_relaxed) != core_)
        shared_->server_core.store(core_, std::memory_order_relaxed);
    // One that sleeps is woken best on the core that becomes free.
    if (shares_core(slot) && slot.sleeps.load(std::memory_order_relaxed) == 0) note_sharing(slot);
}

bool Placement::is_alone() {
    if (calls_++ % kCallsALook != 0) return alone_;
    core_ = static_cast<uint32_t>(::sched_getcpu() + 1);
    alone_ = true;
    const uint32_t slots = shared_->num_slots.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < slots && i < protocol::kMaxThreads; ++i) {
        if (!shares_core(shared_->slots[i])) continue;
        alone_ = false;
        note_sharing(shared_->slots[i]);
    }
    return alone_;
}

void Placement::note_sharing(const protocol::ThreadSlot& slot) {
    if (++times_shared_ < kMostShared) return;
    times_shared_ = 0;
    move_away(slot);
}

void Placement::move_away(const protocol::ThreadSlot& slot) {
    const int64_t now = real_ns();
    if (now < not_before_ns_ || core_ == 0) return;
    not_before_ns_ = now + kAfterFailureNs;
    // The number stands in memory that any program may write: it must be one of the process's threads.
    const pid_t tid = slot.tid;
    const Client* client = lab_->client_of_process(slot.process);
    if (client == nullptr || ::access(fmt::format("/proc/{}/task/{}", client->pid, tid).c_str(), F_OK) != 0) return;
    if (move_off_core(tid, core_ - 1)) not_before_ns_ = now + kBetweenMovesNs;
}

bool move_off_core(pid_t tid, uint32_t core) {
    cpu_set_t allowed;
    if (::sched_getaffinity(tid, sizeof allowed, &allowed) != 0) return false;
    cpu_set_t elsewhere = allowed;
    CPU_CLR(core, &elsewhere);
    if (CPU_COUNT(&elsewhere) == 0 || ::sched_setaffinity(tid, sizeof elsewhere, &elsewhere) != 0) return false;
    // With the wall clock the program runs, and may have set another one meanwhile.
    cpu_set_t found;
    if (::sched_getaffinity(tid, sizeof found, &found) != 0 || !CPU_EQUAL(&found, &elsewhere)) return true;
    (void)::sched_setaffinity(tid, sizeof allowed, &allowed);
    return true;
}

}  // namespace simverbs::server
