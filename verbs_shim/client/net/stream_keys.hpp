// Names of the shared objects behind descriptors.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::net {

/// The direction of a TCP connection that carries bytes from `from` to `to`.
uint64_t stream_key(protocol::ObjectKind kind, const Endpoint& from, const Endpoint& to) noexcept;
uint64_t port_key(protocol::ObjectKind kind, const Endpoint& at) noexcept;
uint64_t inode_key(dev_t device, ino_t inode) noexcept;

/// Fills in the keys of a connected stream from its addresses.
void set_stream_keys(Description& d) noexcept;

/// For a socket that this process did not make itself (inherited through exec): asks the kernel who is connected.
void complete_from_kernel(int fd, Description& d) noexcept;

}  // namespace simverbs::client::net
