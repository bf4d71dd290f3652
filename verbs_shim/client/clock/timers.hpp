// The timers of a process: one deadline each, kept in simulated time.
#pragma once

#include <signal.h>

#include <cstdint>

namespace simverbs::client::clock {

/// What happens when a timer expires.
struct Timer {
    bool used = false;
    bool cpu_time = false;
    int64_t deadline_ps = INT64_MAX;  ///< INT64_MAX: disarmed
    int64_t interval_ps = 0;
    int notify = SIGEV_NONE;  ///< SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD, SIGEV_THREAD_ID
    int signal_number = 0;
    int si_code = 0;
    int thread = 0;  ///< SIGEV_THREAD_ID
    sigval value{};
    void (*function)(sigval) = nullptr;
    void* attributes = nullptr;
    int overrun = 0;
    int64_t clock_zero_ps = 0;
    int clock_id = 0;
};

enum FixedTimer : int { kRealTimer = 0, kVirtualTimer = 1, kProfTimer = 2, kFirstPosixTimer = 3 };
inline constexpr int kMaxTimers = 256;

Timer* timer_at(int index);
/// A free timer's index, marked used; -1 if there is none.
int allocate_timer();

/// Arms (or disarms, with INT64_MAX) and keeps next_timer_ps() right.
void arm(Timer& timer, int64_t deadline_ps, int64_t interval_ps);
/// Time left: 0 if disarmed.
int64_t left_ps(const Timer& timer);

/// In the child of fork(): it inherits none.
void forget_timers();

}  // namespace simverbs::client::clock
