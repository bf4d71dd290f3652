// Bookkeeping when descriptors are closed or copied, for the parts of the shim that do either themselves.
#pragma once

namespace simverbs::client::net {

int close_descriptor(int fd) noexcept;
void copied_descriptor(int from, int to) noexcept;
/// A closed descriptor leaves every epoll set that it was in.
void epoll_forget(int fd) noexcept;

}  // namespace simverbs::client::net
