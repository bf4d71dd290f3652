#include "verbs_shim/client/net/readiness.hpp"

#include <cerrno>
#include <cstdio>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/socket_calls.hpp"

namespace simverbs::client::net {
namespace {

constexpr short kReadEvents = POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI | POLLRDHUP;

constexpr uint32_t kRememberedLooks = 16;
constexpr uint32_t kLooksBeforeWaiting = 16;

struct Look {
    int fd = -1;
    short wanted = 0;
    uint64_t seen = 0;
};
struct Looks {
    Look items[kRememberedLooks];
    uint32_t next = 0;
    uint32_t in_a_row = 0;
};
thread_local constinit Looks looks;

int64_t latency_of(FdKind kind) noexcept {
    switch (kind) {
        case FdKind::TcpStream:
        case FdKind::TcpListener:
        case FdKind::Udp:
            return kTcpLatencyPs;
        case FdKind::Channel:
        case FdKind::RdmaCm:
            return 0;
        case FdKind::Unix:
        case FdKind::Pipe:
        case FdKind::ForeignPipe:
        case FdKind::EventFd:
            return kLocalIpcPs;
        case FdKind::Unknown:
        case FdKind::Plain:
        case FdKind::TcpNew:
        case FdKind::TimerFd:
        case FdKind::Epoll:
        case FdKind::Random:
        case FdKind::External:
            return 0;
    }
    return 0;
}

/// What has been taken out of the object behind `d` so far.
uint64_t taken(const Description& d) noexcept {
    if (d.kind == FdKind::TcpStream) return turn::object_value(d.read_consumed_key);
    if (d.kind == FdKind::TcpListener || d.kind == FdKind::Udp) return turn::object_aux(d.read_key) >> 1;
    return 0;
}

bool counted(FdKind kind) noexcept {
    return kind == FdKind::TcpStream || kind == FdKind::TcpListener || kind == FdKind::Udp;
}

/// True if the last write behind `key` has had the time to arrive.
bool arrived(uint64_t key, int64_t latency) noexcept {
    return turn::object_value(key) == 0 || turn::object_stamp(key) + latency <= turn::now_ps();
}

/// How much of what was written to a descriptor that is not counted has arrived.
uint64_t seen_now(const Description* d) noexcept {
    if (d == nullptr || d->read_key == 0) return 0;
    const uint64_t value = turn::object_value(d->read_key);
    return value == 0 || arrived(d->read_key, latency_of(d->kind)) ? value : value - 1;
}

short kernel_events(int fd, short wanted) noexcept {
    pollfd p{fd, wanted, 0};
    return real::poll(&p, 1, 0) > 0 ? p.revents : 0;
}

}  // namespace

uint64_t unix_activity_key() noexcept {
    return protocol::object_key(protocol::ObjectKind::Inode, 1);
}

short ready_events(int fd, Description* d, short wanted) noexcept {
    if (d == nullptr) return kernel_events(fd, wanted);
    if (d->kind == FdKind::TimerFd) {
        const bool expired = clock::timerfd_deadline(fd) <= turn::now_ps();
        return static_cast<short>(expired ? wanted & (POLLIN | POLLRDNORM) : 0);
    }
    if (counted(d->kind) && d->read_key != 0) {
        const uint64_t before = taken(*d);
        const bool some = turn::object_value(d->read_key) > before;
        if (!some || turn::object_changed_at(d->read_key, before) + latency_of(d->kind) > turn::now_ps()) {
            const short others = static_cast<short>(wanted & ~kReadEvents);
            return others == 0 ? static_cast<short>(0)
                               : static_cast<short>(kernel_events(fd, others) & (others | POLLERR | POLLNVAL));
        }
        if ((wanted & POLLIN) != 0) settle(fd, POLLIN);
        return kernel_events(fd, wanted);
    }
    const short now = kernel_events(fd, wanted);
    if (d->read_key != 0 && (now & kReadEvents) != 0 && !arrived(d->read_key, latency_of(d->kind)))
        return static_cast<short>(now & ~(kReadEvents | POLLHUP));
    return now;
}

void add_wait(turn::WaitSet& set, int fd, Description* d, short wanted) noexcept {
    add_wait(set, fd, d, wanted, seen_now(d));
}

void add_wait(turn::WaitSet& set, int fd, Description* d, short wanted, uint64_t seen) noexcept {
    if (d == nullptr) return;
    const int64_t latency = latency_of(d->kind);
    if ((wanted & kReadEvents) != 0) {
        if (d->kind == FdKind::TimerFd) {
            set.add_deadline(clock::timerfd_deadline(fd));
            return;
        }
        if (d->kind == FdKind::Epoll) return;  // its members are added by whoever polls it
        if (counted(d->kind) && d->read_key != 0) {
            set.add_object(d->read_key, taken(*d), latency);
        } else if (d->read_key != 0) {
            set.add_object(d->read_key, seen, latency);
        }
    }
    if ((wanted & (POLLOUT | POLLWRNORM)) != 0 && d->write_consumed_key != 0)
        set.add_object(d->write_consumed_key, turn::object_value(d->write_consumed_key), latency);
    if ((wanted & (POLLOUT | POLLWRNORM)) != 0 && d->kind == FdKind::Pipe)
        set.add_object(d->read_key, turn::object_value(d->read_key), latency);
    if (d->kind == FdKind::External || d->kind == FdKind::ForeignPipe || d->kind == FdKind::TcpNew)
        set.add_external(fd, static_cast<uint32_t>(wanted));
}

int await_ready(int fd, Description* d, short wanted, int64_t deadline_ps, const char* what,
                bool restartable) noexcept {
    for (;;) {
        turn::checkpoint();
        if (ready_events(fd, d, wanted) != 0) return 0;
        if (turn::now_ps() >= deadline_ps) return EAGAIN;
        turn::WaitSet set(what);
        add_wait(set, fd, d, wanted);
        if (deadline_ps != INT64_MAX) set.add_deadline(deadline_ps);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) return EIO;
        if (woken == turn::Woken::Interrupted) {
            const turn::Signals ran = turn::deliver_signals();
            if (ran == turn::Signals::Interrupt || (ran == turn::Signals::Restart && !restartable)) return EINTR;
        }
    }
}

