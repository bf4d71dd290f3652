// Signal masks, and the calls that wait for a signal.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/signal_mask.hpp"
#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(sigprocmask);
SIMVERBS_REAL(pthread_sigmask);
SIMVERBS_REAL(sigsuspend);
SIMVERBS_REAL(pause);
SIMVERBS_REAL(sigtimedwait);

namespace {

/// Hidden signals that the program believes to have blocked in this thread.
thread_local uint64_t t_believed __attribute__((tls_model("initial-exec"))) = 0;

uint64_t to_bits(const sigset_t& s) {
    uint64_t bits = 0;
    memcpy(&bits, &s, sizeof bits);
    return bits;
}

void from_bits(uint64_t bits, sigset_t& s) {
    memset(&s, 0, sizeof s);
    memcpy(&s, &bits, sizeof bits);
}

uint64_t kernel_mask(int how, uint64_t bits) {
    uint64_t before = 0;
    kernel(SYS_rt_sigprocmask, how, &bits, &before, sizeof bits);
    return before;
}

bool shields_hidden() {
    turn::start_if_needed();
    return turn::in_lab() && turn::g_process.lab->clock_mode == protocol::ClockMode::Virtual;
}

/// sigprocmask and pthread_sigmask: returns an errno.
int change_mask(int how, const sigset_t* set, sigset_t* old) {
    if (set != nullptr && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) return EINVAL;
    const uint64_t believed = t_believed;
    uint64_t before = 0;
    if (set == nullptr) {
        before = kernel_mask(SIG_BLOCK, 0);
    } else {
        const uint64_t bits = to_bits(*set);
        const uint64_t hidden = bits & kHiddenSignals;
        if (how == SIG_BLOCK)
            t_believed |= hidden;
        else if (how == SIG_UNBLOCK)
            t_believed &= ~hidden;
        else
            t_believed = hidden;
        // glibc keeps its own two signals (32, 33) out of every mask.
        constexpr uint64_t kOfGlibc = (uint64_t{1} << 31) | (uint64_t{1} << 32);
        before = kernel_mask(how, bits & ~(how == SIG_UNBLOCK ? 0 : (kHiddenSignals | kOfGlibc)));
    }
    if (old != nullptr) from_bits(before | believed, *old);
    return 0;
}

/// Waits until a signal has been kept for this thread, or the deadline.
turn::Woken wait_for_signal(const char* what, int64_t deadline_ps) {
    turn::WaitSet set(what);
    set.add_deadline(deadline_ps);
    return turn::wait(set);
}

/// Takes a kept signal of `bits` off this thread's list.
bool take_kept(uint64_t bits, siginfo_t& out) {
    turn::ThreadState& t = turn::t_state;
    const uint64_t before = kernel_mask(SIG_SETMASK, ~uint64_t{0});
    bool found = false;
    for (uint32_t i = 0; i < t.num_pending && !found; ++i) {
        if ((bits >> (t.pending[i].si_signo - 1) & 1) == 0) continue;
        out = t.pending[i];
        for (uint32_t k = i + 1; k < t.num_pending; ++k) t.pending[k - 1] = t.pending[k];
        t.num_pending = t.num_pending - 1;
        found = true;
    }
    kernel_mask(SIG_SETMASK, before);
    return found;
}

void ignore_handler(int) {}

/// sigtimedwait under the turn protocol. The signals are blocked by the program, so that nothing would end the wait:
/// they are opened for its time, with a handler where the program has none, and kept by the dispatcher.
int wait_in_set(const sigset_t* set, siginfo_t* info, int64_t deadline_ps) {
    const timespec none{0, 0};
    const uint64_t bits = to_bits(*set) & ~kHiddenSignals;
    siginfo_t taken{};
    struct sigaction old[65];
    uint64_t changed = 0;
    for (int s = 1; s < 65; ++s) {
        if ((bits >> (s - 1) & 1) == 0 || s == SIGKILL || s == SIGSTOP || s == 32 || s == 33) continue;
        if (has_program_handler(s)) continue;
        struct sigaction catcher {};
        catcher.sa_handler = &ignore_handler;
        sigfillset(&catcher.sa_mask);
        if (sigaction(s, &catcher, &old[s]) == 0) changed |= uint64_t{1} << (s - 1);
    }
    int result = -1, error = EAGAIN;
    for (;;) {
        // A child's signal counts from when its end can be seen: not the one that is pending in the kernel.
        sigset_t elsewhere = *set;
        if (awaits_child_signals()) sigdelset(&elsewhere, SIGCHLD);
        const int got = real_sigtimedwait(&elsewhere, &taken, &none);
        if (got > 0 || take_kept(bits, taken)) {
            result = taken.si_signo;
            break;
        }
        if (turn::t_state.num_pending != 0) {
            turn::deliver_signals();
            error = EINTR;
            break;
        }
        const uint64_t before = kernel_mask(SIG_UNBLOCK, bits);
        notify_ended_children();
        const turn::Woken woken = wait_for_signal("sigwait", deadline_ps);
        kernel_mask(SIG_SETMASK, before);
        if (take_kept(bits, taken)) {
            result = taken.si_signo;
            break;
        }
        if (woken == turn::Woken::Deadline || woken == turn::Woken::ServerGone) break;
    }
    for (int s = 1; s < 65; ++s)
        if ((changed >> (s - 1) & 1) != 0) sigaction(s, &old[s], nullptr);
    if (result < 0)
        errno = error;
    else if (info != nullptr)
        *info = taken;
    return result;
}

int suspend(const sigset_t* mask, const char* what) {
    turn::InShim guard;
    uint64_t before = 0;
    if (mask != nullptr) before = kernel_mask(SIG_SETMASK, to_bits(*mask) & ~kHiddenSignals);
    for (;;) {
        notify_ended_children();
        // A signal that only ends the wait of a thread without a handler for it runs nothing: go on.
        if (turn::deliver_signals() != turn::Signals::None) break;
        if (wait_for_signal(what, clock::kNever) == turn::Woken::ServerGone) break;
    }
    if (mask != nullptr) kernel_mask(SIG_SETMASK, before);
    guard.set_errno(EINTR);
    return -1;
}

}  // namespace

