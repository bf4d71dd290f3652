// Reading the events that the server writes into a channel's descriptor.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::verbs {

/// A descriptor of events came from the server: poll and epoll wait for its shared object `key`.
void adopt_event_fd(int fd, uint64_t key);
void close_event_fd(int fd);

/// Reads one event from `fd`, whose shared object is `key`. Blocks unless the program made the descriptor
/// non-blocking. Returns 0, or EAGAIN, EINTR, or EIO once the server has gone.
int read_event(int fd, uint64_t key, const char* what, protocol::ChannelEvent& event);

}  // namespace simverbs::client::verbs
