#include "verbs_shim/client/verbs/event_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include <cerrno>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/membership.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::verbs {

namespace {

bool is_readable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return raw_syscall(SYS_ppoll, as_argument(&p), 1, as_argument(&connection::kNoWait), 0, 8) == 1;
}

bool is_non_blocking(int fd) {
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

/// The kernel's read: 0, an errno, EIO at the end of the stream.
int read_now(int fd, protocol::ChannelEvent& event) {
    // Where it may block it is a cancellation point: what glibc's read does around its system call.
    const bool may_block = !turn::active();
    int type = PTHREAD_CANCEL_DEFERRED;
    if (may_block) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    const long n = raw_syscall(SYS_read, fd, as_argument(&event), sizeof event);
    if (may_block) pthread_setcanceltype(type, nullptr);
    if (n == static_cast<long>(sizeof event)) return 0;
    if (n < 0) return static_cast<int>(-n);
    connection::check_server();
    return EIO;
}

/// What an interrupted wait means for the call: 0 to go on.
int after_signal() {
    switch (turn::deliver_signals()) {
        case turn::Signals::None:
        case turn::Signals::Restart:
            return 0;
        case turn::Signals::Interrupt:
            return EINTR;
    }
    return 0;
}

}  // namespace

void adopt_event_fd(int fd, uint64_t key) {
    if (fd < 0) return;
    if (net::Description* const d = net::assign(fd, net::FdKind::Channel)) d->read_key = key;
}

void close_event_fd(int fd) {
    if (fd < 0) return;
    if (net::Description* const d = net::forget(fd)) net::release(d);
    raw_syscall(SYS_close, fd);
}

int read_event(int fd, uint64_t key, const char* what, protocol::ChannelEvent& event) {
    // Someone who asks again and again without blocking must not keep the turn: time passes with every look.
    constexpr int64_t kLookPs = 300'000;
    while (turn::active()) {
        turn::charge(kLookPs);
        turn::checkpoint();
        const uint64_t seen = turn::object_value(key);
        if (is_readable(fd)) return read_now(fd, event);
        if (connection::server_gone()) return EIO;
        if (is_non_blocking(fd)) return EAGAIN;
        turn::WaitSet set(what);
        set.add_object(key, seen, 0);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) {
            connection::note_server_gone();
            return EIO;
        }
        if (woken != turn::Woken::Interrupted) continue;
        if (const int error = after_signal()) return error;
    }
    return read_now(fd, event);
}

}  // namespace simverbs::client::verbs
