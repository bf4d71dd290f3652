// Simulated clocks as programs read them, and the alarms and timers that fire on them.
#pragma once

#include <time.h>

#include <cstdint>

namespace simverbs::client::clock {

inline constexpr int64_t kNever = INT64_MAX;

/// The thread's clock as CLOCK_REALTIME and CLOCK_MONOTONIC show it, in nanoseconds.
int64_t realtime_ns();
int64_t monotonic_ns();

/// A relative or absolute time as a deadline on the thread's simulated clock, in picoseconds; kNever if it is too far
/// away to be represented. Null `t` is kNever. Absolute times are of `clock` (CLOCK_REALTIME, CLOCK_MONOTONIC, …).
int64_t deadline_in(const timespec* t);
int64_t deadline_in_ms(int64_t milliseconds);  ///< negative: kNever, as poll() has it
int64_t deadline_at(clockid_t clock, const timespec* t);

/// True if `fd` is a timerfd that runs on simulated time.
bool is_timerfd(int fd);
/// When it becomes readable next: kNever if disarmed, a time in the past if it is readable now.
int64_t timerfd_deadline(int fd);
/// read() of a timerfd: the number of expirations, or 0 if there was none yet (then wait until timerfd_deadline).
uint64_t timerfd_take(int fd);
/// `fd` was closed, or `copy` now means the same timerfd as `fd` (dup, dup2, fcntl).
void fd_closed(int fd);
void fd_copied(int fd, int copy);

/// Earliest alarm or timer of this process (kNever if none): it bounds every wait (rule 11).
int64_t next_timer_ps();
/// Delivers what is due at the thread's clock. Called when a thread leaves the shim.
void fire_due_timers();

}  // namespace simverbs::client::clock
