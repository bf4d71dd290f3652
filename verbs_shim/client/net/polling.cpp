// poll, select and epoll over descriptors whose readiness follows the simulated clock.
#include <sys/epoll.h>
#include <sys/select.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/descriptors.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/net/socket_calls.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {
namespace {

constexpr int64_t kPollCallPs = 500'000;
std::atomic<uint32_t> epolls_made{0};

struct Interest {
    int fd;
    uint32_t events;
    epoll_data_t data;
    bool disabled;        ///< EPOLLONESHOT has fired
    uint32_t edge_seen;   ///< EPOLLET: events already told
    uint64_t edge_value;  ///< EPOLLET: the object's value when they were told
};

struct InterestList {
    uint32_t count;
    uint32_t room;
    uint32_t next;  ///< round robin, so that a busy descriptor does not starve the others
    Interest items[1];
};

InterestList* list_of(Description& d) noexcept {
    return static_cast<InterestList*>(d.extra);
}

Interest* find_interest(Description& d, int fd) noexcept {
    InterestList* list = list_of(d);
    for (uint32_t i = 0; list != nullptr && i < list->count; ++i)
        if (list->items[i].fd == fd) return &list->items[i];
    return nullptr;
}

bool add_interest(Description& d, const Interest& one) noexcept {
    InterestList* list = list_of(d);
    if (list == nullptr || list->count == list->room) {
        const uint32_t room = list == nullptr ? 16 : list->room * 2;
        auto* grown =
            static_cast<InterestList*>(std::realloc(list, sizeof(InterestList) + (room - 1) * sizeof(Interest)));
        if (grown == nullptr) return false;
        if (list == nullptr) grown->count = grown->next = 0;
        grown->room = room;
        d.extra = list = grown;
    }
    list->items[list->count++] = one;
    return true;
}

void epoll_drop(Description& d, Interest* known) noexcept {
    if (known == nullptr) return;
    InterestList* list = list_of(d);
    *known = list->items[--list->count];
    list->next = 0;
}

short to_poll(uint32_t epoll_events) noexcept {
    return static_cast<short>(epoll_events & 0x7FFF);
}

int epoll_scan(Description& d, epoll_event* out, int room) noexcept;

short ready_of(int fd, short wanted) noexcept {
    Description* d = find(fd);
    if (d == nullptr) return POLLNVAL;
    if (d->kind == FdKind::Epoll) {
        epoll_event one;
        return static_cast<short>(epoll_scan(*d, &one, -1) > 0 ? wanted & POLLIN : 0);
    }
    return ready_events(fd, d, wanted);
}

/// Collects up to `room` events; room -1: only says whether there is one.
int epoll_scan(Description& d, epoll_event* out, int room) noexcept {
    InterestList* list = list_of(d);
    if (list == nullptr) return 0;
    int n = 0;
    const bool only_ask = room < 0;
    for (uint32_t k = 0; k < list->count; ++k) {
        Interest& i = list->items[(list->next + k) % list->count];
        if (i.disabled) continue;
        uint32_t now = static_cast<uint16_t>(ready_of(i.fd, to_poll(i.events)));
        now &= (i.events & 0x7FFF) | EPOLLERR | EPOLLHUP;
        if ((i.events & EPOLLET) != 0) {
            const Description* target = peek(i.fd);
            const uint64_t value =
                target != nullptr && target->read_key != 0 ? turn::object_value(target->read_key) : 0;
            const uint32_t fresh = value != i.edge_value ? now : now & ~i.edge_seen;
            if (!only_ask) {
                i.edge_seen = now;
                i.edge_value = value;
            }
            now = fresh;
        }
        if (now == 0) continue;
        if (only_ask) return 1;
        out[n].events = now;
        out[n].data = i.data;
        if ((i.events & EPOLLONESHOT) != 0) i.disabled = true;
        if (++n == room) {
            list->next = (list->next + k + 1) % list->count;
            break;
        }
    }
    return n;
}

void add_epoll_waits(turn::WaitSet& set, Description& d, int depth) noexcept {
    InterestList* list = list_of(d);
    // Another thread may change the set meanwhile.
    if (d.write_key != 0) set.add_object(d.write_key, turn::object_value(d.write_key), 0);
    for (uint32_t k = 0; list != nullptr && k < list->count; ++k) {
        const Interest& i = list->items[k];
        if (i.disabled) continue;
        Description* target = find(i.fd);
        if (target != nullptr && target->kind == FdKind::Epoll && depth < 5) {
            add_epoll_waits(set, *target, depth + 1);
        } else {
            add_wait(set, i.fd, target, to_poll(i.events));
        }
    }
}

void remember_epoll(Description& d, int depth) noexcept {
    InterestList* list = list_of(d);
    for (uint32_t k = 0; list != nullptr && k < list->count; ++k) {
        const Interest& i = list->items[k];
        Description* target = find(i.fd);
        if (target != nullptr && target->kind == FdKind::Epoll && depth < 5) {
            remember_epoll(*target, depth + 1);
        } else if (!i.disabled) {
            remember_look(i.fd, to_poll(i.events));
        }
    }
}

void add_waits(turn::WaitSet& set, int fd, short wanted) noexcept {
    Description* d = find(fd);
    if (d != nullptr && d->kind == FdKind::Epoll) {
        add_epoll_waits(set, *d, 0);
    } else {
        add_wait(set, fd, d, wanted);
    }
}

/// Runs `scan` until it finds something or the deadline has come; `waits` adds what to wait for. Returns scan's count,
/// 0 at the deadline, -1 with errno EINTR.
template <typename Scan, typename Waits, typename Remember>
int wait_loop(int64_t deadline_ps, const char* what, Scan&& scan, Waits&& waits, Remember&& remember) noexcept {
    turn::checkpoint();
    const bool only_looks = deadline_ps <= turn::now_ps();
    turn::charge(kPollCallPs);
    for (;;) {
        const int n = scan();
        if (n != 0) {
            note_found();
            return n;
        }
        if (turn::now_ps() >= deadline_ps) {
            if (only_looks) {
                remember();
                end_empty_look();
            }
            return only_looks ? scan() : 0;
        }
        turn::WaitSet set(what);
        waits(set);
        if (deadline_ps != INT64_MAX) set.add_deadline(deadline_ps);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) {
            return turn::fail(EIO);
        }
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() != turn::Signals::None) {
            return turn::fail(EINTR);
        }
    }
}

