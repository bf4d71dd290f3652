#include "verbs_shim/client/verbs/lock.hpp"

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::verbs {

namespace {

constexpr long kFutexWaitPrivate = 128;
constexpr long kFutexWakePrivate = 129;
/// Simulated time between two looks at a lock that another thread of the process holds across its turn.
constexpr int64_t kLockStepPs = 100'000;

}  // namespace

void Lock::lock_contended() noexcept {
    for (;;) {
        if (turn::active()) {
            uint32_t expected = kFree;
            if (word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
                return;
            }
            turn::WaitSet set("a lock inside the verbs library");
            set.add_deadline(turn::now_ps() + kLockStepPs);
            turn::wait(set);
            continue;
        }
        if (word_.exchange(kWanted, std::memory_order_acquire) == kFree) return;
        raw_syscall(SYS_futex, as_argument(&word_), kFutexWaitPrivate, kWanted);
    }
}

void Lock::wake() noexcept {
    raw_syscall(SYS_futex, as_argument(&word_), kFutexWakePrivate, 1);
}

}  // namespace simverbs::client::verbs