void unblock_hidden_signals() {
    t_believed = kernel_mask(SIG_UNBLOCK, kHiddenSignals) & kHiddenSignals;
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
    return shields_hidden() ? change_mask(how, set, old) : real_pthread_sigmask(how, set, old);
}

SIMVERBS_INTERPOSE int sigprocmask(int how, const sigset_t* set, sigset_t* old) {
    if (!shields_hidden()) return real_sigprocmask(how, set, old);
    const int error = change_mask(how, set, old);
    if (error == 0) return 0;
    errno = error;
    return -1;
}

SIMVERBS_INTERPOSE int sigsuspend(const sigset_t* mask) {
    turn::start_if_needed();
    return turn::active() ? suspend(mask, "sigsuspend") : real_sigsuspend(mask);
}

SIMVERBS_INTERPOSE int pause() {
    turn::start_if_needed();
    return turn::active() ? suspend(nullptr, "pause") : real_pause();
}

SIMVERBS_INTERPOSE int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
    if (!turn::active()) return real_sigtimedwait(set, info, timeout);
    turn::InShim guard;
    const int result = wait_in_set(set, info, clock::deadline_in(timeout));
    guard.set_errno(errno);
    return result;
}

SIMVERBS_INTERPOSE int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    return sigtimedwait(set, info, nullptr);
}

SIMVERBS_INTERPOSE int sigwait(const sigset_t* set, int* signal_number) {
    for (;;) {
        const int got = sigtimedwait(set, nullptr, nullptr);
        if (got > 0) {
            *signal_number = got;
            return 0;
        }
        if (errno != EINTR) return errno;
    }
}