int poll_virtual(pollfd* fds, nfds_t count, int64_t deadline_ps) noexcept {
    const turn::InShim in;
    return wait_loop(
        deadline_ps, "poll",
        [&] {
            int n = 0;
            for (nfds_t i = 0; i < count; ++i) {
                fds[i].revents = 0;
                if (fds[i].fd < 0) continue;
                const short now = ready_of(fds[i].fd, fds[i].events);
                fds[i].revents = static_cast<short>(now & (fds[i].events | POLLERR | POLLHUP | POLLNVAL));
                if (fds[i].revents != 0) ++n;
            }
            return n;
        },
        [&](turn::WaitSet& set) {
            for (nfds_t i = 0; i < count; ++i)
                if (fds[i].fd >= 0) add_waits(set, fds[i].fd, fds[i].events);
        },
        [&] {
            for (nfds_t i = 0; i < count; ++i)
                if (fds[i].fd >= 0) remember_look(fds[i].fd, fds[i].events);
        });
}

int select_virtual(int count, fd_set* r, fd_set* w, fd_set* e, int64_t deadline_ps) noexcept {
    const turn::InShim in;
    fd_set none;
    FD_ZERO(&none);
    const fd_set want_r = r != nullptr ? *r : none;
    const fd_set want_w = w != nullptr ? *w : none;
    const fd_set want_e = e != nullptr ? *e : none;
    const auto wanted = [&](int fd) {
        return static_cast<short>((FD_ISSET(fd, &want_r) ? POLLIN : 0) | (FD_ISSET(fd, &want_w) ? POLLOUT : 0) |
                                  (FD_ISSET(fd, &want_e) ? POLLPRI : 0));
    };
    const int limit = std::min(count, FD_SETSIZE);
    bool bad = false;
    const int found = wait_loop(
        deadline_ps, "select",
        [&] {
            int n = 0;
            fd_set out_r = none;
            fd_set out_w = none;
            fd_set out_e = none;
            for (int fd = 0; fd < limit; ++fd) {
                const short events = wanted(fd);
                if (events == 0) continue;
                const short now = ready_of(fd, events);
                if ((now & POLLNVAL) != 0) bad = true;
                const auto put = [&](bool ready, const fd_set& want, fd_set& out) {
                    if (ready && FD_ISSET(fd, &want)) FD_SET(fd, &out), ++n;
                };
                put((now & (POLLIN | POLLHUP | POLLERR)) != 0, want_r, out_r);
                put((now & (POLLOUT | POLLERR)) != 0, want_w, out_w);
                put((now & POLLPRI) != 0, want_e, out_e);
            }
            if (bad) return -1;
            if (r != nullptr) *r = out_r;
            if (w != nullptr) *w = out_w;
            if (e != nullptr) *e = out_e;
            return n;
        },
        [&](turn::WaitSet& set) {
            for (int fd = 0; fd < limit; ++fd)
                if (const short events = wanted(fd)) add_waits(set, fd, events);
        },
        [&] {
            for (int fd = 0; fd < limit; ++fd)
                if (const short events = wanted(fd)) remember_look(fd, events);
        });
    if (bad) turn::fail(EBADF);
    return found;
}

