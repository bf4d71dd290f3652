// alarm, setitimer and POSIX timers.
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/clock/clock_read.hpp"
#include "verbs_shim/client/clock/timers.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

SIMVERBS_REAL(alarm);
SIMVERBS_REAL(ualarm);
SIMVERBS_REAL(setitimer);
SIMVERBS_REAL(getitimer);
SIMVERBS_REAL(timer_create);
SIMVERBS_REAL(timer_settime);
SIMVERBS_REAL(timer_gettime);
SIMVERBS_REAL(timer_getoverrun);
SIMVERBS_REAL(timer_delete);

namespace {

constexpr int64_t kCallPs = 300'000;
constexpr int64_t kPsPerUs = 1'000'000;
constexpr int64_t kPsPerSecond = 1'000'000'000'000;

bool takes_part() {
    turn::start_if_needed();
    return turn::active();
}

int64_t to_ps(const timeval& t) {
    return t.tv_sec * kPsPerSecond + t.tv_usec * kPsPerUs;
}
int64_t to_ps(const timespec& t) {
    return t.tv_sec * kPsPerSecond + t.tv_nsec * 1000;
}
timeval to_timeval(int64_t ps) {
    return {ps / kPsPerSecond, ps % kPsPerSecond / kPsPerUs};
}
timespec to_timespec(int64_t ps) {
    return {ps / kPsPerSecond, ps % kPsPerSecond / 1000};
}

bool is_bad(const timeval& t) {
    return t.tv_sec < 0 || t.tv_usec < 0 || t.tv_usec >= 1'000'000;
}
bool is_bad(const timespec& t) {
    return t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= 1'000'000'000;
}

Timer& interval_timer(int which) {
    static constexpr int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    constexpr int kSiKernel = 0x80;
    Timer& t = *timer_at(which);
    t.used = true;
    t.notify = SIGEV_SIGNAL;
    t.signal_number = kSignals[which];
    t.si_code = kSiKernel;
    return t;
}

/// A POSIX timer's id is its index + 1, so that a zeroed one names none.
Timer* find(timer_t id) {
    const auto index = reinterpret_cast<intptr_t>(id) - 1;
    if (index < kFirstPosixTimer || index >= kMaxTimers || !timer_at(static_cast<int>(index))->used) return nullptr;
    return timer_at(static_cast<int>(index));
}

int fail(int error) {
    errno = error;
    return -1;
}

}  // namespace

}  // namespace simverbs::client::clock

using namespace simverbs::client;
using namespace simverbs::client::clock;

SIMVERBS_INTERPOSE int setitimer(__itimer_which_t which, const itimerval* wanted, itimerval* old) {
    if (!takes_part()) return real_setitimer(which, wanted, old);
    if (which < ITIMER_REAL || which > ITIMER_PROF) return fail(EINVAL);
    if (wanted != nullptr && (is_bad(wanted->it_value) || is_bad(wanted->it_interval))) return fail(EINVAL);
    turn::InShim guard;
    turn::charge(kCallPs);
    Timer& t = interval_timer(which);
    if (old != nullptr) *old = {to_timeval(t.interval_ps), to_timeval(left_ps(t))};
    const int64_t value = wanted == nullptr ? 0 : to_ps(wanted->it_value);
    arm(t, value == 0 ? INT64_MAX : turn::now_ps() + value, wanted == nullptr ? 0 : to_ps(wanted->it_interval));
    return 0;
}

SIMVERBS_INTERPOSE int getitimer(__itimer_which_t which, itimerval* out) {
    if (!takes_part()) return real_getitimer(which, out);
    if (which < ITIMER_REAL || which > ITIMER_PROF) return fail(EINVAL);
    turn::InShim guard;
    turn::charge(kCallPs);
    const Timer& t = interval_timer(which);
    *out = {to_timeval(t.interval_ps), to_timeval(left_ps(t))};
    return 0;
}

