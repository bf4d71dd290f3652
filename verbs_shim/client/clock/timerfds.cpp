// timerfds: a real descriptor whose timer never runs, and a deadline in simulated time that poll and read ask for.
#include <errno.h>
#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

SIMVERBS_REAL(timerfd_create);
SIMVERBS_REAL(timerfd_settime);
SIMVERBS_REAL(timerfd_gettime);

namespace {

constexpr int kMaxFds = 1 << 16;
constexpr uint32_t kMaxTimerFds = 1024;
constexpr int64_t kCallPs = 300'000;
constexpr int64_t kPsPerSecond = 1'000'000'000'000;

struct TimerFd {
    uint32_t refs;  ///< descriptors of this process that name it; 0: free
    clockid_t clock_id;
    int64_t deadline_ps;
    int64_t interval_ps;
};
TimerFd g_timerfds[kMaxTimerFds];

/// 1 + index of each descriptor's timer; 0: none.
std::atomic<uint16_t> g_by_fd[kMaxFds];

TimerFd* find(int fd) {
    if (fd < 0 || fd >= kMaxFds) return nullptr;
    const uint16_t entry = g_by_fd[fd].load(std::memory_order_relaxed);
    return entry == 0 ? nullptr : &g_timerfds[entry - 1];
}

int64_t to_ps(const timespec& t) {
    return t.tv_sec * kPsPerSecond + t.tv_nsec * 1000;
}
timespec to_timespec(int64_t ps) {
    return {ps / kPsPerSecond, ps % kPsPerSecond / 1000};
}
bool is_bad(const timespec& t) {
    return t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= 1'000'000'000;
}

itimerspec setting(const TimerFd& t) {
    if (t.deadline_ps == kNever) return {};
    int64_t left = t.deadline_ps - turn::now_ps();
    // Passed deadlines that nobody has read are over; a periodic one shows the time to its next.
    if (left <= 0 && t.interval_ps > 0) left = t.interval_ps - (-left % t.interval_ps);
    return {to_timespec(t.interval_ps), to_timespec(left > 0 ? left : 0)};
}

}  // namespace

bool is_timerfd(int fd) {
    return find(fd) != nullptr;
}

int64_t timerfd_deadline(int fd) {
    const TimerFd* const t = find(fd);
    return t == nullptr ? kNever : t->deadline_ps;
}

uint64_t timerfd_take(int fd) {
    TimerFd* const t = find(fd);
    const int64_t now = turn::now_ps();
    if (t == nullptr || t->deadline_ps > now) return 0;
    if (t->interval_ps == 0) {
        t->deadline_ps = kNever;
        return 1;
    }
    const int64_t times = 1 + (now - t->deadline_ps) / t->interval_ps;
    t->deadline_ps += times * t->interval_ps;
    return static_cast<uint64_t>(times);
}

void fd_closed(int fd) {
    TimerFd* const t = find(fd);
    if (t == nullptr) return;
    g_by_fd[fd].store(0, std::memory_order_relaxed);
    --t->refs;
}

void fd_copied(int fd, int copy) {
    if (copy < 0 || copy >= kMaxFds || fd == copy) return;
    fd_closed(copy);
    if (TimerFd* const t = find(fd)) {
        ++t->refs;
        g_by_fd[copy].store(g_by_fd[fd].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

}  // namespace simverbs::client::clock

using namespace simverbs::client;
using namespace simverbs::client::clock;

SIMVERBS_INTERPOSE int timerfd_create(clockid_t clock_id, int flags) {
    turn::start_if_needed();
    const int fd = real_timerfd_create(clock_id, flags);
    if (fd < 0 || fd >= kMaxFds || !turn::active()) return fd;
    turn::InShim guard;
    turn::charge(kCallPs);
    for (TimerFd& t : g_timerfds) {
        if (t.refs != 0) continue;
        t = {1, clock_id, kNever, 0};
        g_by_fd[fd].store(static_cast<uint16_t>(&t - g_timerfds + 1), std::memory_order_relaxed);
        break;
    }
    return fd;
}

SIMVERBS_INTERPOSE int timerfd_settime(int fd, int flags, const itimerspec* wanted, itimerspec* old) {
    TimerFd* const t = find(fd);
    if (t == nullptr) return real_timerfd_settime(fd, flags, wanted, old);
    if (wanted == nullptr || is_bad(wanted->it_value) || is_bad(wanted->it_interval)) {
        errno = wanted == nullptr ? EFAULT : EINVAL;
        return -1;
    }
    turn::InShim guard;
    turn::charge(kCallPs);
    if (old != nullptr) *old = setting(*t);
    t->interval_ps = to_ps(wanted->it_interval);
    if (to_ps(wanted->it_value) == 0)
        t->deadline_ps = kNever;
    else if ((flags & TFD_TIMER_ABSTIME) != 0)
        t->deadline_ps = deadline_at(t->clock_id, &wanted->it_value);
    else
        t->deadline_ps = deadline_in(&wanted->it_value);
    return 0;
}

SIMVERBS_INTERPOSE int timerfd_gettime(int fd, itimerspec* out) {
    const TimerFd* const t = find(fd);
    if (t == nullptr) return real_timerfd_gettime(fd, out);
    turn::InShim guard;
    turn::charge(kCallPs);
    *out = setting(*t);
    return 0;
}
