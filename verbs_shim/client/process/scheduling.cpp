// sched_yield, signals to other processes, ending a process, and system calls made by number.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/sync_wait.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(kill);

namespace {

constexpr int64_t kYieldPs = 300'000;
constexpr int64_t kKillPs = 500'000;

/// The first sched_yield lets those go first who are earlier. The second in a row is a spinner: it waits for something
/// that the HCA makes visible, or for another thread of the process to have run; if nothing happens at all its clock
/// goes on in steps.
void yield_turn() {
    turn::ThreadState& t = turn::t_state;
    const uint32_t yields = t.yields_in_a_row;
    turn::InShim guard;
    turn::charge(kYieldPs);
    t.yields_in_a_row = yields + 1;
    if (yields == 0) {
        turn::checkpoint();
        return;
    }
    turn::WaitSet set("sched_yield in a loop");
    set.add_flags(protocol::kWaitVisible | protocol::kWaitReadsClock);
    if (contended(false)) set.add_object(turn::yield_key(), turn::object_value(turn::yield_key()), 0);
    turn::wait(set);
}

/// True if the process has ended (a zombie counts): the signal has killed it.
bool has_ended(pid_t pid) {
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const long fd = kernel(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true;
    const long n = kernel(SYS_read, fd, text, sizeof text - 1);
    kernel(SYS_close, fd);
    if (n <= 0) return true;
    text[n] = '\0';
    const char* const state = strrchr(text, ')');
    return state == nullptr || state[2] == 'Z' || state[2] == 'X';
}

/// Gives a signal that was sent to a sleeping lab process time to arrive there, so that it happens under this turn: it
/// has ended the sleeper's wait, or the sleeper.
void let_signal_arrive(pid_t pid) {
    protocol::LabShared& lab = *turn::lab();
    for (int round = 0; round < 200; ++round) {
        const uint32_t slots = lab.num_slots.load(std::memory_order_relaxed);
        for (uint32_t i = 0; i < slots && i < protocol::kMaxThreads; ++i) {
            const protocol::ThreadSlot& s = lab.slots[i];
            const uint32_t process = s.process;
            if (process >= protocol::kMaxProcesses || lab.processes[process].pid != pid) continue;
            if ((s.slot_flags.load(std::memory_order_acquire) & protocol::kSlotInterrupted) != 0) return;
        }
        if (has_ended(pid)) return;
        kernel(SYS_sched_yield);
    }
}

uint32_t* futex_word(long address) {
    return reinterpret_cast<uint32_t*>(address);
}

/// futex(FUTEX_WAIT) and its relatives under the turn protocol: runtimes with locks of their own (Rust, libstdc++'s
/// atomic waits) call it by number.
long futex_wait(long address, uint32_t value, int64_t deadline_ps, bool shared) {
    turn::InShim guard;
    turn::charge(kSyncCallPs);
    turn::checkpoint();
    if (__atomic_load_n(futex_word(address), __ATOMIC_ACQUIRE) != value) {
        guard.set_errno(EAGAIN);
        return -1;
    }
    const turn::Woken woken = wait_for_notify(reinterpret_cast<void*>(address), shared, "futex", deadline_ps);
    if (woken == turn::Woken::Deadline) {
        guard.set_errno(ETIMEDOUT);
        return -1;
    }
    if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) {
        guard.set_errno(EINTR);
        return -1;
    }
    return 0;
}

/// True if the operation was one of ours; `result` is then what the call returns.
bool futex(const long (&a)[6], long& result) {
    const int op = static_cast<int>(a[1]);
    const bool shared = (op & FUTEX_PRIVATE_FLAG) == 0;
    const bool real_time = (op & FUTEX_CLOCK_REALTIME) != 0;
    const auto* const timeout = reinterpret_cast<const timespec*>(a[3]);
    switch (op & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
            result = futex_wait(a[0], static_cast<uint32_t>(a[2]), clock::deadline_in(timeout), shared);
            return true;
        case FUTEX_WAIT_BITSET:
            result = futex_wait(a[0], static_cast<uint32_t>(a[2]),
                                clock::deadline_at(real_time ? CLOCK_REALTIME : CLOCK_MONOTONIC, timeout), shared);
            return true;
        case FUTEX_WAKE:
        case FUTEX_WAKE_BITSET: {
            turn::InShim guard;
            // Everybody in the bucket looks again, as after a spurious wake-up. How many really slept is not known.
            notify(reinterpret_cast<void*>(a[0]), shared);
            result = kernel(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
            if (result == 0) result = a[2] == 1 ? 1 : 0;
            return true;
        }
        default:
            return false;
    }
}

/// System calls that have an interposed function of the same meaning.
bool by_number(long number, const long (&a)[6], long& result) {
    switch (number) {
        case SYS_futex:
            return futex(a, result);
        case SYS_clock_gettime:
            result = clock_gettime(static_cast<clockid_t>(a[0]), reinterpret_cast<timespec*>(a[1]));
            return true;
        case SYS_nanosleep:
            result = nanosleep(reinterpret_cast<const timespec*>(a[0]), reinterpret_cast<timespec*>(a[1]));
            return true;
        case SYS_getrandom:
            result = getrandom(reinterpret_cast<void*>(a[0]), static_cast<size_t>(a[1]), static_cast<unsigned>(a[2]));
            return true;
        case SYS_sched_yield:
            result = sched_yield();
            return true;
        case SYS_exit_group:
            turn::leave_lab(true);
            return false;
        default:
            return false;
    }
}

}  // namespace

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int sched_yield() {
    turn::start_if_needed();
    if (!turn::active()) return static_cast<int>(kernel(SYS_sched_yield));
    yield_turn();
    return 0;
}

SIMVERBS_INTERPOSE int kill(pid_t pid, int signal_number) {
    if (!turn::active()) return real_kill(pid, signal_number);
    turn::InShim guard;
    turn::charge(kKillPs);
    turn::checkpoint();
    const int rc = real_kill(pid, signal_number);
    if (rc != 0)
        guard.set_errno(errno);
    else if (signal_number != 0 && pid > 0 && pid != getpid())
        let_signal_arrive(pid);
    return rc;
}

SIMVERBS_INTERPOSE void _exit(int status) {
    turn::leave_lab(true);
    for (;;) kernel(SYS_exit_group, status);
}

SIMVERBS_INTERPOSE void _Exit(int status) {
    _exit(status);
}

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) {
    long a[6];
    va_list list;
    va_start(list, number);
    for (long& argument : a) argument = va_arg(list, long);
    va_end(list);
    long result = 0;
    if (turn::active() && turn::t_state.depth == 0) {
        if (by_number(number, a, result)) return result;
        spin::before_syscall();
    }
    return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