SIMVERBS_INTERPOSE unsigned alarm(unsigned seconds) {
    if (!takes_part()) return real_alarm(seconds);
    itimerval wanted{};
    itimerval old{};
    wanted.it_value.tv_sec = static_cast<time_t>(seconds);
    setitimer(ITIMER_REAL, &wanted, &old);
    // Rounded to the nearest second, but never to 0 while an alarm was pending.
    auto left = static_cast<unsigned>(old.it_value.tv_sec) + (old.it_value.tv_usec >= 500'000 ? 1U : 0U);
    if (left == 0 && (old.it_value.tv_sec != 0 || old.it_value.tv_usec != 0)) left = 1;
    return left;
}

SIMVERBS_INTERPOSE useconds_t ualarm(useconds_t value, useconds_t interval) {
    if (!takes_part()) return real_ualarm(value, interval);
    itimerval wanted{};
    itimerval old{};
    wanted.it_value = to_timeval(value * kPsPerUs);
    wanted.it_interval = to_timeval(interval * kPsPerUs);
    setitimer(ITIMER_REAL, &wanted, &old);
    return static_cast<useconds_t>(old.it_value.tv_sec * 1'000'000 + old.it_value.tv_usec);
}

SIMVERBS_INTERPOSE int timer_create(clockid_t clock_id, sigevent* event, timer_t* out) {
    if (!takes_part()) return real_timer_create(clock_id, event, out);
    turn::InShim guard;
    turn::charge(kCallPs);
    const int index = allocate_timer();
    if (index < 0) {
        guard.set_errno(EAGAIN);
        return -1;
    }
    Timer& t = *timer_at(index);
    t.clock_id = clock_id;
    t.si_code = SI_TIMER;
    if (event == nullptr) {
        t.notify = SIGEV_SIGNAL;
        t.signal_number = SIGALRM;
        t.value.sival_int = index + 1;
    } else {
        t.notify = event->sigev_notify;
        t.signal_number = event->sigev_signo;
        t.value = event->sigev_value;
        if (t.notify == SIGEV_THREAD) t.function = event->sigev_notify_function;
        if (t.notify == SIGEV_THREAD_ID) t.thread = event->_sigev_un._tid;
    }
    *out = reinterpret_cast<timer_t>(static_cast<intptr_t>(index) + 1);
    return 0;
}

SIMVERBS_INTERPOSE int timer_settime(timer_t id, int flags, const itimerspec* wanted, itimerspec* old) {
    if (!takes_part()) return real_timer_settime(id, flags, wanted, old);
    Timer* const t = find(id);
    if (t == nullptr || is_bad(wanted->it_value) || is_bad(wanted->it_interval)) return fail(EINVAL);
    turn::InShim guard;
    turn::charge(kCallPs);
    if (old != nullptr) *old = {to_timespec(t->interval_ps), to_timespec(left_ps(*t))};
    int64_t deadline = INT64_MAX;
    if (to_ps(wanted->it_value) != 0)
        deadline =
            (flags & TIMER_ABSTIME) != 0 ? deadline_at(t->clock_id, &wanted->it_value) : deadline_in(&wanted->it_value);
    arm(*t, deadline, to_ps(wanted->it_interval));
    return 0;
}

SIMVERBS_INTERPOSE int timer_gettime(timer_t id, itimerspec* out) {
    if (!takes_part()) return real_timer_gettime(id, out);
    const Timer* const t = find(id);
    if (t == nullptr) return fail(EINVAL);
    turn::InShim guard;
    turn::charge(kCallPs);
    *out = {to_timespec(t->interval_ps), to_timespec(left_ps(*t))};
    return 0;
}

SIMVERBS_INTERPOSE int timer_getoverrun(timer_t id) {
    if (!takes_part()) return real_timer_getoverrun(id);
    const Timer* const t = find(id);
    return t == nullptr ? fail(EINVAL) : t->overrun;
}

SIMVERBS_INTERPOSE int timer_delete(timer_t id) {
    if (!takes_part()) return real_timer_delete(id);
    Timer* const t = find(id);
    if (t == nullptr) return fail(EINVAL);
    turn::InShim guard;
    turn::charge(kCallPs);
    arm(*t, INT64_MAX, 0);
    *t = Timer{};
    return 0;
}
