// How a process joins its lab and how it leaves: one constructor, one last exit function.
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <stdlib.h>
#include <unistd.h>

#include "verbs_shim/client/clock/tsc_trap.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/net/exit_ends.hpp"
#include "verbs_shim/client/process/environment.hpp"
#include "verbs_shim/client/process/randomness.hpp"
#include "verbs_shim/client/process/signal_table.hpp"
#include "verbs_shim/client/process/threads.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/hand_off.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* dso_handle);

namespace simverbs::client::turn {

using protocol::ClockMode;
using protocol::Turn;
using protocol::Yield;

std::atomic<uint32_t> g_started{0};

namespace {

void note_membership() {
    ProcessState& p = g_process;
    const protocol::HelloReply& hello = connection::hello_reply();
    p.lab = connection::lab();
    p.process = hello.process;
    p.host = hello.host;
    p.program = p.lab->processes[hello.process % protocol::kMaxProcesses].program;
    p.gone.store(false, std::memory_order_relaxed);
#if defined(__x86_64__)
    p.virtual_clock.store(p.lab->clock_mode == ClockMode::Virtual, std::memory_order_release);
#endif
}

/// The very last exit function: everything that the program does at exit still happens under its turn.
void on_exit(void*) {
    leave_lab(true);
}

bool can_have_slot(uint32_t slot) {
    return slot < protocol::kMaxThreads;
}

}  // namespace

void arrive(uint32_t slot) {
    ThreadState& t = t_state;
    protocol::ThreadSlot& s = g_process.lab->slots[slot];
    t = ThreadState{};
    s.tid = static_cast<int32_t>(kernel(SYS_gettid));
    s.process = g_process.process;
    s.in_shim.store(1, std::memory_order_relaxed);
    s.slot_flags.store(0, std::memory_order_relaxed);
    t.depth = 1;
    t.slot = &s;
    clock::trap_tsc();
    hand_off(Yield::Arrived);
    t.began_ps = s.clock_ps;
    if (g_process.threads.load(std::memory_order_relaxed) == 1) g_process.began_ps = s.clock_ps;
    t.depth = 0;
    s.in_shim.store(0, std::memory_order_relaxed);
}

namespace {

void first_thread_arrives(uint32_t slot) {
    g_process.threads.store(1, std::memory_order_relaxed);
    arrive(slot);
}

}  // namespace

void leave_lab(bool process_ends) {
    ThreadState& t = t_state;
    if (t.slot == nullptr) return;
    protocol::ThreadSlot& s = *t.slot;
    if (active()) {
        if (process_ends) net::process_ends();
        rejoin_if_lost();
        object_bump(yield_key());
    }
    t.depth = 1;  // from here on signals of the program find no turn to run in
    s.in_shim.store(1, std::memory_order_relaxed);
    if (active()) {
        if (process_ends) s.slot_flags.fetch_or(protocol::kSlotProcessEnds, std::memory_order_relaxed);
        s.yield = static_cast<uint32_t>(Yield::Exit);
        clock::release_tsc();
        protocol::LabShared& lab = *g_process.lab;
        s.turn.store(static_cast<uint32_t>(Turn::Waiting), std::memory_order_release);
        lab.server_word.fetch_add(1, std::memory_order_seq_cst);
        if (lab.server_sleeps.load(std::memory_order_seq_cst) != 0) raw_futex(&lab.server_word, FUTEX_WAKE, 1, nullptr);
    }
    t.slot = nullptr;
    if (process_ends) g_process.virtual_clock.store(false, std::memory_order_relaxed);
    g_process.threads.fetch_sub(1, std::memory_order_relaxed);
}

void start() {
    uint32_t expected = static_cast<uint32_t>(Started::No);
    if (!g_started.compare_exchange_strong(expected, static_cast<uint32_t>(Started::Starting))) return;
    if (connection::hello()) {
        note_membership();
        spin::note_own_stack();
        process::install_handlers();
        process::remember_environment();
        __cxa_atexit(on_exit, nullptr, nullptr);
        at_quick_exit([] { leave_lab(true); });
        const uint32_t slot = connection::hello_reply().slot;
        process::remember_main_thread(slot);
        if (g_process.lab->clock_mode == ClockMode::Virtual) process::seed_libc();
        if (g_process.virtual_clock.load(std::memory_order_relaxed) && can_have_slot(slot)) first_thread_arrives(slot);
        net::image_arrived();
    }
    g_started.store(static_cast<uint32_t>(Started::Done), std::memory_order_release);
}

void start_child(uint32_t slot) {
    t_state = ThreadState{};
    g_process.threads.store(0, std::memory_order_relaxed);
    g_process.next_timer_ps.store(INT64_MAX, std::memory_order_relaxed);
    g_process.virtual_clock.store(false, std::memory_order_relaxed);
    if (!connection::hello(slot)) {
        g_process.gone_real_ns = real_monotonic_ns();
        g_process.gone.store(true, std::memory_order_release);
        return;
    }
    note_membership();
    const uint32_t granted = connection::hello_reply().slot;
    process::remember_main_thread(granted);
    if (g_process.virtual_clock.load(std::memory_order_relaxed) && can_have_slot(granted))
        first_thread_arrives(granted);
}

namespace {

__attribute__((constructor(101))) void join_lab() {
    start_if_needed();
}

}  // namespace

}  // namespace simverbs::client::turn
