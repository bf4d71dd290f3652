// Reading, writing, closing and duplicating descriptors. Files and terminals pass straight through.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/cm/device.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/net/descriptors.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/interfaces.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/message_io.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/net/socket_calls.hpp"
#include "verbs_shim/client/net/stream_keys.hpp"
#include "verbs_shim/client/process/process.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {
namespace {

bool is_socket(FdKind kind) noexcept {
    return kind == FdKind::TcpNew || kind == FdKind::TcpStream || kind == FdKind::Udp || kind == FdKind::Unix;
}

bool waits(FdKind kind) noexcept {
    return kind == FdKind::Pipe || kind == FdKind::ForeignPipe || kind == FdKind::EventFd || kind == FdKind::Channel ||
           kind == FdKind::External;
}

bool nonblocking(int fd) noexcept {
    return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

ssize_t read_timerfd(int fd, const iovec* pieces, int count) noexcept {
    if (count < 1 || pieces[0].iov_len < sizeof(uint64_t)) return turn::fail(EINVAL);
    for (;;) {
        const uint64_t n = clock::timerfd_take(fd);
        if (n > 0) {
            *static_cast<uint64_t*>(pieces[0].iov_base) = n;
            return sizeof n;
        }
        if (nonblocking(fd)) return turn::fail(EAGAIN);
        if (const int error = await_ready(fd, find(fd), POLLIN, INT64_MAX, "read of a timerfd"))
            return turn::fail(error);
    }
}

ssize_t read_pieces(int fd, const iovec* pieces, int count) noexcept {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    spin::before_syscall();
    if (d == nullptr || d->kind == FdKind::Plain || d->kind == FdKind::Epoll) return real::readv(fd, pieces, count);
    if (is_socket(d->kind)) {
        msghdr m{};
        m.msg_iov = const_cast<iovec*>(pieces);
        m.msg_iovlen = static_cast<size_t>(count);
        return receive(fd, &m, 0);
    }
    if (d->kind == FdKind::RdmaCm) return turn::fail(EINVAL);  // the device has no read()
    if (d->kind == FdKind::Random) {
        ssize_t n = 0;
        for (int i = 0; i < count; ++i) {
            process::random_bytes(pieces[i].iov_base, pieces[i].iov_len);
            n += static_cast<ssize_t>(pieces[i].iov_len);
        }
        return n;
    }
    if (!turn::active()) return real::readv(fd, pieces, count);
    const turn::InShim in;
    if (d->kind == FdKind::TimerFd) return read_timerfd(fd, pieces, count);
    if (waits(d->kind) && !nonblocking(fd)) {
        if (const int error = await_ready(fd, d, POLLIN, INT64_MAX, "read of a pipe, event or other descriptor"))
            return turn::fail(error);
    } else {
        turn::checkpoint();
    }
    const ssize_t n = turn::keep_errno(real::readv(fd, pieces, count));
    // Room for a writer that waits, and for whoever polls the other names of this descriptor.
    if (n > 0 && (d->kind == FdKind::Pipe || d->kind == FdKind::ForeignPipe || d->kind == FdKind::EventFd))
        turn::object_bump(d->read_key);
    return n;
}

/// A blocking write: everything goes, in as many turns as the readers need to make room. The kernel must not be asked
/// for more than there is room for, it would wait with our turn.
ssize_t write_all(int fd, Description& d, const iovec* pieces, int count) {
    constexpr size_t kSureToFit = PIPE_BUF;  // where poll says that a pipe can be written
    ssize_t done = 0;
    for (int i = 0; i < count; ++i) {
        const auto* at = static_cast<const uint8_t*>(pieces[i].iov_base);
        for (size_t left = pieces[i].iov_len; left > 0;) {
            if (const int error = await_ready(fd, &d, POLLOUT, INT64_MAX, "write to a full pipe"))
                return done > 0 ? done : turn::fail(error);
            const ssize_t n = turn::keep_errno(real::write(fd, at, std::min(left, kSureToFit)));
            if (n <= 0) return done > 0 ? done : n;
            turn::object_bump(d.write_key);
            at += n;
            left -= static_cast<size_t>(n);
            done += n;
        }
    }
    return done;
}

ssize_t write_pieces(int fd, const iovec* pieces, int count) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    spin::before_syscall();
    if (d == nullptr || d->kind == FdKind::Plain) return real::writev(fd, pieces, count);
    if (d->kind == FdKind::RdmaCm) {
        const turn::InShim in;
        // One command a write, as the kernel takes them.
        return count == 1 ? cm::write_command(fd, pieces[0].iov_base, pieces[0].iov_len) : turn::fail(EINVAL);
    }
    if (is_socket(d->kind)) {
        msghdr m{};
        m.msg_iov = const_cast<iovec*>(pieces);
        m.msg_iovlen = static_cast<size_t>(count);
        return transmit(fd, &m, 0);
    }
    if (!turn::active()) return real::writev(fd, pieces, count);
    if (d->kind != FdKind::Pipe && d->kind != FdKind::EventFd) {
        const ssize_t n = real::writev(fd, pieces, count);
        if (n > 0 && d->kind == FdKind::ForeignPipe) turn::object_bump(d->write_key);
        return n;
    }
    const turn::InShim in;
    turn::checkpoint();
    turn::charge(kSocketCallPs / 4);
    if (!nonblocking(fd)) return write_all(fd, *d, pieces, count);
    const ssize_t n = turn::keep_errno(real::writev(fd, pieces, count));
    if (n > 0) turn::object_bump(d->write_key);
    return n;
}

void note_pipe(const int fds[2]) noexcept {
    // As a program that inherits an end through exec will call it.
    struct stat st {};
    const uint64_t key = fstat(fds[0], &st) == 0 ? inode_key(st.st_dev, st.st_ino) : fresh_key();
    for (int i = 0; i < 2; ++i) {
        if (Description* d = assign(fds[i], FdKind::Pipe)) {
            d->read_key = key;
            if (i == 1) {
                d->write_key = key;
                retain_end(key);
            }
        }
    }
}

}  // namespace

