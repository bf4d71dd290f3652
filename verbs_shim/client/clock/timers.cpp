#include "verbs_shim/client/clock/timers.hpp"

#include <pthread.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

namespace {

constinit Timer g_timers[kMaxTimers];

void find_next() {
    int64_t next = INT64_MAX;
    for (const Timer& t : g_timers)
        if (t.deadline_ps < next) next = t.deadline_ps;
    turn::g_process.next_timer_ps.store(next, std::memory_order_relaxed);
}

/// SIGEV_THREAD: a thread per expiration.
struct Notification {
    void (*function)(sigval);
    sigval value;
};

void* notify_in_thread(void* argument) {
    auto* const n = static_cast<Notification*>(argument);
    const Notification copy = *n;
    delete n;
    copy.function(copy.value);
    return nullptr;
}

void start_notification(const Timer& t) {
    auto* const n = new Notification{t.function, t.value};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &notify_in_thread, n) != 0) delete n;
    pthread_attr_destroy(&attributes);
}

void expire(Timer& t, int64_t now) {
    int64_t times = 1;
    if (t.interval_ps > 0) {
        times += (now - t.deadline_ps) / t.interval_ps;
        t.deadline_ps += times * t.interval_ps;
    } else {
        t.deadline_ps = INT64_MAX;
    }
    t.overrun = static_cast<int>(times - 1);
    find_next();
    switch (t.notify) {
        case SIGEV_SIGNAL:
            process::raise_from_timer(t.signal_number, t.si_code, reinterpret_cast<int64_t>(t.value.sival_ptr));
            break;
        case SIGEV_THREAD_ID: {
            const long pid = kernel(SYS_getpid);
            kernel(SYS_tgkill, pid, t.thread, t.signal_number);
            break;
        }
        case SIGEV_THREAD:
            start_notification(t);
            break;
        default:
            break;
    }
}

}  // namespace

Timer* timer_at(int index) {
    return &g_timers[index];
}

int allocate_timer() {
    for (int i = kFirstPosixTimer; i < kMaxTimers; ++i) {
        if (g_timers[i].used) continue;
        g_timers[i] = Timer{};
        g_timers[i].used = true;
        return i;
    }
    return -1;
}

void arm(Timer& timer, int64_t deadline_ps, int64_t interval_ps) {
    timer.deadline_ps = deadline_ps;
    timer.interval_ps = interval_ps;
    timer.overrun = 0;
    find_next();
}

int64_t left_ps(const Timer& timer) {
    if (timer.deadline_ps == INT64_MAX) return 0;
    const int64_t left = timer.deadline_ps - turn::now_ps();
    return left > 0 ? left : 1000;  // due, not delivered yet: not 0, which means disarmed
}

void forget_timers() {
    for (Timer& t : g_timers) t = Timer{};
    find_next();
}

int64_t next_timer_ps() {
    return turn::g_process.next_timer_ps.load(std::memory_order_relaxed);
}

void fire_due_timers() {
    const int64_t now = turn::now_ps();
    while (next_timer_ps() <= now) {
        Timer* due = nullptr;
        for (Timer& t : g_timers)
            if (t.deadline_ps <= now && (due == nullptr || t.deadline_ps < due->deadline_ps)) due = &t;
        if (due == nullptr) return;
        expire(*due, now);
    }
}

}  // namespace simverbs::client::clock
