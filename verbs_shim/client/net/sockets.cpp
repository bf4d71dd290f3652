// Sockets of a simulated host: addresses are translated, and under the virtual clock nothing blocks in the kernel while
// the thread has the turn: it waits for the shared object behind the socket first.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/address.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/message_io.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/net/socket_calls.hpp"
#include "verbs_shim/client/net/stream_keys.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {
namespace {

using protocol::ObjectKind;

constexpr int kNetlinkRdma = 20;  // NETLINK_RDMA of <linux/netlink.h>
constexpr uint16_t kFirstEphemeral = 32768;
constexpr uint16_t kEphemeralPorts = 28232;

bool outside() noexcept {
    return lab() == nullptr;
}
uint32_t block() noexcept {
    return lab()->lab_block;
}

bool blocking(int fd, int flags) noexcept {
    return (flags & MSG_DONTWAIT) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

bool is_inet(const Description* d) noexcept {
    return d != nullptr && (d->kind == FdKind::TcpNew || d->kind == FdKind::TcpStream ||
                            d->kind == FdKind::TcpListener || d->kind == FdKind::Udp);
}

int bind_here(int fd, Description& d, uint16_t port) noexcept {
    sockaddr_storage under{};
    socklen_t size = 0;
    if (port != 0) {
        put_under({host_address(), port}, d.v6, block(), under, size);
        if (real::bind(fd, reinterpret_cast<sockaddr*>(&under), size) != 0) return -1;
        d.local = {host_address(), port};
        return 0;
    }
    auto& next = lab()->hosts[host_index()].next_ephemeral_port;
    for (int i = 0; i < kEphemeralPorts; ++i) {
        const auto candidate = static_cast<uint16_t>(kFirstEphemeral + next.fetch_add(1) % kEphemeralPorts);
        put_under({host_address(), candidate}, d.v6, block(), under, size);
        if (real::bind(fd, reinterpret_cast<sockaddr*>(&under), size) == 0) {
            d.local = {host_address(), candidate};
            return 0;
        }
        if (errno != EADDRINUSE) return -1;
    }
    return -1;
}

/// The simulated endpoint that a destination means, or nothing if it lies outside the lab.
bool destination(const Meaning& m, Endpoint& out) noexcept {
    if (m.kind == AddressKind::Lab) {
        out = m.endpoint;
        return true;
    }
    if (m.kind == AddressKind::Loopback || m.kind == AddressKind::Any) {
        out = {host_address(), m.endpoint.port};
        return true;
    }
    return false;
}

/// A connection with the same ports may have existed before: forget what its counters say.
void reset_stream(const Description& d) noexcept {
    for (const auto& [bytes, consumed] :
         {std::pair{d.read_key, d.read_consumed_key}, std::pair{d.write_key, d.write_consumed_key}}) {
        protocol::SharedObject* from = turn::object_find(bytes, true);
        protocol::SharedObject* to = turn::object_find(consumed, true);
        if (from == nullptr || to == nullptr) continue;
        from->refs.store(1, std::memory_order_relaxed);  // one end either way, the acceptor's too: it exists already
        to->value.store(from->value.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

bool listening(uint64_t key) noexcept {
    return (turn::object_aux(key) & 1) != 0;
}

/// Rule 9: a connect without a listener is held until the target's initial program first blocks or ends.
int await_listener(const Endpoint& to) noexcept {
    const uint64_t key = port_key(ObjectKind::Listener, to);
    const int target = host_of_address(to.address);
    if (target < 0) return EHOSTUNREACH;
    const uint64_t busy = protocol::object_key(ObjectKind::HostBusy, static_cast<uint64_t>(target));
    char what[64];
    std::snprintf(what, sizeof what, "connect to %s port %u", lab()->hosts[target].name, to.port);
    while (!listening(key)) {
        if (turn::object_value(busy) != 0) {
            turn::charge(2 * kTcpLatencyPs);
            return ECONNREFUSED;
        }
        turn::WaitSet set(what);
        set.add_object(key, turn::object_value(key), kTcpLatencyPs);
        set.add_object(busy, 0, kTcpLatencyPs);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) return ENETDOWN;
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) return EINTR;
    }
    return 0;
}

/// With the wall clock all programs of a lab start at once and race: in the lab's first seconds a blocking connect
/// without a listener tries again, as if the client had been started by hand after the server.
int connect_by_wall_clock(int fd, const sockaddr_storage& under, socklen_t size) noexcept {
    constexpr int64_t kStartPs = 3'000'000'000'000;
    constexpr timespec kAgain{0, 1'000'000};
    const bool may_hold = lab()->clock_mode == protocol::ClockMode::Wall && blocking(fd, 0);
    for (;;) {
        const int rc = real::connect(fd, reinterpret_cast<const sockaddr*>(&under), size);
        if (rc == 0 || errno != ECONNREFUSED || !may_hold || turn::now_ps() >= kStartPs) return rc;
        kernel(SYS_nanosleep, &kAgain, nullptr);
        errno = ECONNREFUSED;
    }
}

int connect_stream(int fd, Description& d, const Endpoint& to) noexcept {
    if (turn::active()) {
        turn::checkpoint();
        if (const int error = await_listener(to)) return turn::fail(error);
    }
    if (d.local.port == 0 && bind_here(fd, d, 0) != 0) return turn::fail(errno);
    d.peer = to;
    sockaddr_storage under{};
    socklen_t size = 0;
    put_under(to, d.v6, block(), under, size);
    if (!turn::active()) {
        const int rc = turn::keep_errno(connect_by_wall_clock(fd, under, size));
        if (rc == 0 || errno == EINPROGRESS) d.kind = FdKind::TcpStream;
        return rc;
    }
    const int flags = fcntl(fd, F_GETFL);
    if ((flags & O_NONBLOCK) != 0) fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    const int rc = real::connect(fd, reinterpret_cast<sockaddr*>(&under), size);
    const int error = errno;
    if ((flags & O_NONBLOCK) != 0) fcntl(fd, F_SETFL, flags);
    if (rc != 0) return turn::fail(error);
    set_stream_keys(d);
    reset_stream(d);
    own_end(d.write_key);
    turn::charge(2 * kTcpLatencyPs);
    turn::object_bump(port_key(ObjectKind::Listener, to));
    return 0;
}

int take_connection(int fd, sockaddr* address, socklen_t* length, int flags) noexcept {
    sockaddr_storage a{};
    socklen_t size = sizeof a;
    const int made = turn::keep_errno(real::accept4(fd, reinterpret_cast<sockaddr*>(&a), &size, flags));
    if (made < 0) return made;
    Description* d = assign(made, FdKind::TcpNew);
    const Description* listener = peek(fd);
    if (d != nullptr) {
        d->v6 = listener != nullptr && listener->v6;
        complete_from_kernel(made, *d);
        if (turn::active() && d->kind == FdKind::TcpStream) own_end(d->write_key);
    }
    to_program(reinterpret_cast<sockaddr*>(&a), size, block());
    if (address != nullptr && length != nullptr) {
        std::memcpy(address, &a, *length < size ? *length : size);
        *length = size;
    }
    return made;
}

void count_call() noexcept {
    if (protocol::LabShared* page = lab())
        ++page->processes[process_index()].stats[static_cast<size_t>(protocol::Stat::SocketCalls)];
}

void charge_bytes(ssize_t n) noexcept {
    if (n > 0) turn::charge(n * kSocketBytePs);
}

/// After bytes were taken: readers' counters, and room for the writer.
void note_received(Description& d, ssize_t n) noexcept {
    if (d.kind == FdKind::TcpStream && n > 0) turn::object_bump(d.read_consumed_key, static_cast<uint64_t>(n));
    if (d.kind == FdKind::Udp && d.read_key != 0) turn::object_set_aux(d.read_key, turn::object_aux(d.read_key) + 2);
}

void note_sent(Description& d, ssize_t n) noexcept {
    if (d.kind == FdKind::TcpStream && n > 0) turn::object_bump(d.write_key, static_cast<uint64_t>(n));
    if (d.kind == FdKind::Unix) turn::object_bump(unix_activity_key());
}

/// A datagram socket has its port now. What was sent there before is lost.
void start_receiving(Description& d) noexcept {
    d.read_key = port_key(ObjectKind::Datagram, d.local);
    if (turn::active()) turn::object_set_aux(d.read_key, turn::object_value(d.read_key) << 1);
}

size_t bytes_in(const msghdr& m) noexcept {
    size_t n = 0;
    for (size_t i = 0; i < m.msg_iovlen; ++i) n += m.msg_iov[i].iov_len;
    return n;
}

}  // namespace

ssize_t receive(int fd, msghdr* message, int flags) noexcept {
    Description* d = find(fd);
    spin::before_syscall();
    if (d == nullptr || outside()) return real::recvmsg(fd, message, flags);
    const socklen_t room = message->msg_namelen;
    const bool virtual_time = turn::active() && d->kind != FdKind::TcpNew;
    ssize_t n = -1;
    if (virtual_time) {
        turn::InShim in;
        count_call();
        turn::checkpoint();
        turn::charge(kSocketCallPs);
        const bool wait_all = (flags & MSG_WAITALL) != 0 && d->kind == FdKind::TcpStream;
        if (blocking(fd, flags)) {
            int64_t deadline = INT64_MAX;
            timeval tv{};
            socklen_t size = sizeof tv;
            if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &size) == 0 && (tv.tv_sec != 0 || tv.tv_usec != 0))
                deadline = turn::now_ps() + (int64_t{tv.tv_sec} * 1'000'000 + tv.tv_usec) * 1'000'000;
            char what[64];
            std::snprintf(what, sizeof what, "recv on port %u from port %u of 10.0.%u.%u", d->local.port, d->peer.port,
                          (d->peer.address >> 8) & 0xFF, d->peer.address & 0xFF);
            if (const int error = await_ready(fd, d, POLLIN, deadline, what)) return turn::fail(error);
            if (wait_all) {
                while (turn::object_value(d->read_key) - turn::object_value(d->read_consumed_key) <
                           bytes_in(*message) &&
                       turn::object_find(d->read_key, true)->refs.load() != 0) {
                    turn::WaitSet set(what);
                    set.add_object(d->read_key, turn::object_value(d->read_key), kTcpLatencyPs);
                    if (turn::wait(set) == turn::Woken::ServerGone) break;
                }
            }
        } else {
            if ((ready_events(fd, d, POLLIN) & (POLLIN | POLLHUP | POLLERR)) == 0) {
                note_empty_look(fd, POLLIN);
                return turn::fail(EAGAIN);
            }
        }
        note_found();
    }
    n = real::recvmsg(fd, message, flags);
    if (n >= 0) {
        const int saved = errno;
        if (virtual_time) charge_bytes(n);
        if (virtual_time && (flags & MSG_PEEK) == 0) note_received(*d, n);
        if (message->msg_name != nullptr && room >= sizeof(sockaddr_in))
            to_program(static_cast<sockaddr*>(message->msg_name), message->msg_namelen, block());
        errno = saved;
    }
    return n;
}

