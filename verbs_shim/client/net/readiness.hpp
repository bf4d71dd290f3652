// Is a descriptor ready at the thread's simulated clock, and if not, what will make it so?
#pragma once

#include <poll.h>

#include <cstdint>

#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {

/// The poll() events of `fd` that hold at the thread's clock, out of `wanted` (and POLLERR, POLLHUP, POLLNVAL).
short ready_events(int fd, Description* d, short wanted) noexcept;

/// Adds to `set` what can make one of the `wanted` events of `fd` hold.
void add_wait(turn::WaitSet& set, int fd, Description* d, short wanted) noexcept;
/// The same, with what had come already when the descriptor was looked at.
void add_wait(turn::WaitSet& set, int fd, Description* d, short wanted, uint64_t seen) noexcept;

/// Waits until one of the `wanted` events holds, under the turn protocol. 0, or EINTR, or EAGAIN at the deadline
/// (simulated picoseconds, INT64_MAX: none).
int await_ready(int fd, Description* d, short wanted, int64_t deadline_ps, const char* what,
                bool restartable = true) noexcept;

/// A look that must not block found nothing: remembers what was looked for, so that a program which polls completion
/// queues and sockets in turns is woken by either. After a few looks in a row that found nothing it waits (rule 5).
void note_empty_look(int fd, short wanted) noexcept;
/// The same, if the look gave up the turn: `seen` is the value of the descriptor's object before it.
void note_empty_look(int fd, short wanted, uint64_t seen) noexcept;
/// The same for one descriptor of several; end_empty_look() then counts the look as a whole.
void remember_look(int fd, short wanted) noexcept;
void remember_look(int fd, short wanted, uint64_t seen) noexcept;
void end_empty_look() noexcept;
/// Something was found: the next empty look is a first one again.
void note_found() noexcept;
/// Adds to `set` what this thread's last empty looks were for.
void add_empty_looks(turn::WaitSet& set) noexcept;

/// The lab knows that bytes are under way: waits (for real, briefly) until the kernel has them too.
void settle(int fd, short wanted) noexcept;

/// Writes to a UNIX socket reach whoever waits for one: the object that they all bump.
uint64_t unix_activity_key() noexcept;

}  // namespace simverbs::client::net
