// Mutexes, spin locks, reader-writer locks: try; if taken, wait under the turn protocol and try again. The state stays
// glibc's own, so that code that we don't see (robust lists, condition variables of the libc) agrees with it.
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/mutexes.hpp"
#include "verbs_shim/client/process/sync_wait.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(pthread_mutex_lock);
SIMVERBS_REAL(pthread_mutex_trylock);
SIMVERBS_REAL(pthread_mutex_timedlock);
SIMVERBS_REAL(pthread_mutex_clocklock);
SIMVERBS_REAL(pthread_mutex_unlock);
SIMVERBS_REAL(pthread_spin_lock);
SIMVERBS_REAL(pthread_spin_trylock);
SIMVERBS_REAL(pthread_spin_unlock);
SIMVERBS_REAL(pthread_rwlock_rdlock);
SIMVERBS_REAL(pthread_rwlock_wrlock);
SIMVERBS_REAL(pthread_rwlock_tryrdlock);
SIMVERBS_REAL(pthread_rwlock_trywrlock);
SIMVERBS_REAL(pthread_rwlock_timedrdlock);
SIMVERBS_REAL(pthread_rwlock_timedwrlock);
SIMVERBS_REAL(pthread_rwlock_clockrdlock);
SIMVERBS_REAL(pthread_rwlock_clockwrlock);
SIMVERBS_REAL(pthread_rwlock_unlock);

namespace {

// glibc's pthread_mutex_t::__data.__kind.
constexpr int kPsharedBit = 128;
constexpr int kTypeMask = 3;

bool is_shared(const pthread_mutex_t* m) {
    return (m->__data.__kind & kPsharedBit) != 0;
}
bool is_shared(const pthread_rwlock_t* l) {
    return l->__data.__shared != 0;
}
bool is_shared(const pthread_spinlock_t*) {
    return false;
}

/// A normal mutex that its owner locks again never comes free; the error-checking kind says so.
bool own_error_check(const pthread_mutex_t* m) {
    return (m->__data.__kind & kTypeMask) == PTHREAD_MUTEX_ERRORCHECK &&
           m->__data.__owner == static_cast<int>(kernel(SYS_gettid));
}
bool own_error_check(const pthread_rwlock_t* l) {
    return l->__data.__cur_writer == static_cast<int>(kernel(SYS_gettid));
}
bool own_error_check(const pthread_spinlock_t*) {
    return false;
}

template <typename Lock, typename Try>
int lock_under_turn(Lock* lock, Try&& try_lock, const char* what, int64_t deadline_ps) {
    const bool shared = is_shared(lock);
    if (!contended(shared)) {
        const int rc = try_lock(lock);
        if (rc != EBUSY) return rc;
    }
    turn::InShim guard;
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    for (;;) {
        const int rc = try_lock(lock);
        if (rc != EBUSY) return rc;
        if (own_error_check(lock)) return EDEADLK;
        const turn::Woken woken = wait_for_notify(lock, shared, what, deadline_ps);
        if (woken == turn::Woken::Interrupted) turn::deliver_signals();
        if (woken == turn::Woken::Deadline) return try_lock(lock) == 0 ? 0 : ETIMEDOUT;
        if (woken == turn::Woken::ServerGone && turn::now_ps() >= deadline_ps) return ETIMEDOUT;
    }
}

template <typename Lock, typename Try>
int try_under_turn(Lock* lock, Try&& try_lock) {
    if (turn::active() && contended(is_shared(lock))) {
        turn::InShim guard;
        turn::charge(kSyncCallPs);
        turn::checkpoint();
        return try_lock(lock);
    }
    return try_lock(lock);
}

template <typename Lock, typename Unlock>
int unlock_and_notify(Lock* lock, Unlock&& unlock) {
    const bool shared = turn::active() && is_shared(lock);  // read before the memory may be gone
    const int rc = unlock(lock);
    if (rc == 0 && turn::active()) notify(lock, shared);
    return rc;
}

bool bad_time(const timespec* t) {
    return t->tv_nsec < 0 || t->tv_nsec >= 1'000'000'000;
}

}  // namespace