namespace {

ssize_t send_stream(int fd, Description& d, const msghdr& message, int flags) noexcept {
    const bool wait = blocking(fd, flags);
    size_t done = 0;
    const size_t total = bytes_in(message);
    iovec pieces[64];
    for (;;) {
        size_t skip = done;
        size_t count = 0;
        for (size_t i = 0; i < message.msg_iovlen && count < 64; ++i) {
            const iovec& v = message.msg_iov[i];
            if (skip >= v.iov_len) {
                skip -= v.iov_len;
                continue;
            }
            pieces[count++] = {static_cast<char*>(v.iov_base) + skip, v.iov_len - skip};
            skip = 0;
        }
        msghdr part = message;
        part.msg_iov = pieces;
        part.msg_iovlen = count;
        if (done > 0) part.msg_controllen = 0;
        const ssize_t n = real::sendmsg(fd, &part, flags | MSG_DONTWAIT);
        if (n >= 0) {
            charge_bytes(n);
            note_sent(d, n);
            done += static_cast<size_t>(n);
            if (done >= total || n == 0) return static_cast<ssize_t>(done);
            if (!wait) return static_cast<ssize_t>(done);
            continue;
        }
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait)
            return done > 0 ? static_cast<ssize_t>(done) : turn::fail(errno);
        turn::WaitSet set("send: the peer's receive buffer is full");
        set.add_object(d.write_consumed_key, turn::object_value(d.write_consumed_key), kTcpLatencyPs);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::ServerGone) return turn::fail(ECONNRESET);
        if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt)
            return done > 0 ? static_cast<ssize_t>(done) : turn::fail(EINTR);
        pollfd room{fd, POLLOUT, 0};
        real::poll(&room, 1, 50);
    }
}

}  // namespace

