#include "verbs_shim/client/process/children.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/process.hpp"
#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(wait4);
SIMVERBS_REAL(waitid);

namespace {

struct Child {
    pid_t pid;  ///< 0: free entry
    uint32_t process;
    uint64_t seen;  ///< value of its exit object when it was made (indices are used again)
    bool notified;  ///< the SIGCHLD of its end has been queued
};
constexpr uint32_t kMaxChildren = protocol::kMaxProcesses;
Child g_children[kMaxChildren];
uint32_t g_num_children = 0;  ///< entries in use lie below

/// Value of the exit object when the slot was reserved, per slot of this process's reservations in flight: a child may
/// crash before its parent comes to add_child.
thread_local uint64_t t_seen_at_reserve __attribute__((tls_model("initial-exec"))) = 0;

bool has_ended(const Child& c) {
    return turn::object_value(exit_key(c.process)) != c.seen;
}

/// Its end lies in this thread's past.
bool can_be_seen(const Child& c) {
    return has_ended(c) && turn::object_stamp(exit_key(c.process)) + kChildExitPs <= turn::now_ps();
}

bool matches(const Child& c, pid_t wanted) {
    if (c.pid == 0) return false;
    if (wanted > 0) return c.pid == wanted;
    if (wanted == -1) return true;
    return getpgid(c.pid) == (wanted == 0 ? getpgrp() : -wanted);
}

void remove(pid_t pid) {
    for (uint32_t i = 0; i < g_num_children; ++i)
        if (g_children[i].pid == pid) g_children[i].pid = 0;
    while (g_num_children > 0 && g_children[g_num_children - 1].pid == 0) --g_num_children;
}

/// The child that ended first (ties: the older one) among those whose end can be seen; null if none.
const Child* next_ended(pid_t wanted) {
    const Child* best = nullptr;
    for (uint32_t i = 0; i < g_num_children; ++i) {
        const Child& c = g_children[i];
        if (!matches(c, wanted) || !can_be_seen(c)) continue;
        if (best == nullptr || turn::object_stamp(exit_key(c.process)) < turn::object_stamp(exit_key(best->process)))
            best = &c;
    }
    return best;
}

/// wait4 under the turn protocol; -1 with `error` set.
pid_t wait_for_child(pid_t wanted, int* status, int options, rusage* usage, int& error) {
    constexpr int64_t kCallPs = 500'000;
    turn::charge(kCallPs);
    turn::checkpoint();
    for (;;) {
        bool watched = false;
        for (uint32_t i = 0; i < g_num_children; ++i) watched = watched || matches(g_children[i], wanted);
        if (!watched || (options & (WUNTRACED | WCONTINUED)) != 0) {
            // Not a child of the lab's, or stops matter: what the kernel knows now counts.
            const pid_t got = real_wait4(wanted, status, options | WNOHANG, usage);
            error = errno;
            if (got > 0) remove(got);
            if (got != 0) return got;
            if (!watched && (options & WNOHANG) == 0) {
                const pid_t late = real_wait4(wanted, status, options, usage);
                error = errno;
                return late;
            }
        }
        if (const Child* c = next_ended(wanted)) {
            const pid_t pid = c->pid;
            const pid_t got = real_wait4(pid, status, options & ~(WNOHANG | WUNTRACED | WCONTINUED), usage);
            error = errno;
            remove(pid);
            return got;
        }
        if ((options & WNOHANG) != 0) return 0;
        turn::WaitSet set("waitpid");
        for (uint32_t i = 0; i < g_num_children; ++i)
            if (matches(g_children[i], wanted))
                set.add_object(exit_key(g_children[i].process), g_children[i].seen, kChildExitPs);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) {
            error = EINTR;
            return -1;
        }
        if (woken == turn::Woken::ServerGone) {
            const pid_t got = real_wait4(wanted, status, options, usage);
            error = errno;
            return got;
        }
    }
}

}  // namespace

uint64_t exit_key(uint32_t process) {
    return object_key(protocol::ObjectKind::Process, process);
}

uint32_t reserve_child() {
    protocol::ReserveSlotRequest request{};
    request.h.op = protocol::Op::ReserveSlot;
    request.h.bytes = sizeof request;
    request.kind = 1;
    protocol::ReserveSlotReply reply{};
    if (turn::control(&request, &reply, sizeof reply) != 0 || reply.slot >= protocol::kMaxThreads)
        return protocol::kNoItem;
    protocol::ThreadSlot& slot = turn::lab()->slots[reply.slot];
    slot.clock_ps = turn::now_ps() + kForkPs;
    t_seen_at_reserve = turn::object_value(exit_key(slot.process));
    return reply.slot;
}

