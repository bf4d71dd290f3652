// libc's own socket and descriptor calls, behind the interposed ones.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace simverbs::client::net::real {

int socket(int domain, int type, int protocol);
int bind(int fd, const sockaddr* address, socklen_t length);
int listen(int fd, int backlog);
int accept4(int fd, sockaddr* address, socklen_t* length, int flags);
int connect(int fd, const sockaddr* address, socklen_t length);
int shutdown(int fd, int how);
int getsockname(int fd, sockaddr* address, socklen_t* length);
int getpeername(int fd, sockaddr* address, socklen_t* length);
ssize_t sendmsg(int fd, const msghdr* message, int flags);
ssize_t recvmsg(int fd, msghdr* message, int flags);
ssize_t read(int fd, void* buffer, size_t bytes);
ssize_t write(int fd, const void* buffer, size_t bytes);
ssize_t readv(int fd, const iovec* pieces, int count);
ssize_t writev(int fd, const iovec* pieces, int count);
int poll(pollfd* fds, nfds_t count, int timeout_ms);
int close(int fd);

}  // namespace simverbs::client::net::real
