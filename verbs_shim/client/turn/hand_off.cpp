#include "verbs_shim/client/turn/hand_off.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <errno.h>
#include <signal.h>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::turn {

using protocol::LabShared;
using protocol::ThreadSlot;
using protocol::Turn;
using protocol::Yield;

namespace {

constexpr timespec kLookAfterServer{1, 0};

thread_local protocol::TurnWait t_turn_wait __attribute__((tls_model("initial-exec")));

/// Room for the next at once, unless this thread is the next. On the server's core nobody gains by looking.
protocol::Spin spin_of(const LabShared& lab, uint32_t core) {
    if (core == 0 || core == lab.server_core.load(std::memory_order_relaxed)) return {};
    return {t_turn_wait.next.myself() ? protocol::kLongSpin : 0, protocol::kShortSpin};
}

void wake_server(LabShared& lab) {
    lab.server_word.fetch_add(1, std::memory_order_seq_cst);
    if (lab.server_sleeps.load(std::memory_order_seq_cst) != 0) raw_futex(&lab.server_word, FUTEX_WAKE, 1, nullptr);
}

}  // namespace

int64_t real_monotonic_ns() {
    return RawSystem::now_ns();
}

uint64_t yield_key() {
    return object_key(protocol::ObjectKind::ProcessSync, g_process.process);
}

void lose_server() {
    ProcessState& p = g_process;
    if (p.gone.load(std::memory_order_acquire)) return;
    p.gone_clock_ps = t_state.slot != nullptr ? t_state.slot->clock_ps : now_ps();
    p.gone_real_ns = real_monotonic_ns();
    p.virtual_clock.store(false, std::memory_order_release);
    p.gone.store(true, std::memory_order_release);
    connection::note_server_gone();
}

bool hand_off(Yield yield) {
    ThreadState& t = t_state;
    LabShared& lab = *g_process.lab;
    ThreadSlot& s = *t.slot;
    if (server_gone()) return false;
    if (yield != Yield::Wait && g_process.threads.load(std::memory_order_relaxed) > 1) object_bump(yield_key());

    connection::count(yield == Yield::Wait ? protocol::Stat::Waits : protocol::Stat::Yields);
    s.yield = static_cast<uint32_t>(yield);
    const auto core = static_cast<uint32_t>(sched_getcpu() + 1);
    s.core.store(core, std::memory_order_relaxed);
    const uint32_t grant_before = s.grant;
    t.waiting = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    s.turn.store(static_cast<uint32_t>(Turn::Waiting), std::memory_order_release);
    wake_server(lab);
    const auto granted = [&s] {
        return s.turn.load(std::memory_order_seq_cst) == static_cast<uint32_t>(Turn::Running);
    };
    const auto ours = [&] {
        const ThreadSlot& holder = lab.slots[lab.holder.load(std::memory_order_relaxed) % protocol::kMaxThreads];
        return &holder != &s && core != 0 && holder.core.load(std::memory_order_relaxed) == core;
    };
    bool alive = true;
    if (!protocol::wait_awhile<RawSystem>(t_turn_wait, spin_of(lab, core), granted, ours)) {
        s.sleeps.store(1, std::memory_order_seq_cst);
        while (!granted()) {
            const uint32_t seen = s.turn.load(std::memory_order_seq_cst);
            if (seen == static_cast<uint32_t>(Turn::Running)) break;
            const bool timed_out = raw_futex(&s.turn, FUTEX_WAIT, seen, &kLookAfterServer) != 0 && errno == ETIMEDOUT;
            if ((timed_out && !connection::check_server()) || server_gone()) {
                lose_server();
                alive = false;
                break;
            }
        }
        s.sleeps.store(0, std::memory_order_relaxed);
    }
    t_turn_wait.next.learn(s.grant == grant_before + 1);
    t.waiting = false;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    s.slot_flags.fetch_and(~uint32_t{protocol::kSlotInterrupted}, std::memory_order_relaxed);
    s.oldest_post_ps = INT64_MAX;
    t.post_limit_ps = INT64_MAX;
    return alive;
}

void rejoin_if_lost() {
    if (t_state.slot->turn.load(std::memory_order_relaxed) != static_cast<uint32_t>(Turn::Running) && !t_state.waiting)
        hand_off(Yield::Arrived);
}

void defer_signal(const siginfo_t& info) {
    ThreadState& t = t_state;
    const uint32_t n = t.num_pending;
    // A standard signal is pending at most once.
    for (uint32_t i = 0; i < n; ++i)
        if (t.pending[i].si_signo == info.si_signo && info.si_signo < SIGRTMIN) return;
    if (n == kMaxPendingSignals) return;
    t.pending[n] = info;
    t.num_pending = n + 1;
    if (!t.waiting) return;
    t.slot->slot_flags.fetch_or(protocol::kSlotInterrupted, std::memory_order_release);
    wake_server(*g_process.lab);
}

}  // namespace simverbs::client::turn
