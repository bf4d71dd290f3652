#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <errno.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/signal_mask.hpp"
#include "verbs_shim/client/process/threads.hpp"
#include "verbs_shim/client/spin/fault.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(sigaction);

namespace {

constexpr int kSignals = 65;
/// The shim's own; what the program wants of them comes second (kHiddenSignals has the same ones).
constexpr int kNeeded[] = {SIGSEGV, SIGTRAP, protocol::kProbeSignal};

/// What the program asked for; `managed` where the kernel has our dispatcher instead.
struct Entry {
    struct sigaction action;
    bool managed;
};
Entry g_entries[kSignals];

bool is_function(const struct sigaction& a) {
    return a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN;
}

/// A fault of the instruction at hand, which cannot wait.
bool is_synchronous(int signal_number, const siginfo_t& info) {
    switch (signal_number) {
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGTRAP:
            return info.si_code > 0;
        case SIGABRT:
            return true;
        default:
            return false;
    }
}

void call(const struct sigaction& a, int signal_number, siginfo_t* info, void* context) {
    if ((a.sa_flags & SA_SIGINFO) != 0)
        a.sa_sigaction(signal_number, info, context);
    else
        a.sa_handler(signal_number);
}

void dispatch(int signal_number, siginfo_t* info, void* context) {
    const int saved = errno;
    if (signal_number == SIGCHLD && turn::active() && keep_child_signal()) {
        // Queued when the child's end can be seen; if it already can, when the shim is left next.
    } else if (turn::must_defer_signals() && !is_synchronous(signal_number, *info)) {
        turn::defer_signal(*info);
    } else {
        Entry& e = g_entries[signal_number];
        const struct sigaction a = e.action;
        if ((a.sa_flags & SA_RESETHAND) != 0) e.action.sa_handler = SIG_DFL;
        if (is_function(a)) call(a, signal_number, info, context);
    }
    errno = saved;
}

/// What the kernel gets for a program's handler.
struct sigaction wrapped(const struct sigaction& a) {
    struct sigaction ours = a;
    ours.sa_sigaction = &dispatch;
    ours.sa_flags = (a.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    for (const int s : kNeeded) sigdelset(&ours.sa_mask, s);
    return ours;
}

bool is_hidden(int signal_number) {
    return std::find(std::begin(kNeeded), std::end(kNeeded), signal_number) != std::end(kNeeded);
}

void on_fault(int signal_number, siginfo_t* info, void* context) {
    const int saved = errno;
    if (!spin::handle_fault(signal_number, info, context)) forward_fault(signal_number, info, context);
    errno = saved;
}

void on_probe(int, siginfo_t*, void* context) {
    const int saved = errno;
    spin::handle_probe(context);
    errno = saved;
}

int change(int signal_number, const struct sigaction* wanted, struct sigaction* old) {
    Entry& e = g_entries[signal_number];
    struct sigaction before = e.action;
    const bool was_managed = e.managed;
    if (wanted == nullptr) {
        if (was_managed) {
            if (old != nullptr) *old = before;
            return 0;
        }
        return real_sigaction(signal_number, nullptr, old);
    }
    const struct sigaction request = *wanted;
    if (is_hidden(signal_number)) {
        e.action = request;
    } else if (is_function(request)) {
        e.action = request;
        const struct sigaction ours = wrapped(request);
        struct sigaction kernel_old;
        if (const int rc = real_sigaction(signal_number, &ours, &kernel_old); rc != 0) {
            e.action = before;
            return rc;
        }
        e.managed = true;
        if (!was_managed) before = kernel_old;
    } else {
        struct sigaction kernel_old;
        if (const int rc = real_sigaction(signal_number, &request, &kernel_old); rc != 0) return rc;
        e.managed = false;
        e.action = request;
        if (!was_managed) before = kernel_old;
    }
    if (old != nullptr) *old = before;
    return 0;
}

}  // namespace

void install_handlers() {
    if (!turn::g_process.virtual_clock.load(std::memory_order_relaxed)) return;
    struct sigaction ours {};
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    // No mask: alarms must reach a thread that waits inside the fault handler.
    for (const int s : {SIGSEGV, SIGTRAP}) {
        ours.sa_sigaction = &on_fault;
        real_sigaction(s, &ours, &g_entries[s].action);
        g_entries[s].managed = true;
    }
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    ours.sa_sigaction = &on_probe;
    real_sigaction(protocol::kProbeSignal, &ours, &g_entries[protocol::kProbeSignal].action);
    g_entries[protocol::kProbeSignal].managed = true;
    unblock_hidden_signals();
}

bool has_program_handler(int signal_number) {
    return signal_number > 0 && signal_number < kSignals && is_function(g_entries[signal_number].action);
}

bool run_program_handler(const siginfo_t& info) {
    const int s = info.si_signo;
    if (s <= 0 || s >= kSignals) return true;
    Entry& e = g_entries[s];
    const struct sigaction a = e.action;
    if (!is_function(a)) return true;
    if ((a.sa_flags & SA_RESETHAND) != 0) e.action.sa_handler = SIG_DFL;
    uint64_t block = 0;
    memcpy(&block, &a.sa_mask, sizeof block);
    if ((a.sa_flags & SA_NODEFER) == 0) block |= uint64_t{1} << (s - 1);
    block &= ~kHiddenSignals;
    uint64_t before = 0;
    kernel(SYS_rt_sigprocmask, SIG_BLOCK, &block, &before, sizeof block);
    siginfo_t copy = info;
    ucontext_t context{};
    memcpy(&context.uc_sigmask, &before, sizeof before);
    call(a, s, &copy, &context);
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
    return (a.sa_flags & SA_RESTART) != 0;
}

void forward_fault(int signal_number, siginfo_t* info, void* context) {
    Entry& e = g_entries[signal_number];
    const struct sigaction a = e.action;
    if (is_function(a)) {
        if ((a.sa_flags & SA_RESETHAND) != 0) e.action.sa_handler = SIG_DFL;
        // The program's handler runs with the mask that it would have had.
        auto* const u = static_cast<ucontext_t*>(context);
        uint64_t mask = 0, extra = 0;
        memcpy(&mask, &u->uc_sigmask, sizeof mask);
        memcpy(&extra, &a.sa_mask, sizeof extra);
        mask = (mask | extra | (uint64_t{1} << (signal_number - 1))) & ~kHiddenSignals;
        kernel(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
        call(a, signal_number, info, context);
        return;
    }
    if (a.sa_handler == SIG_IGN && info->si_code <= 0) return;  // sent with kill()
    struct sigaction fatal {};
    fatal.sa_handler = SIG_DFL;
    real_sigaction(signal_number, &fatal, nullptr);
    // A fault happens again at the same instruction; what somebody sent must be sent again.
    if (info->si_code <= 0) kernel(SYS_tgkill, kernel(SYS_getpid), kernel(SYS_gettid), signal_number);
}

void raise_from_timer(int signal_number, int si_code, int64_t value) {
    siginfo_t info{};
    info.si_signo = signal_number;
    info.si_code = si_code;
    info.si_value.sival_ptr = reinterpret_cast<void*>(value);
    const int pid = static_cast<int>(kernel(SYS_getpid));
    const int self = static_cast<int>(kernel(SYS_gettid));
    info.si_pid = pid;
    info.si_uid = static_cast<uid_t>(kernel(SYS_getuid));
    const int target = thread_for_signal(pid, self, signal_number);
    // A queued signal with si_code >= 0 may be sent to oneself only; the main thread of one's own process counts.
    kernel(SYS_rt_tgsigqueueinfo, pid, target, signal_number, &info);
}

}  // namespace simverbs::client::process

using namespace simverbs::client;

SIMVERBS_INTERPOSE int sigaction(int signal_number, const struct sigaction* action, struct sigaction* old) {
    turn::start_if_needed();
    if (!turn::in_lab() || turn::g_process.lab->clock_mode != simverbs::protocol::ClockMode::Virtual ||
        signal_number <= 0 || signal_number >= process::kSignals)
        return process::real_sigaction(signal_number, action, old);
    return process::change(signal_number, action, old);
}

namespace {

using Handler = void (*)(int);

Handler set_handler(int signal_number, Handler handler, int flags) {
    struct sigaction wanted {};
    struct sigaction old {};
    wanted.sa_handler = handler;
    wanted.sa_flags = flags;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(signal_number, &wanted, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // namespace

SIMVERBS_INTERPOSE Handler signal(int signal_number, Handler handler) {
    return set_handler(signal_number, handler, SA_RESTART);
}
SIMVERBS_INTERPOSE Handler bsd_signal(int signal_number, Handler handler) {
    return set_handler(signal_number, handler, SA_RESTART);
}
SIMVERBS_INTERPOSE Handler sysv_signal(int signal_number, Handler handler) {
    return set_handler(signal_number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}
SIMVERBS_INTERPOSE Handler __sysv_signal(int signal_number, Handler handler) {
    return set_handler(signal_number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}
