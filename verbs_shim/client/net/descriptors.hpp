// Bookkeeping when descriptors are closed or copied, for the parts of the shim that do either themselves.
#pragma once

#include <cstdint>

namespace simverbs::client::net {

/// Key of a shared object of this process that nobody has used before.
uint64_t fresh_key() noexcept;

int close_descriptor(int fd) noexcept;
void copied_descriptor(int from, int to) noexcept;
/// A closed descriptor leaves every epoll set that it was in.
void epoll_forget(int fd) noexcept;

}  // namespace simverbs::client::net