ssize_t transmit(int fd, const msghdr* message, int flags) noexcept {
    Description* d = find(fd);
    spin::before_syscall();
    if (d == nullptr || outside()) return real::sendmsg(fd, message, flags);
    msghdr m = *message;
    sockaddr_storage under{};
    Endpoint to{};
    bool to_lab = false;
    if (is_inet(d) && m.msg_name != nullptr && m.msg_namelen > 0 && d->kind != FdKind::TcpStream) {
        const Meaning meaning = meaning_of(static_cast<const sockaddr*>(m.msg_name), m.msg_namelen);
        if (destination(meaning, to)) {
            if (d->local.port == 0 && bind_here(fd, *d, 0) != 0) return -1;
            if (d->kind == FdKind::Udp && d->read_key == 0) start_receiving(*d);
            put_under(to, d->v6, block(), under, m.msg_namelen);
            m.msg_name = &under;
            to_lab = true;
        }
    } else if (d->kind == FdKind::Udp && d->peer.port != 0) {
        to = d->peer;
        to_lab = true;
    }
    if (!turn::active()) return real::sendmsg(fd, &m, flags);
    turn::InShim in;
    count_call();
    turn::checkpoint();
    turn::charge(kSocketCallPs);
    if (d->kind == FdKind::TcpStream) return send_stream(fd, *d, m, flags);
    const ssize_t n = turn::keep_errno(real::sendmsg(fd, &m, flags));
    const int saved = errno;
    charge_bytes(n);
    if (n >= 0 && d->kind == FdKind::Udp && to_lab) turn::object_bump(port_key(ObjectKind::Datagram, to));
    if (n >= 0) note_sent(*d, n);
    errno = saved;
    return n;
}

}  // namespace simverbs::client::net

