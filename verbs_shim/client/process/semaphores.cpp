// Semaphores, barriers and pthread_once under the turn protocol.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/sync_wait.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(sem_wait);
SIMVERBS_REAL(sem_trywait);
SIMVERBS_REAL(sem_timedwait);
SIMVERBS_REAL(sem_clockwait);
SIMVERBS_REAL(sem_post);
SIMVERBS_REAL(pthread_barrier_wait);
SIMVERBS_REAL(pthread_once);

namespace {

/// glibc's sem_t on 64-bit machines: value and waiters, then FUTEX_PRIVATE_FLAG's complement.
bool is_shared(const sem_t* s) {
    return reinterpret_cast<const int*>(s)[2] != 0;
}

int wait_for_post(sem_t* s, int64_t deadline_ps) {
    turn::InShim guard;
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    for (;;) {
        if (real_sem_trywait(s) == 0) return 0;
        const turn::Woken woken = wait_for_notify(s, is_shared(s), "sem_wait", deadline_ps, true);
        if (real_sem_trywait(s) == 0) return 0;
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) {
            guard.set_errno(EINTR);
            return -1;
        }
        if (woken == turn::Woken::Deadline || (woken == turn::Woken::ServerGone && turn::now_ps() >= deadline_ps)) {
            guard.set_errno(ETIMEDOUT);
            return -1;
        }
    }
}

/// glibc's struct pthread_barrier: in, current_round, count, shared, out. Ours uses the first two its own way and
/// leaves them as pthread_barrier_destroy expects them.
struct Barrier {
    uint32_t in, round, count;
    int32_t shared;
    uint32_t out;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

int wait_at_barrier(pthread_barrier_t* barrier) {
    turn::InShim guard;
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    Barrier& b = *reinterpret_cast<Barrier*>(barrier);
    const uint32_t round = b.round;
    const bool shared = b.shared != 0;
    if (++b.in == b.count) {
        b.in = 0;
        ++b.round;
        notify(barrier, shared);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    // Volatile: another thread changes it while this one has no turn.
    const volatile uint32_t& now = b.round;
    while (now == round) {
        const turn::Woken woken = wait_for_notify(barrier, shared, "pthread_barrier_wait", clock::kNever);
        if (woken == turn::Woken::Interrupted) turn::deliver_signals();
        if (woken == turn::Woken::ServerGone && turn::server_gone() && now != round) break;
    }
    return 0;
}

// glibc's pthread_once_t: bit 0 somebody is at it, bit 1 done.
constexpr int kOnceInProgress = 1;
constexpr int kOnceDone = 2;

}  // namespace

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int sem_wait(sem_t* s) {
    return turn::active() ? wait_for_post(s, clock::kNever) : real_sem_wait(s);
}

SIMVERBS_INTERPOSE int sem_clockwait(sem_t* s, clockid_t clock_id, const timespec* until) {
    if (!turn::active()) return real_sem_clockwait(s, clock_id, until);
    if (until->tv_nsec < 0 || until->tv_nsec >= 1'000'000'000) {
        errno = EINVAL;
        return -1;
    }
    return wait_for_post(s, clock::deadline_at(clock_id, until));
}

SIMVERBS_INTERPOSE int sem_timedwait(sem_t* s, const timespec* until) {
    return turn::active() ? sem_clockwait(s, CLOCK_REALTIME, until) : real_sem_timedwait(s, until);
}

SIMVERBS_INTERPOSE int sem_trywait(sem_t* s) {
    if (!turn::active()) return real_sem_trywait(s);
    int error = 0;
    {
        turn::InShim guard;
        turn::charge(kSyncCallPs);
        turn::checkpoint();
        if (real_sem_trywait(s) != 0) error = errno;
    }
    if (error == 0) return 0;
    errno = error;
    return -1;
}

SIMVERBS_INTERPOSE int sem_post(sem_t* s) {
    const bool active = turn::active();
    const bool shared = active && is_shared(s);
    const int rc = real_sem_post(s);
    if (rc == 0 && active) notify(s, shared);
    return rc;
}

SIMVERBS_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) {
    return turn::active() ? wait_at_barrier(barrier) : real_pthread_barrier_wait(barrier);
}

SIMVERBS_INTERPOSE int pthread_once(pthread_once_t* once, void (*function)()) {
    if (!turn::active() || (*once & kOnceDone) != 0) return real_pthread_once(once, function);
    const volatile pthread_once_t& state = *once;
    while ((state & kOnceInProgress) != 0 && (state & kOnceDone) == 0 && contended(false)) {
        turn::InShim guard;
        if (wait_for_notify(once, false, "pthread_once", clock::kNever) == turn::Woken::Interrupted)
            turn::deliver_signals();
    }
    const int rc = real_pthread_once(once, function);
    if (turn::active()) notify(once, false);
    return rc;
}
