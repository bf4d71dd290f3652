// The calls that read a clock.
#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/clock/clock_read.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

SIMVERBS_REAL(clock_gettime);
SIMVERBS_REAL(clock_getres);
SIMVERBS_REAL(gettimeofday);
SIMVERBS_REAL(time);
SIMVERBS_REAL(times);
SIMVERBS_REAL(clock);
SIMVERBS_REAL(timespec_get);

namespace {

/// clock_gettime through the vDSO, about 25 ns.
constexpr int64_t kClockReadPs = 25'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

timespec to_timespec(int64_t ns) {
    return {ns / kNsPerSecond, ns % kNsPerSecond};
}

/// What the clock shows, in nanoseconds; false if it is not a simulated one. `place` is the caller.
bool read_ns(clockid_t clock_id, const void* place, int64_t& ns) {
    switch (clock_id) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_REALTIME_ALARM:
        case CLOCK_TAI:
            read_clock(kClockReadPs, protocol::Stat::ClockReads, place);
            ns = realtime_ns();
            return true;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME:
        case CLOCK_BOOTTIME_ALARM:
            read_clock(kClockReadPs, protocol::Stat::ClockReads, place);
            ns = monotonic_ns();
            return true;
        case CLOCK_PROCESS_CPUTIME_ID:
            read_clock(kClockReadPs, protocol::Stat::ClockReads, place);
            ns = process_time_ps() / 1000;
            return true;
        default:
            if (clock_id != CLOCK_THREAD_CPUTIME_ID && clock_id >= 0) return false;  // the kernel's answer: EINVAL
            read_clock(kClockReadPs, protocol::Stat::ClockReads, place);
            ns = thread_time_ps() / 1000;
            return true;
    }
}

bool simulated() {
    turn::start_if_needed();
    return is_simulated();
}

}  // namespace

}  // namespace simverbs::client::clock

using namespace simverbs::client;
using namespace simverbs::client::clock;

SIMVERBS_INTERPOSE int clock_gettime(clockid_t clock_id, timespec* out) {
    int64_t ns = 0;
    if (!simulated() || !read_ns(clock_id, __builtin_return_address(0), ns)) return real_clock_gettime(clock_id, out);
    *out = to_timespec(ns);
    return 0;
}

SIMVERBS_INTERPOSE int clock_getres(clockid_t clock_id, timespec* out) {
    const int rc = real_clock_getres(clock_id, out);
    if (rc == 0 && out != nullptr && simulated()) *out = {0, 1};
    return rc;
}

SIMVERBS_INTERPOSE int gettimeofday(timeval* out, void* zone) {
    int64_t ns = 0;
    if (!simulated() || !read_ns(CLOCK_REALTIME, __builtin_return_address(0), ns)) return real_gettimeofday(out, zone);
    // glibc declares `out` nonnull; its own implementation accepts null, as programs do that want only the zone.
    timeval* volatile const to = out;
    if (to != nullptr) *to = {ns / kNsPerSecond, ns % kNsPerSecond / 1000};
    if (zone != nullptr) *static_cast<struct timezone*>(zone) = {};
    return 0;
}

SIMVERBS_INTERPOSE time_t time(time_t* out) {
    int64_t ns = 0;
    if (!simulated() || !read_ns(CLOCK_REALTIME, __builtin_return_address(0), ns)) return real_time(out);
    if (out != nullptr) *out = ns / kNsPerSecond;
    return ns / kNsPerSecond;
}

SIMVERBS_INTERPOSE int timespec_get(timespec* out, int base) {
    int64_t ns = 0;
    if (base != TIME_UTC || !simulated() || !read_ns(CLOCK_REALTIME, __builtin_return_address(0), ns))
        return real_timespec_get(out, base);
    *out = to_timespec(ns);
    return base;
}

SIMVERBS_INTERPOSE clock_t clock() {
    int64_t ns = 0;
    if (!simulated() || !read_ns(CLOCK_PROCESS_CPUTIME_ID, __builtin_return_address(0), ns)) return real_clock();
    return ns / (kNsPerSecond / CLOCKS_PER_SEC);
}

SIMVERBS_INTERPOSE clock_t times(tms* out) {
    int64_t cpu_ns = 0;
    if (!simulated() || !read_ns(CLOCK_PROCESS_CPUTIME_ID, __builtin_return_address(0), cpu_ns)) return real_times(out);
    const int64_t tick_ns = kNsPerSecond / sysconf(_SC_CLK_TCK);
    if (out != nullptr) *out = {cpu_ns / tick_ns, 0, 0, 0};
    return monotonic_ns() / tick_ns;
}