using namespace simverbs::client;
using namespace simverbs::client::net;

SIMVERBS_INTERPOSE int socket(int domain, int type, int protocol) {
    if (domain == AF_NETLINK && protocol == kNetlinkRdma && lab() != nullptr) {
        // It would tell of the real machine's devices.
        errno = EPROTONOSUPPORT;
        return -1;
    }
    const int fd = real::socket(domain, type, protocol);
    if (fd < 0 || lab() == nullptr) return fd;
    const turn::InShim in;
    const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    const bool inet = domain == AF_INET || domain == AF_INET6;
    FdKind made = FdKind::External;
    if (inet && kind == SOCK_STREAM) made = FdKind::TcpNew;
    if (inet && kind == SOCK_DGRAM) made = FdKind::Udp;
    if (domain == AF_UNIX) made = FdKind::Unix;
    if (Description* d = assign(fd, made)) {
        d->v6 = domain == AF_INET6;
        if (made == FdKind::Unix) d->read_key = unix_activity_key();
        if (d->v6) {
            const int off = 0;  // the kernel side of every simulated IPv6 address is a mapped IPv4 one
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        }
    }
    return fd;
}

SIMVERBS_INTERPOSE int socketpair(int domain, int type, int protocol, int fds[2]) {
    SIMVERBS_REAL(socketpair);
    const int rc = real_socketpair(domain, type, protocol, fds);
    if (rc != 0 || lab() == nullptr) return rc;
    const turn::InShim in;
    for (int i = 0; i < 2; ++i)
        if (Description* d = assign(fds[i], FdKind::Unix)) d->read_key = unix_activity_key();
    return rc;
}

SIMVERBS_INTERPOSE int bind(int fd, const sockaddr* address, socklen_t length) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    if (!is_inet(d)) return real::bind(fd, address, length);
    const Meaning m = meaning_of(address, length);
    if (m.kind == AddressKind::NotIp) return real::bind(fd, address, length);
    if (m.kind == AddressKind::Outside || (m.kind == AddressKind::Lab && m.endpoint.address != host_address())) {
        errno = EADDRNOTAVAIL;  // this simulated host has no such address
        return -1;
    }
    const int rc = bind_here(fd, *d, m.endpoint.port);
    if (rc == 0) {
        d->bound_any = m.kind == AddressKind::Any;
        if (d->kind == FdKind::Udp) start_receiving(*d);
    }
    return rc;
}