int lock_mutex(pthread_mutex_t* m) {
    return lock_under_turn(m, real_pthread_mutex_trylock.get(), "pthread_mutex_lock", clock::kNever);
}

int unlock_mutex(pthread_mutex_t* m) {
    return unlock_and_notify(m, real_pthread_mutex_unlock.get());
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* m) {
    return turn::active() ? lock_mutex(m) : real_pthread_mutex_lock(m);
}

SIMVERBS_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* m) {
    return try_under_turn(m, real_pthread_mutex_trylock.get());
}

SIMVERBS_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock_id, const timespec* until) {
    if (!turn::active()) return real_pthread_mutex_clocklock(m, clock_id, until);
    if (bad_time(until)) return EINVAL;
    return lock_under_turn(m, real_pthread_mutex_trylock.get(), "pthread_mutex_timedlock",
                           clock::deadline_at(clock_id, until));
}

SIMVERBS_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) {
    return turn::active() ? pthread_mutex_clocklock(m, CLOCK_REALTIME, until) : real_pthread_mutex_timedlock(m, until);
}

SIMVERBS_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* m) {
    return unlock_mutex(m);
}

SIMVERBS_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* l) {
    return turn::active() ? lock_under_turn(l, real_pthread_spin_trylock.get(), "pthread_spin_lock", clock::kNever)
                          : real_pthread_spin_lock(l);
}

SIMVERBS_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* l) {
    return try_under_turn(l, real_pthread_spin_trylock.get());
}

SIMVERBS_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* l) {
    return unlock_and_notify(l, real_pthread_spin_unlock.get());
}

SIMVERBS_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
    return turn::active()
               ? lock_under_turn(l, real_pthread_rwlock_tryrdlock.get(), "pthread_rwlock_rdlock", clock::kNever)
               : real_pthread_rwlock_rdlock(l);
}

SIMVERBS_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
    return turn::active()
               ? lock_under_turn(l, real_pthread_rwlock_trywrlock.get(), "pthread_rwlock_wrlock", clock::kNever)
               : real_pthread_rwlock_wrlock(l);
}

SIMVERBS_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
    return try_under_turn(l, real_pthread_rwlock_tryrdlock.get());
}

SIMVERBS_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
    return try_under_turn(l, real_pthread_rwlock_trywrlock.get());
}

SIMVERBS_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock_id, const timespec* until) {
    if (!turn::active()) return real_pthread_rwlock_clockrdlock(l, clock_id, until);
    if (bad_time(until)) return EINVAL;
    return lock_under_turn(l, real_pthread_rwlock_tryrdlock.get(), "pthread_rwlock_timedrdlock",
                           clock::deadline_at(clock_id, until));
}

SIMVERBS_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock_id, const timespec* until) {
    if (!turn::active()) return real_pthread_rwlock_clockwrlock(l, clock_id, until);
    if (bad_time(until)) return EINVAL;
    return lock_under_turn(l, real_pthread_rwlock_trywrlock.get(), "pthread_rwlock_timedwrlock",
                           clock::deadline_at(clock_id, until));
}

SIMVERBS_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) {
    return turn::active() ? pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, until)
                          : real_pthread_rwlock_timedrdlock(l, until);
}

SIMVERBS_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) {
    return turn::active() ? pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, until)
                          : real_pthread_rwlock_timedwrlock(l, until);
}

SIMVERBS_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* l) {
    return unlock_and_notify(l, real_pthread_rwlock_unlock.get());
}

// C11 threads: glibc's types are the same underneath, but its functions call past us.
SIMVERBS_INTERPOSE int mtx_lock(mtx_t* m) {
    const int rc = pthread_mutex_lock(reinterpret_cast<pthread_mutex_t*>(m));
    return rc == 0 ? thrd_success : thrd_error;
}
SIMVERBS_INTERPOSE int mtx_unlock(mtx_t* m) {
    return pthread_mutex_unlock(reinterpret_cast<pthread_mutex_t*>(m)) == 0 ? thrd_success : thrd_error;
}