uint64_t fresh_key() noexcept {
    static std::atomic<uint64_t> made{0};
    return protocol::object_key(protocol::ObjectKind::Inode,
                                (uint64_t{1} << 55) | (uint64_t{process_index()} << 32) | made.fetch_add(1));
}

int close_descriptor(int fd) noexcept {
    if (lab() != nullptr) {
        if (connection::owns_fd(fd)) return turn::fail(EBADF);  // the control socket is not the program's
        const turn::InShim in;
        clock::fd_closed(fd);
        epoll_forget(fd);
        if (Description* d = forget(fd)) {
            const bool unix_socket = d->kind == FdKind::Unix;
            release(d);
            if (unix_socket && turn::active()) turn::object_bump(unix_activity_key());
        }
    }
    return real::close(fd);
}

void copied_descriptor(int from, int to) noexcept {
    if (lab() == nullptr || to < 0 || from == to) return;
    const turn::InShim in;
    share(from, to);
    clock::fd_copied(from, to);
}

}  // namespace simverbs::client::net

using namespace simverbs::client;
using namespace simverbs::client::net;

SIMVERBS_INTERPOSE ssize_t read(int fd, void* buffer, size_t bytes) {
    const Description* d = peek(fd);
    if (d != nullptr && d->kind == FdKind::Plain) {
        spin::before_syscall();
        return real::read(fd, buffer, bytes);
    }
    const iovec piece{buffer, bytes};
    return read_pieces(fd, &piece, 1);
}

SIMVERBS_INTERPOSE ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t room) {
    return read(fd, buffer, std::min(bytes, room));
}

SIMVERBS_INTERPOSE ssize_t readv(int fd, const iovec* pieces, int count) {
    return read_pieces(fd, pieces, count);
}

SIMVERBS_INTERPOSE ssize_t write(int fd, const void* buffer, size_t bytes) {
    const Description* d = peek(fd);
    if (d != nullptr && d->kind == FdKind::Plain) {
        spin::before_syscall();
        return real::write(fd, buffer, bytes);
    }
    const iovec piece{const_cast<void*>(buffer), bytes};
    return write_pieces(fd, &piece, 1);
}

SIMVERBS_INTERPOSE ssize_t writev(int fd, const iovec* pieces, int count) {
    return write_pieces(fd, pieces, count);
}

SIMVERBS_INTERPOSE int close(int fd) {
    return close_descriptor(fd);
}

SIMVERBS_INTERPOSE int dup(int fd) {
    SIMVERBS_REAL(dup);
    const int made = real_dup(fd);
    copied_descriptor(fd, made);
    return made;
}

SIMVERBS_INTERPOSE int dup2(int fd, int to) {
    SIMVERBS_REAL(dup2);
    const int made = real_dup2(fd, to);
    copied_descriptor(fd, made);
    return made;
}

SIMVERBS_INTERPOSE int dup3(int fd, int to, int flags) {
    SIMVERBS_REAL(dup3);
    const int made = real_dup3(fd, to, flags);
    copied_descriptor(fd, made);
    return made;
}

namespace {

int fcntl_common(int fd, int command, void* argument) {
    SIMVERBS_REAL(fcntl);
    const int rc = real_fcntl(fd, command, argument);
    if (rc >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) copied_descriptor(fd, rc);
    return rc;
}

}  // namespace

SIMVERBS_INTERPOSE int fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void* argument = va_arg(args, void*);
    va_end(args);
    return fcntl_common(fd, command, argument);
}

SIMVERBS_INTERPOSE int fcntl64(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void* argument = va_arg(args, void*);
    va_end(args);
    return fcntl_common(fd, command, argument);
}

SIMVERBS_INTERPOSE int ioctl(int fd, unsigned long request, ...) noexcept {
    SIMVERBS_REAL(ioctl);
    va_list args;
    va_start(args, request);
    void* argument = va_arg(args, void*);
    va_end(args);
    spin::before_syscall();
    if (lab() != nullptr) {
        int result = 0;
        if (interface_ioctl(request, argument, result)) return result;
    }
    return real_ioctl(fd, request, argument);
}

SIMVERBS_INTERPOSE int pipe(int fds[2]) noexcept {
    SIMVERBS_REAL(pipe);
    const int rc = real_pipe(fds);
    if (rc == 0 && lab() != nullptr) note_pipe(fds);
    return rc;
}

SIMVERBS_INTERPOSE int pipe2(int fds[2], int flags) noexcept {
    SIMVERBS_REAL(pipe2);
    const int rc = real_pipe2(fds, flags);
    if (rc == 0 && lab() != nullptr) note_pipe(fds);
    return rc;
}

SIMVERBS_INTERPOSE int eventfd(unsigned initial, int flags) noexcept {
    SIMVERBS_REAL(eventfd);
    const int fd = real_eventfd(initial, flags);
    if (fd >= 0 && lab() != nullptr) {
        if (Description* d = assign(fd, FdKind::EventFd)) d->read_key = d->write_key = fresh_key();
    }
    return fd;
}

SIMVERBS_INTERPOSE int eventfd_read(int fd, eventfd_t* value) {
    return read(fd, value, sizeof *value) == static_cast<ssize_t>(sizeof *value) ? 0 : -1;
}

SIMVERBS_INTERPOSE int eventfd_write(int fd, eventfd_t value) {
    return write(fd, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? 0 : -1;
}