bool virtual_time() noexcept {
    return lab() != nullptr && turn::active();
}

/// A signal mask for the length of one call.
class TemporaryMask {
  public:
    explicit TemporaryMask(const sigset_t* mask) noexcept : used_(mask != nullptr) {
        if (used_) pthread_sigmask(SIG_SETMASK, mask, &before_);
    }
    ~TemporaryMask() {
        if (!used_) return;
        const int saved = errno;
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = saved;
    }
    TemporaryMask(const TemporaryMask&) = delete;
    TemporaryMask& operator=(const TemporaryMask&) = delete;

  private:
    bool used_;
    sigset_t before_{};
};

}  // namespace

void epoll_forget(int fd) noexcept {
    if (epolls_made.load(std::memory_order_relaxed) == 0) return;
    for_each([&](int, Description& d) {
        if (d.kind != FdKind::Epoll) return;
        epoll_drop(d, find_interest(d, fd));
    });
}

}  // namespace simverbs::client::net

using namespace simverbs::client;
using namespace simverbs::client::net;

SIMVERBS_INTERPOSE int poll(pollfd* fds, nfds_t count, int timeout_ms) {
    spin::before_syscall();
    if (!virtual_time()) return real::poll(fds, count, timeout_ms);
    return poll_virtual(fds, count, clock::deadline_in_ms(timeout_ms));
}

SIMVERBS_INTERPOSE int __poll_chk(pollfd* fds, nfds_t count, int timeout_ms, size_t) {
    return poll(fds, count, timeout_ms);
}

SIMVERBS_INTERPOSE int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    SIMVERBS_REAL(ppoll);
    spin::before_syscall();
    if (!virtual_time()) return real_ppoll(fds, count, timeout, mask);
    const TemporaryMask during(mask);
    return poll_virtual(fds, count, clock::deadline_in(timeout));
}

SIMVERBS_INTERPOSE int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t) {
    return ppoll(fds, count, timeout, mask);
}

SIMVERBS_INTERPOSE int select(int count, fd_set* r, fd_set* w, fd_set* e, timeval* timeout) {
    SIMVERBS_REAL(select);
    spin::before_syscall();
    if (!virtual_time()) return real_select(count, r, w, e, timeout);
    timespec ts{};
    if (timeout != nullptr) ts = {timeout->tv_sec, timeout->tv_usec * 1000};
    return select_virtual(count, r, w, e, clock::deadline_in(timeout != nullptr ? &ts : nullptr));
}

