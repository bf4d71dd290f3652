// The first part of waiting for one's turn: it will mostly come in a microsecond or two. Both halves wait like this.
//
// Microseconds a grant on a 2-core virtual machine, one server and two programs (idle / one busy loop pinned to a
// core): futex only 16.7 / 11.9; 300 rounds of sched_yield 3.6 / 378; 50 rounds with the guard below 4.3 / 29; all
// three pinned to one core: futex only 11.1 / 15.8, with yields 8.6 / over 800. With nine busy processes on the two
// cores: futex only 25–58, yields 650 and more. So: nobody is pinned (programs see their own affinity); a short look at
// the word itself where that has paid lately; 64 rounds of sched_yield; and where a yield gave the core to somebody who
// kept it, the next waits sleep at once.
#pragma once

#include <cstdint>

namespace simverbs::protocol {

inline constexpr uint32_t kSpinPauses = 60;          ///< some 2 us on the cores of 2017 and later, 1 us before
inline constexpr uint32_t kSpinMisses = 4;           ///< in a row, then …
inline constexpr uint32_t kNoSpin = 16;              ///< … this many waits do without, doubled up to …
inline constexpr uint32_t kMaxNoSpin = 4096;         ///< … this while looking does not pay
inline constexpr uint32_t kYieldRounds = 64;         ///
inline constexpr int64_t kYieldTooLongNs = 100'000;  ///< a yield that took this long: somebody else wants the core
inline constexpr uint32_t kUntimed = 3;            ///< of four waits take no time of their first yield (a system call)
inline constexpr uint32_t kFutexOnly = 1000;       ///< waits that sleep at once after such a yield; doubled up to …
inline constexpr uint32_t kMaxFutexOnly = 64'000;  ///< … this while yields stay bad

/// What a waiting party has learnt about the machine. One for each.
struct TurnWait {
    uint32_t no_spin = 0;
    uint32_t spin_misses = 0;
    uint32_t spin_penalty = kNoSpin;
    uint32_t sleep_at_once = 0;
    uint32_t untimed = 0;  ///< waits still to come that do not time their first yield
    uint32_t sleep_penalty = kFutexOnly;
};

inline void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Looks at the word for a moment without giving up the core.
template <class Ready>
bool spin_awhile(TurnWait& wait, Ready&& ready) {
    if (wait.no_spin > 0) {
        --wait.no_spin;
        return false;
    }
    for (uint32_t i = 0; i < kSpinPauses; ++i) {
        pause_core();
        if (ready()) {
            wait.spin_misses = 0;
            wait.spin_penalty = kNoSpin;
            return true;
        }
    }
    if (++wait.spin_misses >= kSpinMisses) {
        wait.spin_misses = 0;
        wait.no_spin = wait.spin_penalty;
        wait.spin_penalty = wait.spin_penalty < kMaxNoSpin ? wait.spin_penalty * 2 : kMaxNoSpin;
    }
    return false;
}

/// True as soon as `ready()`; false: go to sleep. `System` has static functions yield() and now_ns() (a clock that only
/// grows).
template <class System, class Ready>
bool wait_awhile(TurnWait& wait, Ready&& ready) {
    if (ready()) return true;
    if (wait.sleep_at_once > 0) {
        --wait.sleep_at_once;
        return false;
    }
    if (spin_awhile(wait, ready)) return true;
    uint32_t rounds = 0;
    if (wait.untimed > 0) {
        --wait.untimed;
        ++rounds;
        System::yield();
        if (ready()) return true;
    } else {
        wait.untimed = kUntimed;
    }
    int64_t began = System::now_ns();
    for (; rounds < kYieldRounds; ++rounds) {
        System::yield();
        const bool done = ready();
        const int64_t now = System::now_ns();
        if (now - began > kYieldTooLongNs) {  // also if it was worth it this time: it was paid for dearly
            wait.sleep_at_once = wait.sleep_penalty;
            wait.sleep_penalty = wait.sleep_penalty < kMaxFutexOnly ? wait.sleep_penalty * 2 : kMaxFutexOnly;
            return done;
        }
        if (done) return true;
        began = now;
    }
    wait.sleep_penalty = kFutexOnly;
    return false;
}

}  // namespace simverbs::protocol
