// The border between the program and the shim: depth, errno, and what happens when a thread goes back to the program.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::turn {

namespace {

bool timer_is_due(const ThreadState& t) {
    return t.slot != nullptr && g_process.next_timer_ps.load(std::memory_order_relaxed) <= t.slot->clock_ps;
}

/// Takes the oldest pending signal; its own arrival is kept out meanwhile.
bool take_pending(siginfo_t& info) {
    ThreadState& t = t_state;
    const uint64_t all = ~uint64_t{0};
    uint64_t before = 0;
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    const uint32_t n = t.num_pending;
    if (n != 0) {
        info = t.pending[0];
        for (uint32_t i = 1; i < n; ++i) t.pending[i - 1] = t.pending[i];
        t.num_pending = n - 1;
    }
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
    return n != 0;
}

}  // namespace

InShim::InShim() : saved_errno_(errno) {
    start_if_needed();
    ThreadState& t = t_state;
    if (t.depth == 0) t.failed_errno = 0;
    if (t.depth++ != 0 || t.slot == nullptr) return;
    t.slot->in_shim.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++t.entries;
    t.reads_in_a_row = 0;
    t.yields_in_a_row = 0;
    if (active()) rejoin_if_lost();
}

InShim::~InShim() {
    ThreadState& t = t_state;
    if (t.depth == 1 && t.slot != nullptr) {
        if (process::awaits_child_signals()) process::notify_ended_children();
        if (t.num_pending != 0 || timer_is_due(t)) leave_shim();
        std::atomic_signal_fence(std::memory_order_seq_cst);
        t.slot->in_shim.store(0, std::memory_order_relaxed);
    }
    if (t.depth == 1) spin::protect_again();
    --t.depth;
    // A signal may have come between the last look and here.
    if (t.depth == 0 && t.num_pending != 0) deliver_signals();
    errno = t.failed_errno != 0 ? t.failed_errno : saved_errno_;
    if (t.depth == 0) t.failed_errno = 0;
    if (t.depth == 0 && t.cancelled) {
        t.cancelled = false;
        t.cancel_seen = object_value(t.cancel_key);
        pthread_testcancel();  // unwinds from here
    }
}

int fail(int error) {
    if (t_state.depth != 0) t_state.failed_errno = error;
    errno = error;
    return -1;
}

void leave_shim() {
    if (timer_is_due(t_state)) clock::fire_due_timers();
    deliver_signals();
}

Signals deliver_signals() {
    ThreadState& t = t_state;
    if (t.slot == nullptr) return Signals::None;
    Signals verdict = Signals::None;
    siginfo_t info;
    while (t.num_pending != 0 && take_pending(info)) {
        // The handler is the program's code: it may call anything, and may leave by longjmp.
        const uint32_t depth = t.depth;
        t.depth = 0;
        t.slot->in_shim.store(0, std::memory_order_relaxed);
        const bool restart = process::run_program_handler(info);
        t.depth = depth;
        if (depth != 0) t.slot->in_shim.store(1, std::memory_order_relaxed);
        if (!restart)
            verdict = Signals::Interrupt;
        else if (verdict == Signals::None)
            verdict = Signals::Restart;
    }
    return t.cancelled ? Signals::Interrupt : verdict;
}

}  // namespace simverbs::client::turn
