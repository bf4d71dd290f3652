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

/// Waits until one of the `wanted` events holds, under the turn protocol. 0, or EINTR, or EAGAIN at the deadline
/// (simulated picoseconds, INT64_MAX: none).
int await_ready(int fd, Description* d, short wanted, int64_t deadline_ps, const char* what,
                bool restartable = true) noexcept;

/// The lab knows that bytes are under way: waits (for real, briefly) until the kernel has them too.
void settle(int fd, short wanted) noexcept;

/// Writes to a UNIX socket reach whoever waits for one: the object that they all bump.
uint64_t unix_activity_key() noexcept;

}  // namespace simverbs::client::net
