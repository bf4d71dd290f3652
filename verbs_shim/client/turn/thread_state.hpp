// What the turn protocol keeps per thread and per process on this side.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::turn {

inline constexpr int kMaxPendingSignals = 8;

/// Per thread; zero-initialised, lives in initial-exec TLS so that signal handlers may touch it.
struct ThreadState {
    protocol::ThreadSlot* slot;      ///< null: not part of the turn protocol
    uint32_t depth;                  ///< nesting of InShim
    uint32_t entries;                ///< outermost InShims so far: tells calls apart from computing
    int failed_errno;                ///< what the program must see when the outermost scope ends; 0: errno as before
    bool waiting;                    ///< has given up the turn
    bool read_clock;                 ///< has read a clock since its last progress
    uint32_t reads_in_a_row;         ///< clock reads with no other call of the shim between …
    const void* reading_at;          ///< … the place in the program of the last one,
    int64_t reading_since_ps;        ///< … the clock at the first one,
    int64_t reading_there_since_ps;  ///< … and at the first one in a row at this place
    uint32_t yields_in_a_row;        ///< sched_yield calls with nothing else between
    uint32_t overflow_steps;         ///< waits in a row on sets that were too large
    uint64_t deadlines_met;          ///< waits that ended because their time was over
    uint32_t idle_steps;             ///< waits of a spinner in a row that only a step of its clock ended
    uint32_t idle_wakes;             ///< waits of a spinner in a row that only another thread ended
    int64_t began_ps;                ///< clock at its first turn
    uint64_t cancel_key;             ///< object that pthread_cancel of this thread bumps; 0: it cannot be cancelled
    uint64_t cancel_seen;            ///< its value before any such call
    bool cancelled;                  ///< it is to end when it leaves the shim
    int64_t post_limit_ps;           ///< the clock may not pass this without a yield (rule 4)
    // Signals that came while the thread was inside the shim or without the turn.
    volatile uint32_t num_pending;
    siginfo_t pending[kMaxPendingSignals];
};

/// Per process.
struct ProcessState {
    protocol::LabShared* lab = nullptr;
    std::atomic<bool> virtual_clock{false};  ///< in a lab with a virtual clock and a living server
    std::atomic<bool> gone{false};           ///< the server has died
    uint32_t process = 0;
    uint32_t host = 0;
    uint32_t program = 0;
    int64_t began_ps = 0;                           ///< clock of its first thread's first turn
    int64_t gone_clock_ps = 0;                      ///< latest clock when the server was lost …
    int64_t gone_real_ns = 0;                       ///< … and CLOCK_MONOTONIC then: time goes on from there
    std::atomic<uint32_t> threads{0};               ///< living threads that take part in the turn protocol
    std::atomic<int64_t> next_timer_ps{INT64_MAX};  ///< earliest alarm or timer (rule 11)
};

extern thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));
extern ProcessState g_process;

/// Gives up the turn with `yield` in the slot and returns when it is granted again. False if the server is gone.
bool hand_off(protocol::Yield yield);

/// Rejoins after the thread has lost its turn (rule 10). Called at the entry of every interposed call.
void rejoin_if_lost();

/// Runs what is due when the outermost scope of the shim ends.
void leave_shim();

/// The server is dead: from here on calls fail and clocks run in real time.
void lose_server();

/// Key that grows whenever a thread of a process with several of them has run: what spinners of the process wait for,
/// because plain memory that another thread writes announces nothing.
uint64_t yield_key();

/// True if a signal of the program must be handled later: the thread is in the shim or has no turn.
inline bool must_defer_signals() {
    return t_state.slot != nullptr && (t_state.depth != 0 || t_state.waiting);
}
/// Called from the signal dispatcher: keeps the signal and ends the thread's wait.
void defer_signal(const siginfo_t& info);

/// CLOCK_MONOTONIC of the real machine by system call (the vDSO would fault under PR_SET_TSC).
int64_t real_monotonic_ns();

}  // namespace simverbs::client::turn
