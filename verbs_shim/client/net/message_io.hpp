// Receiving and sending through a descriptor of a simulated host: what read(), recv(), write(), send() share.
#pragma once

#include <sys/socket.h>

namespace simverbs::client::net {

ssize_t receive(int fd, msghdr* message, int flags) noexcept;
ssize_t transmit(int fd, const msghdr* message, int flags) noexcept;

}  // namespace simverbs::client::net