void give_back_child(uint32_t slot) {
    turn::lab()->slots[slot].turn.store(static_cast<uint32_t>(protocol::Turn::Free), std::memory_order_release);
}

void add_child(pid_t pid, uint32_t slot) {
    const uint32_t process = turn::lab()->slots[slot].process;
    for (Child& c : g_children) {
        if (c.pid != 0) continue;
        c = {pid, process, t_seen_at_reserve, false};
        const auto index = static_cast<uint32_t>(&c - g_children);
        if (index >= g_num_children) g_num_children = index + 1;
        return;
    }
}

void forget_children() {
    for (Child& c : g_children) c.pid = 0;
    g_num_children = 0;
}

bool awaits_child_signals() {
    return g_num_children != 0 && has_program_handler(SIGCHLD);
}

void watch_children(protocol::Wait& wait) {
    if (!awaits_child_signals()) return;
    for (uint32_t i = 0; i < g_num_children && wait.num_items < protocol::kMaxWaitItems; ++i) {
        const Child& c = g_children[i];
        if (c.pid != 0 && !can_be_seen(c))
            wait.items[wait.num_items++] = {protocol::WaitKind::Object, 0, exit_key(c.process), c.seen, kChildExitPs};
    }
}

bool keep_child_signal() {
    return g_num_children != 0;
}

bool notify_ended_children() {
    if (!awaits_child_signals()) return false;
    bool any = false;
    for (uint32_t i = 0; i < g_num_children; ++i) {
        Child& c = g_children[i];
        if (c.pid == 0 || c.notified || !can_be_seen(c)) continue;
        // Blocked: the kernel's own is pending and comes when it is unblocked.
        uint64_t blocked = 0;
        kernel(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked);
        if ((blocked >> (SIGCHLD - 1) & 1) != 0) return any;
        siginfo_t info{};
        info.si_signo = SIGCHLD;
        info.si_code = CLD_EXITED;
        real_waitid(P_PID, static_cast<id_t>(c.pid), &info, WEXITED | WNOHANG | WNOWAIT);
        info.si_signo = SIGCHLD;
        info.si_pid = c.pid;
        c.notified = true;
        any = true;
        turn::defer_signal(info);
    }
    return any;
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE pid_t wait4(pid_t pid, int* status, int options, rusage* usage) {
    turn::start_if_needed();
    if (!turn::active()) return real_wait4(pid, status, options, usage);
    turn::InShim guard;
    int error = 0;
    const pid_t got = wait_for_child(pid, status, options, usage, error);
    if (got < 0) guard.set_errno(error);
    return got;
}

SIMVERBS_INTERPOSE pid_t waitpid(pid_t pid, int* status, int options) {
    return wait4(pid, status, options, nullptr);
}
SIMVERBS_INTERPOSE pid_t wait(int* status) {
    return wait4(-1, status, 0, nullptr);
}
SIMVERBS_INTERPOSE pid_t wait3(int* status, int options, rusage* usage) {
    return wait4(-1, status, options, usage);
}

SIMVERBS_INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
    turn::start_if_needed();
    if (!turn::active() || (options & WEXITED) == 0) return real_waitid(type, id, info, options);
    pid_t wanted = -1;
    if (type == P_PID)
        wanted = static_cast<pid_t>(id);
    else if (type == P_PGID)
        wanted = -static_cast<pid_t>(id);
    else if (type != P_ALL)
        return real_waitid(type, id, info, options);
    turn::InShim guard;
    turn::checkpoint();
    for (;;) {
        const Child* c = next_ended(wanted);
        if (c != nullptr) {
            const pid_t pid = c->pid;
            const int rc = real_waitid(P_PID, static_cast<id_t>(pid), info, options & ~WNOHANG);
            if (rc != 0) guard.set_errno(errno);
            if (rc == 0 && (options & WNOWAIT) == 0) remove(pid);
            return rc;
        }
        if ((options & WNOHANG) != 0 || g_num_children == 0) {
            const int rc = g_num_children == 0 ? real_waitid(type, id, info, options) : 0;
            if (rc != 0) guard.set_errno(errno);
            if (g_num_children != 0 && info != nullptr) *info = siginfo_t{};
            return rc;
        }
        turn::WaitSet set("waitid");
        for (uint32_t i = 0; i < g_num_children; ++i)
            if (matches(g_children[i], wanted))
                set.add_object(exit_key(g_children[i].process), g_children[i].seen, kChildExitPs);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) return real_waitid(type, id, info, options);
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) {
            guard.set_errno(EINTR);
            return -1;
        }
    }
}