SIMVERBS_INTERPOSE int listen(int fd, int backlog) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    if (!is_inet(d)) return real::listen(fd, backlog);
    if (d->local.port == 0 && bind_here(fd, *d, 0) != 0) return -1;
    const int rc = real::listen(fd, backlog);
    if (rc != 0) return rc;
    d->kind = FdKind::TcpListener;
    d->read_key = port_key(simverbs::protocol::ObjectKind::Listener, d->local);
    if (turn::active()) {
        const turn::InShim in;
        // A second listen() on the same socket counts no second end.
        if ((turn::object_aux(d->read_key) & 1) == 0) retain_end(d->read_key);
        turn::object_bump(d->read_key);  // whoever waits to connect looks again
        turn::object_set_aux(d->read_key, (turn::object_value(d->read_key) << 1) | 1);
    }
    return rc;
}

SIMVERBS_INTERPOSE int connect(int fd, const sockaddr* address, socklen_t length) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    if (d != nullptr && d->kind == FdKind::Unix) {
        d->kind = FdKind::External;
        d->read_key = 0;
    }
    if (!is_inet(d)) return real::connect(fd, address, length);
    const Meaning m = meaning_of(address, length);
    Endpoint to;
    if (!destination(m, to)) {
        if (m.kind == AddressKind::NotIp) return real::connect(fd, address, length);
        errno = ENETUNREACH;  // a simulated host knows its lab only
        return -1;
    }
    if (d->kind != FdKind::Udp) {
        if (d->kind == FdKind::TcpStream) return turn::fail(EISCONN);
        const turn::InShim in;
        return connect_stream(fd, *d, to);
    }
    if (d->local.port == 0 && bind_here(fd, *d, 0) != 0) return -1;
    if (d->read_key == 0) start_receiving(*d);
    d->peer = to;
    sockaddr_storage under{};
    socklen_t size = 0;
    put_under(to, d->v6, block(), under, size);
    return real::connect(fd, reinterpret_cast<sockaddr*>(&under), size);
}

SIMVERBS_INTERPOSE int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    if (d == nullptr || d->kind != FdKind::TcpListener) return real::accept4(fd, address, length, flags);
    if (turn::active()) {
        const turn::InShim in;
        char what[64];
        std::snprintf(what, sizeof what, "accept on port %u", d->local.port);
        if (blocking(fd, 0)) {
            if (const int error = await_ready(fd, d, POLLIN, INT64_MAX, what)) return turn::fail(error);
        } else {
            turn::checkpoint();
            if ((ready_events(fd, d, POLLIN) & POLLIN) == 0) {
                note_empty_look(fd, POLLIN);
                return turn::fail(EAGAIN);
            }
        }
        note_found();
        turn::object_set_aux(d->read_key, turn::object_aux(d->read_key) + 2);
        turn::charge(kSocketCallPs);
        return take_connection(fd, address, length, flags);
    }
    return take_connection(fd, address, length, flags);
}

SIMVERBS_INTERPOSE int accept(int fd, sockaddr* address, socklen_t* length) {
    return accept4(fd, address, length, 0);
}

SIMVERBS_INTERPOSE int shutdown(int fd, int how) {
    Description* d = lab() == nullptr ? nullptr : find(fd);
    const int rc = real::shutdown(fd, how);
    if (rc == 0 && d != nullptr && d->kind == FdKind::TcpStream && how != SHUT_RD && !d->shut_write && turn::active()) {
        const turn::InShim in;
        d->shut_write = true;
        drop_end(d->write_key);
    }
    return rc;
}