SIMVERBS_INTERPOSE int pselect(int count, fd_set* r, fd_set* w, fd_set* e, const timespec* timeout,
                               const sigset_t* mask) {
    SIMVERBS_REAL(pselect);
    spin::before_syscall();
    if (!virtual_time()) return real_pselect(count, r, w, e, timeout, mask);
    const TemporaryMask during(mask);
    return select_virtual(count, r, w, e, clock::deadline_in(timeout));
}

namespace {

int note_epoll(int fd) noexcept {
    Description* d = fd >= 0 && lab() != nullptr ? assign(fd, FdKind::Epoll) : nullptr;
    if (d == nullptr) return fd;
    epolls_made.fetch_add(1);
    d->write_key = fresh_key();
    return fd;
}

}  // namespace

SIMVERBS_INTERPOSE int epoll_create(int size) noexcept {
    SIMVERBS_REAL(epoll_create);
    return note_epoll(real_epoll_create(size));
}

SIMVERBS_INTERPOSE int epoll_create1(int flags) noexcept {
    SIMVERBS_REAL(epoll_create1);
    return note_epoll(real_epoll_create1(flags));
}

SIMVERBS_INTERPOSE int epoll_ctl(int epfd, int operation, int fd, epoll_event* event) noexcept {
    SIMVERBS_REAL(epoll_ctl);
    const int rc = real_epoll_ctl(epfd, operation, fd, event);
    Description* d = virtual_time() ? peek(epfd) : nullptr;
    if (rc != 0 || d == nullptr || d->kind != FdKind::Epoll) return rc;
    const turn::InShim in;
    if (operation != EPOLL_CTL_DEL) turn::object_bump(d->write_key);
    Interest* known = find_interest(*d, fd);
    if (operation == EPOLL_CTL_DEL) {
        epoll_drop(*d, known);
        return rc;
    }
    const Interest one{fd, event->events, event->data, false, 0, 0};
    if (known != nullptr) {
        *known = one;
    } else if (!add_interest(*d, one)) {
        real_epoll_ctl(epfd, EPOLL_CTL_DEL, fd, nullptr);
        errno = ENOMEM;
        return -1;
    }
    return rc;
}

namespace {

int epoll_wait_virtual(int epfd, epoll_event* events, int room, int64_t deadline_ps) noexcept {
    Description* d = peek(epfd);
    if (room <= 0) {
        errno = EINVAL;
        return -1;
    }
    const turn::InShim in;
    return wait_loop(
        deadline_ps, "epoll_wait", [&] { return epoll_scan(*d, events, room); },
        [&](turn::WaitSet& set) { add_epoll_waits(set, *d, 0); }, [&] { remember_epoll(*d, 0); });
}

bool is_epoll(int fd) noexcept {
    const Description* d = virtual_time() ? peek(fd) : nullptr;
    return d != nullptr && d->kind == FdKind::Epoll;
}

}  // namespace

SIMVERBS_INTERPOSE int epoll_wait(int epfd, epoll_event* events, int room, int timeout_ms) {
    SIMVERBS_REAL(epoll_wait);
    spin::before_syscall();
    if (!is_epoll(epfd)) return real_epoll_wait(epfd, events, room, timeout_ms);
    return epoll_wait_virtual(epfd, events, room, clock::deadline_in_ms(timeout_ms));
}

SIMVERBS_INTERPOSE int epoll_pwait(int epfd, epoll_event* events, int room, int timeout_ms, const sigset_t* mask) {
    SIMVERBS_REAL(epoll_pwait);
    spin::before_syscall();
    if (!is_epoll(epfd)) return real_epoll_pwait(epfd, events, room, timeout_ms, mask);
    const TemporaryMask during(mask);
    return epoll_wait_virtual(epfd, events, room, clock::deadline_in_ms(timeout_ms));
}

SIMVERBS_INTERPOSE int epoll_pwait2(int epfd, epoll_event* events, int room, const timespec* timeout,
                                    const sigset_t* mask) {
    SIMVERBS_REAL(epoll_pwait2);
    spin::before_syscall();
    if (!is_epoll(epfd)) return real_epoll_pwait2(epfd, events, room, timeout, mask);
    const TemporaryMask during(mask);
    return epoll_wait_virtual(epfd, events, room, clock::deadline_in(timeout));
}
