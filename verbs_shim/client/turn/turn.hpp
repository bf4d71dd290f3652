// A thread's side of the turn protocol. Everything in the client that blocks, polls or reads a clock goes through here.
#pragma once

#include <cerrno>
#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::turn {

/// True if this process is in a lab whose clock is virtual and this thread takes part in the turn protocol.
bool active();
/// True if this process is in a lab, whatever its clock.
bool in_lab();

/// The lab page, null outside a lab; this process's index and host in it; this thread's slot, null if it has none.
protocol::LabShared* lab();
uint32_t process_index();
uint32_t host_index();
protocol::ThreadSlot* slot();

/// This thread's simulated clock in picoseconds (wall mode: the lab's paced time).
int64_t now_ps();

/// Moves the thread's clock forward by a modelled CPU cost. Never yields.
void charge(int64_t ps);

/// Yields if the clock is at or beyond the horizon. Called before anything whose result depends on what others did.
void checkpoint();

/// A post with stamp now_ps() was written: the clock may not pass it + `latency_ps` without a yield.
void note_post(int64_t latency_ps);

/// The shared object's value (0 if it does not exist yet).
uint64_t object_value(uint64_t key);
uint64_t object_aux(uint64_t key);
/// Clock of whoever last bumped it (0 if it does not exist yet).
int64_t object_stamp(uint64_t key);
/// When its value grew beyond `seen`, as far as that is remembered; never later than its stamp.
int64_t object_changed_at(uint64_t key, uint64_t seen);
/// Adds to a shared object's value (creating it), stamped with the thread's clock. Whoever waits for it becomes ready.
void object_bump(uint64_t key, uint64_t by = 1);
void object_set_aux(uint64_t key, uint64_t aux);
/// The object itself; null if it does not exist (and `create` is false) or the table is full.
protocol::SharedObject* object_find(uint64_t key, bool create);

/// What ends a wait: any of the items, the deadline, or (kWaitVisible) anything the HCA makes visible to this process.
class WaitSet {
  public:
    explicit WaitSet(const char* what);  ///< `what` is for the stall report
    void add_object(uint64_t key, uint64_t value_seen, int64_t latency_ps);
    void add_external(int fd, uint32_t poll_events);
    void add_deadline(int64_t at_ps);
    void add_flags(uint32_t wait_flags);

    protocol::Wait w;
    bool overflow = false;  ///< more than kMaxWaitItems: waits in steps instead (deterministic, slower)
    /// pthread_cancel ends the wait (POSIX names the calls); the thread ends when it leaves the shim.
    bool cancellation_point = true;
};

/// Interrupted: a signal arrived that a handler of the program wants; deliver_signals() runs it. Or pthread_cancel.
enum class Woken { Item, Deadline, Visible, ServerGone, Interrupted };

/// Gives up the turn until `set` is satisfied; returns with the clock at the moment it was. `item` gets the index.
Woken wait(WaitSet& set, uint32_t* item = nullptr);

/// Runs the program's handlers of signals that came while this thread was in the shim or without the turn. Says what
/// a call that POSIX lets be interrupted must do: nothing ran; go on waiting (SA_RESTART); fail with EINTR.
/// Calls that are never restarted (poll, select, nanosleep, …) treat Restart as Interrupt.
enum class Signals { None, Restart, Interrupt };
Signals deliver_signals();

/// pthread_cancel has ended a wait: the call gives up and returns whatever it likes, nobody will see it.
bool cancelled();

/// Makes a control request under the turn: sends it, yields until it has been answered, reads the reply. Returns 0 or
/// an errno (ENODEV if the server is gone). `fds` may be null.
int control(const void* request, void* reply, size_t reply_bytes, int* fds = nullptr, int max_fds = 0);

/// True once the server has died or closed the connection: calls fail, nobody waits for a turn any more.
bool server_gone();

/// How many waits of this thread have ended because their time was over: a program that sleeps between its looks may
/// only look so many times.
uint64_t deadlines_met();

/// A poll that found something, or any other progress, ends an episode of spinning (rule 5: a waiter that has read a
/// clock since its last progress stays runnable).
void note_progress();

/// A call of libc fails: returns -1, with errno set now and when the outermost scope inside the shim (InShim) ends.
int fail(int error);
/// The same for what the kernel has just answered: `result`, and its errno if it is negative.
template <typename T>
T keep_errno(T result) {
    if (result < 0) fail(errno);
    return result;
}

/// Marks the current thread as inside the shim for its scope: probes and traps keep out, errno is preserved. When the
/// outermost scope ends, due alarms fire and the program's signal handlers run.
class InShim {
  public:
    InShim();
    ~InShim();
    /// The errno that the program sees after the scope.
    void set_errno(int error) { saved_errno_ = error; }
    InShim(const InShim&) = delete;
    InShim& operator=(const InShim&) = delete;

  private:
    int saved_errno_;
};

}  // namespace simverbs::client::turn
