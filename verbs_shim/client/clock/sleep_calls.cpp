// The calls that only sleep.
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

SIMVERBS_REAL(nanosleep);
SIMVERBS_REAL(clock_nanosleep);
SIMVERBS_REAL(usleep);
SIMVERBS_REAL(sleep);

namespace {

/// A system call that sleeps and is woken: what a zero-length sleep costs.
constexpr int64_t kSleepCallPs = 1'000'000;

bool is_bad(const timespec& t) {
    return t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= 1'000'000'000;
}

/// Sleeps until the deadline. 0, or EINTR if a handler of the program ran.
int sleep_until(int64_t deadline_ps) {
    turn::charge(kSleepCallPs);
    for (;;) {
        turn::WaitSet set("sleep");
        set.add_deadline(deadline_ps);
        switch (turn::wait(set)) {
            case turn::Woken::Interrupted:
                if (turn::deliver_signals() != turn::Signals::None) return EINTR;
                break;
            case turn::Woken::ServerGone:
                return 0;
            case turn::Woken::Item:
            case turn::Woken::Visible:
            case turn::Woken::Deadline:
                if (turn::now_ps() >= deadline_ps) return 0;
                break;
        }
    }
}

int sleep_for(const timespec& request, timespec* left) {
    turn::InShim guard;
    const int64_t deadline = deadline_in(&request);
    const int error = sleep_until(deadline);
    if (error != 0 && left != nullptr) {
        int64_t rest = deadline - turn::now_ps();
        if (rest < 0) rest = 0;
        *left = {rest / 1'000'000'000'000, rest % 1'000'000'000'000 / 1000};
    }
    return error;
}

}  // namespace

}  // namespace simverbs::client::clock

using namespace simverbs::client;
using namespace simverbs::client::clock;

SIMVERBS_INTERPOSE int clock_nanosleep(clockid_t clock_id, int flags, const timespec* request, timespec* left) {
    turn::start_if_needed();
    if (!turn::active() || request == nullptr) return real_clock_nanosleep(clock_id, flags, request, left);
    if (is_bad(*request) || clock_id == CLOCK_THREAD_CPUTIME_ID) return EINVAL;
    if ((flags & TIMER_ABSTIME) == 0) return sleep_for(*request, left);
    turn::InShim guard;
    return sleep_until(deadline_at(clock_id, request));
}

SIMVERBS_INTERPOSE int nanosleep(const timespec* request, timespec* left) {
    turn::start_if_needed();
    if (!turn::active() || request == nullptr) return real_nanosleep(request, left);
    const int error = is_bad(*request) ? EINVAL : sleep_for(*request, left);
    if (error == 0) return 0;
    errno = error;
    return -1;
}

SIMVERBS_INTERPOSE int usleep(useconds_t microseconds) {
    turn::start_if_needed();
    if (!turn::active()) return real_usleep(microseconds);
    const timespec t{microseconds / 1'000'000, long{microseconds % 1'000'000} * 1000};
    return nanosleep(&t, nullptr);
}

SIMVERBS_INTERPOSE unsigned sleep(unsigned seconds) {
    turn::start_if_needed();
    if (!turn::active()) return real_sleep(seconds);
    const int saved = errno;
    const timespec t{static_cast<time_t>(seconds), 0};
    timespec left{};
    const int error = sleep_for(t, &left);
    errno = error != 0 ? EINTR : saved;
    if (error == 0) return 0;
    return static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= 500'000'000 ? 1U : 0U);
}
