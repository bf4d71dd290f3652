// Condition variables with FIFO tickets. Under the virtual clock the first 24 bytes of a pthread_cond_t hold our state
// instead of glibc's (all zero is the initial state of both); its __wrefs keeps the attributes.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/mutexes.hpp"
#include "verbs_shim/client/process/sync_wait.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(pthread_cond_wait);
SIMVERBS_REAL(pthread_cond_timedwait);
SIMVERBS_REAL(pthread_cond_clockwait);
SIMVERBS_REAL(pthread_cond_signal);
SIMVERBS_REAL(pthread_cond_broadcast);
SIMVERBS_REAL(pthread_cond_destroy);

namespace {

struct Tickets {
    uint64_t next;      ///< given to the next waiter
    uint64_t released;  ///< tickets below this one have been signalled
    uint32_t inside;    ///< waiters that have not left yet
};
static_assert(sizeof(Tickets) <= offsetof(pthread_cond_t, __data.__wrefs));

Tickets& tickets(pthread_cond_t* c) {
    return *reinterpret_cast<Tickets*>(c);
}

// glibc's __wrefs: bit 0 process-shared, bit 1 CLOCK_MONOTONIC.
bool is_shared(const pthread_cond_t* c) {
    return (c->__data.__wrefs & 1) != 0;
}
clockid_t clock_of(const pthread_cond_t* c) {
    return (c->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int wait_for_ticket(pthread_cond_t* c, pthread_mutex_t* m, const char* what, int64_t deadline_ps) {
    turn::InShim guard;
    const bool shared = is_shared(c);
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    Tickets& t = tickets(c);
    const uint64_t mine = t.next++;
    ++t.inside;
    if (const int rc = unlock_mutex(m); rc != 0) {
        t.released = t.next;
        --t.inside;
        return rc;
    }
    int result = 0;
    while (t.released <= mine) {
        const turn::Woken woken = wait_for_notify(c, shared, what, deadline_ps, true);
        if (t.released > mine) break;
        if (woken == turn::Woken::Interrupted) turn::deliver_signals();
        if (turn::cancelled() || woken == turn::Woken::Deadline ||
            (woken == turn::Woken::ServerGone && turn::now_ps() >= deadline_ps)) {
            // This ticket must not eat a signal that is meant for another: everybody draws a new one (a spurious
            // wake-up, which POSIX allows).
            t.released = t.next;
            notify(c, shared);
            result = ETIMEDOUT;
        }
    }
    if (--t.inside == 0) notify(c, shared);  // pthread_cond_destroy may wait for that
    const int rc = lock_mutex(m);
    return rc != 0 ? rc : result;
}

/// Our layout holds for the whole life of a process in a virtual-clock lab, also after the server's end.
bool has_tickets() {
    return turn::in_lab() && turn::lab()->clock_mode == protocol::ClockMode::Virtual;
}

void release(pthread_cond_t* c, bool all) {
    turn::InShim guard;
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    Tickets& t = tickets(c);
    if (t.released >= t.next) return;
    t.released = all ? t.next : t.released + 1;
    notify(c, is_shared(c));
}

}  // namespace

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
    return has_tickets() ? wait_for_ticket(c, m, "pthread_cond_wait", clock::kNever) : real_pthread_cond_wait(c, m);
}

SIMVERBS_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock_id,
                                              const timespec* until) {
    if (!has_tickets()) return real_pthread_cond_clockwait(c, m, clock_id, until);
    if (until->tv_nsec < 0 || until->tv_nsec >= 1'000'000'000) return EINVAL;
    return wait_for_ticket(c, m, "pthread_cond_timedwait", clock::deadline_at(clock_id, until));
}

SIMVERBS_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
    return has_tickets() ? pthread_cond_clockwait(c, m, clock_of(c), until) : real_pthread_cond_timedwait(c, m, until);
}

SIMVERBS_INTERPOSE int pthread_cond_signal(pthread_cond_t* c) {
    if (!has_tickets()) return real_pthread_cond_signal(c);
    release(c, false);
    return 0;
}

SIMVERBS_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* c) {
    if (!has_tickets()) return real_pthread_cond_broadcast(c);
    release(c, true);
    return 0;
}

SIMVERBS_INTERPOSE int pthread_cond_destroy(pthread_cond_t* c) {
    if (!has_tickets()) return real_pthread_cond_destroy(c);
    turn::InShim guard;
    while (tickets(c).inside != 0) {
        const turn::Woken woken = wait_for_notify(c, is_shared(c), "pthread_cond_destroy", clock::kNever);
        if (woken == turn::Woken::Interrupted) turn::deliver_signals();
        if (woken == turn::Woken::ServerGone) break;
    }
    return 0;
}

SIMVERBS_INTERPOSE int cnd_wait(cnd_t* c, mtx_t* m) {
    const int rc = pthread_cond_wait(reinterpret_cast<pthread_cond_t*>(c), reinterpret_cast<pthread_mutex_t*>(m));
    return rc == 0 ? thrd_success : thrd_error;
}
SIMVERBS_INTERPOSE int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
    const int rc =
        pthread_cond_timedwait(reinterpret_cast<pthread_cond_t*>(c), reinterpret_cast<pthread_mutex_t*>(m), until);
    return rc == 0 ? thrd_success : rc == ETIMEDOUT ? thrd_timedout : thrd_error;
}
SIMVERBS_INTERPOSE int cnd_signal(cnd_t* c) {
    pthread_cond_signal(reinterpret_cast<pthread_cond_t*>(c));
    return thrd_success;
}
SIMVERBS_INTERPOSE int cnd_broadcast(cnd_t* c) {
    pthread_cond_broadcast(reinterpret_cast<pthread_cond_t*>(c));
    return thrd_success;
}