void remember_look(int fd, short wanted) noexcept {
    remember_look(fd, wanted, seen_now(peek(fd)));
}

void remember_look(int fd, short wanted, uint64_t seen) noexcept {
    Looks& l = looks;
    for (Look& one : l.items) {
        if (one.fd != fd) continue;
        one.wanted |= wanted;
        one.seen = seen;
        return;
    }
    l.items[l.next++ % kRememberedLooks] = {fd, wanted, seen};
}

void end_empty_look() noexcept {
    if (++looks.in_a_row < kLooksBeforeWaiting) return;
    turn::WaitSet set("looking at descriptors again and again");
    set.add_flags(protocol::kWaitVisible | protocol::kWaitReadsClock);
    add_empty_looks(set);
    turn::wait(set);
}

void note_empty_look(int fd, short wanted) noexcept {
    remember_look(fd, wanted);
    end_empty_look();
}

void note_empty_look(int fd, short wanted, uint64_t seen) noexcept {
    remember_look(fd, wanted, seen);
    end_empty_look();
}

void note_found() noexcept {
    looks.in_a_row = 0;
}

void add_empty_looks(turn::WaitSet& set) noexcept {
    for (Look& one : looks.items) {
        if (one.fd < 0) continue;
        Description* d = peek(one.fd);
        if (d == nullptr) continue;
        add_wait(set, one.fd, d, one.wanted, one.seen);
        one.seen = seen_now(d);  // what came since the look ends one wait, whether the program looks there again or not
    }
}

void settle(int fd, short wanted) noexcept {
    pollfd p{fd, wanted, 0};
    real::poll(&p, 1, 2000);
}

}  // namespace simverbs::client::net
