#include "verbs_shim/client/net/socket_calls.hpp"

#include "verbs_shim/client/net/real.hpp"

namespace simverbs::client::net::real {
namespace {

SIMVERBS_REAL(socket);
SIMVERBS_REAL(bind);
SIMVERBS_REAL(listen);
SIMVERBS_REAL(accept4);
SIMVERBS_REAL(connect);
SIMVERBS_REAL(shutdown);
SIMVERBS_REAL(getsockname);
SIMVERBS_REAL(getpeername);
SIMVERBS_REAL(sendmsg);
SIMVERBS_REAL(recvmsg);
SIMVERBS_REAL(read);
SIMVERBS_REAL(write);
SIMVERBS_REAL(readv);
SIMVERBS_REAL(writev);
SIMVERBS_REAL(poll);
SIMVERBS_REAL(close);

}  // namespace

int socket(int domain, int type, int protocol) {
    return real_socket(domain, type, protocol);
}
int bind(int fd, const sockaddr* address, socklen_t length) {
    return real_bind(fd, address, length);
}
int listen(int fd, int backlog) {
    return real_listen(fd, backlog);
}
int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
    return real_accept4(fd, address, length, flags);
}
int connect(int fd, const sockaddr* address, socklen_t length) {
    return real_connect(fd, address, length);
}
int shutdown(int fd, int how) {
    return real_shutdown(fd, how);
}
int getsockname(int fd, sockaddr* address, socklen_t* length) {
    return real_getsockname(fd, address, length);
}
int getpeername(int fd, sockaddr* address, socklen_t* length) {
    return real_getpeername(fd, address, length);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    return real_sendmsg(fd, message, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
    return real_recvmsg(fd, message, flags);
}
ssize_t read(int fd, void* buffer, size_t bytes) {
    return real_read(fd, buffer, bytes);
}
ssize_t write(int fd, const void* buffer, size_t bytes) {
    return real_write(fd, buffer, bytes);
}
ssize_t readv(int fd, const iovec* pieces, int count) {
    return real_readv(fd, pieces, count);
}
ssize_t writev(int fd, const iovec* pieces, int count) {
    return real_writev(fd, pieces, count);
}
int poll(pollfd* fds, nfds_t count, int timeout_ms) {
    return real_poll(fds, count, timeout_ms);
}
int close(int fd) {
    return real_close(fd);
}

}  // namespace simverbs::client::net::real
