// Waiting for one's turn on a futex word shared between processes. Used by both halves of the turn protocol.
//
// Measured on a 2-core VM, one server and two programs, microseconds a grant (idle machine / one busy loop pinned to a
// core): futex only 16.7 / 11.9; 300 rounds of sched_yield 3.6 / 378; 50 rounds with the guard below 4.3 / 29; all
// three pinned to one core: futex only 11.1 / 15.8, with yields 8.6 / over 800. With nine busy
// processes on the two cores: futex only 25–58, yields 650 and more. So: nobody is pinned (programs see their own
// affinity), 64 rounds of sched_yield, and where a yield gave the core to somebody who kept it, the next waits sleep at
// once.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "verbs_shim/client/turn/kernel.hpp"

namespace simverbs::client::turn {

inline constexpr int kYieldRounds = 64;
inline constexpr int64_t kYieldTooLongNs = 100'000;  ///< a yield that took this long: somebody else wants the core
inline constexpr uint32_t kFutexOnly = 1000;         ///< waits that sleep at once after such a yield; doubled up to …
inline constexpr uint32_t kMaxFutexOnly = 64'000;    ///< … this while yields stay bad

inline long raw_futex(std::atomic<uint32_t>* word, int op, uint32_t value, const timespec* timeout) {
    return kernel(SYS_futex, reinterpret_cast<uint32_t*>(word), op, value, timeout, nullptr, 0);
}

/// How bad yields were lately; one per waiting party.
struct YieldGuard {
    uint32_t sleep_at_once = 0;
    uint32_t penalty = kFutexOnly;
};

/// First part of a wait: yields the core a while. True as soon as `ready()`.
template <typename Ready>
bool yield_until(Ready&& ready, YieldGuard& guard) {
    if (ready()) return true;
    if (guard.sleep_at_once > 0) {
        --guard.sleep_at_once;
        return false;
    }
    const auto now = [] {
        timespec t;
        kernel(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
        return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    int64_t began = now();
    for (int i = 0; i < kYieldRounds; ++i) {
        kernel(SYS_sched_yield);
        const bool done = ready();
        const int64_t t = now();
        if (t - began > kYieldTooLongNs) {  // also if it was worth it this time: it was paid for dearly
            guard.sleep_at_once = guard.penalty;
            guard.penalty = guard.penalty < kMaxFutexOnly ? guard.penalty * 2 : kMaxFutexOnly;
            return done;
        }
        if (done) return true;
        began = t;
    }
    guard.penalty = kFutexOnly;
    return false;
}

}  // namespace simverbs::client::turn