SIMVERBS_INTERPOSE int getsockname(int fd, sockaddr* address, socklen_t* length) {
    const int rc = real::getsockname(fd, address, length);
    if (rc != 0 || lab() == nullptr) return rc;
    to_program(address, *length, block());
    const Description* d = peek(fd);
    if (d != nullptr && d->bound_any && d->kind != FdKind::TcpStream) {
        if (address->sa_family == AF_INET && *length >= sizeof(sockaddr_in))
            reinterpret_cast<sockaddr_in*>(address)->sin_addr.s_addr = INADDR_ANY;
        if (address->sa_family == AF_INET6 && *length >= sizeof(sockaddr_in6))
            reinterpret_cast<sockaddr_in6*>(address)->sin6_addr = in6addr_any;
    }
    return rc;
}

SIMVERBS_INTERPOSE int getpeername(int fd, sockaddr* address, socklen_t* length) {
    const int rc = real::getpeername(fd, address, length);
    if (rc == 0 && lab() != nullptr) to_program(address, *length, block());
    return rc;
}

SIMVERBS_INTERPOSE int setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
    SIMVERBS_REAL(setsockopt);
    if (lab() != nullptr && is_inet(peek(fd))) {
        if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY) return 0;  // must stay off underneath
        if (level == SOL_SOCKET && name == SO_BINDTODEVICE)
            return 0;  // every route of a simulated host is through the lab
    }
    spin::before_syscall();
    return real_setsockopt(fd, level, name, value, length);
}

SIMVERBS_INTERPOSE ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    return transmit(fd, message, flags);
}
SIMVERBS_INTERPOSE ssize_t recvmsg(int fd, msghdr* message, int flags) {
    return receive(fd, message, flags);
}

SIMVERBS_INTERPOSE ssize_t sendto(int fd, const void* buffer, size_t bytes, int flags, const sockaddr* address,
                                  socklen_t length) {
    iovec piece{const_cast<void*>(buffer), bytes};
    msghdr m{};
    m.msg_name = const_cast<sockaddr*>(address);
    m.msg_namelen = address == nullptr ? 0 : length;
    m.msg_iov = &piece;
    m.msg_iovlen = 1;
    return transmit(fd, &m, flags);
}

SIMVERBS_INTERPOSE ssize_t send(int fd, const void* buffer, size_t bytes, int flags) {
    return sendto(fd, buffer, bytes, flags, nullptr, 0);
}

SIMVERBS_INTERPOSE ssize_t recvfrom(int fd, void* buffer, size_t bytes, int flags, sockaddr* address,
                                    socklen_t* length) {
    iovec piece{buffer, bytes};
    msghdr m{};
    m.msg_name = address;
    m.msg_namelen = address == nullptr || length == nullptr ? 0 : *length;
    m.msg_iov = &piece;
    m.msg_iovlen = 1;
    const ssize_t n = receive(fd, &m, flags);
    if (n >= 0 && address != nullptr && length != nullptr) *length = m.msg_namelen;
    return n;
}

SIMVERBS_INTERPOSE ssize_t recv(int fd, void* buffer, size_t bytes, int flags) {
    return recvfrom(fd, buffer, bytes, flags, nullptr, nullptr);
}

SIMVERBS_INTERPOSE ssize_t __recv_chk(int fd, void* buffer, size_t bytes, size_t room, int flags) {
    return recv(fd, buffer, bytes < room ? bytes : room, flags);
}

SIMVERBS_INTERPOSE ssize_t __recvfrom_chk(int fd, void* buffer, size_t bytes, size_t room, int flags, sockaddr* address,
                                          socklen_t* length) {
    return recvfrom(fd, buffer, bytes < room ? bytes : room, flags, address, length);
}

SIMVERBS_INTERPOSE int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
    unsigned sent = 0;
    for (; sent < count; ++sent) {
        const ssize_t n = transmit(fd, &messages[sent].msg_hdr, flags);
        if (n < 0) break;
        messages[sent].msg_len = static_cast<unsigned>(n);
    }
    return sent > 0 || count == 0 ? static_cast<int>(sent) : -1;
}

SIMVERBS_INTERPOSE int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
    unsigned got = 0;
    for (; got < count; ++got) {
        const ssize_t n = receive(fd, &messages[got].msg_hdr, got > 0 ? flags | MSG_DONTWAIT : flags & ~MSG_WAITFORONE);
        if (n < 0) break;
        messages[got].msg_len = static_cast<unsigned>(n);
    }
    (void)timeout;
    return got > 0 || count == 0 ? static_cast<int>(got) : -1;
}
