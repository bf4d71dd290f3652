#include "verbs_shim/client/net/fd_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/cm/device.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/stream_keys.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::net {
namespace {

std::atomic<Description*> table[kMaxFds];
std::atomic<int> known_end{0};

void put(int fd, Description* d) noexcept {
    int end = known_end.load(std::memory_order_relaxed);
    while (fd >= end && !known_end.compare_exchange_weak(end, fd + 1)) {
    }
    table[fd].store(d, std::memory_order_release);
}

bool has_ends(FdKind kind) noexcept {
    return kind == FdKind::TcpStream || kind == FdKind::Pipe || kind == FdKind::ForeignPipe || kind == FdKind::Unix;
}

/// The object whose end this description holds; 0: none.
uint64_t end_key(const Description& d) noexcept {
    if (d.kind == FdKind::TcpListener) return d.read_key;
    return has_ends(d.kind) && !d.shut_write ? d.write_key : 0;
}

bool is_listener(uint64_t key) noexcept {
    return key >> 56 == static_cast<uint64_t>(protocol::ObjectKind::Listener);
}

void classify_socket(int fd, Description& d) noexcept {
    int type = 0;
    int domain = 0;
    socklen_t size = sizeof type;
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
    size = sizeof domain;
    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    if (domain == AF_UNIX) {
        d.kind = FdKind::External;  // inherited: we do not know who is at the other end
        return;
    }
    if (domain != AF_INET && domain != AF_INET6) {
        d.kind = FdKind::External;
        return;
    }
    d.v6 = domain == AF_INET6;
    if (type == SOCK_DGRAM) {
        d.kind = FdKind::Udp;
    } else if (type == SOCK_STREAM) {
        int listening = 0;
        size = sizeof listening;
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
        d.kind = listening != 0 ? FdKind::TcpListener : FdKind::TcpNew;
    } else {
        d.kind = FdKind::External;
    }
    complete_from_kernel(fd, d);
}

bool is_writer(int fd) noexcept {
    return (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

/// A pipe that was made in the lab has an object with open ends.
void classify_pipe(int fd, uint64_t key, Description& d) noexcept {
    const protocol::SharedObject* const o = turn::active() ? turn::object_find(key, false) : nullptr;
    const bool of_the_lab = o != nullptr && o->refs.load(std::memory_order_relaxed) > 0;
    d.kind = of_the_lab ? FdKind::Pipe : FdKind::ForeignPipe;
    d.read_key = key;
    if (!of_the_lab || is_writer(fd)) d.write_key = key;
}

void classify(int fd, Description& d) noexcept {
    if (clock::is_timerfd(fd)) {
        d.kind = FdKind::TimerFd;
        return;
    }
    struct stat st {};
    if (fstat(fd, &st) != 0) {
        d.kind = FdKind::Plain;
        return;
    }
    if (S_ISSOCK(st.st_mode)) {
        classify_socket(fd, d);
    } else if (S_ISFIFO(st.st_mode)) {
        classify_pipe(fd, inode_key(st.st_dev, st.st_ino), d);
    } else if (S_ISCHR(st.st_mode) && isatty(fd) != 0) {
        d.kind = FdKind::External;
    } else {
        d.kind = FdKind::Plain;
    }
}

}  // namespace

int end_of_known() noexcept {
    return known_end.load(std::memory_order_acquire);
}

Description* peek(int fd) noexcept {
    if (fd < 0 || fd >= kMaxFds) return nullptr;
    return table[fd].load(std::memory_order_acquire);
}

Description* assign(int fd, FdKind kind) noexcept {
    if (fd < 0 || fd >= kMaxFds) return nullptr;
    if (Description* old = forget(fd)) release(old);
    auto* d = static_cast<Description*>(std::calloc(1, sizeof(Description)));
    if (d == nullptr) return nullptr;
    new (d) Description;
    d->kind = kind;
    d->refs = 1;
    put(fd, d);
    return d;
}

Description* find(int fd) noexcept {
    if (fd < 0 || fd >= kMaxFds) return nullptr;
    if (Description* d = table[fd].load(std::memory_order_acquire)) return d;
    const int saved = errno;
    Description* d = nullptr;
    if (fcntl(fd, F_GETFD) != -1) {
        d = assign(fd, FdKind::Unknown);
        if (d != nullptr) classify(fd, *d);
    }
    errno = saved;
    return d;
}

void share(int from, int to) noexcept {
    if (to < 0 || to >= kMaxFds || from == to) return;
    if (Description* old = forget(to)) release(old);
    Description* d = find(from);
    if (d == nullptr) return;
    __atomic_fetch_add(&d->refs, 1, __ATOMIC_RELAXED);
    put(to, d);
}

Description* forget(int fd) noexcept {
    if (fd < 0 || fd >= kMaxFds) return nullptr;
    Description* d = table[fd].exchange(nullptr, std::memory_order_acq_rel);
    if (d == nullptr) return nullptr;
    return __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL) == 0 ? d : nullptr;
}

void release(Description* d) noexcept {
    if (d == nullptr) return;
    drop_end(end_key(*d));
    if (d->kind == FdKind::RdmaCm) cm::device_closed(d->handle);
    std::free(d->extra);
    std::free(d);
}

void retain_end(uint64_t key) noexcept {
    if (!turn::active() || key == 0) return;
    if (protocol::SharedObject* o = turn::object_find(key, true)) {
        const bool first = o->refs.fetch_add(1, std::memory_order_relaxed) == 0;
        // A child that was forked to close it has no part in whether its parent listens.
        if (first || !is_listener(key)) o->last_process.store(process_index() + 1, std::memory_order_relaxed);
    }
}

void own_end(uint64_t key) noexcept {
    if (!turn::active() || key == 0) return;
    if (protocol::SharedObject* o = turn::object_find(key, true))
        o->last_process.store(process_index() + 1, std::memory_order_relaxed);
}

void drop_end(uint64_t key) noexcept {
    if (!turn::active() || key == 0) return;
    protocol::SharedObject* o = turn::object_find(key, true);
    if (o == nullptr) return;
    const uint32_t refs = o->refs.load(std::memory_order_relaxed);
    if (refs > 0) o->refs.store(refs - 1, std::memory_order_relaxed);
    if (refs > 1) {
        // Others listen on, whatever becomes of this process.
        if (is_listener(key) && o->last_process.load(std::memory_order_relaxed) == process_index() + 1)
            o->last_process.store(0, std::memory_order_relaxed);
        return;
    }
    turn::object_bump(key);
    if (is_listener(key)) turn::object_set_aux(key, 0);
}

void drop_all_ends(bool only_cloexec) noexcept {
    for_each([&](int fd, Description& d) {
        if (end_key(d) == 0) return;
        if (only_cloexec && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) return;
        if (--d.refs > 0) return;
        if (d.kind == FdKind::ForeignPipe && !is_writer(fd)) return;
        drop_end(end_key(d));
    });
}

void retain_all_ends() noexcept {
    Description* counted = nullptr;
    for_each([&](int, Description& d) {
        if (&d == counted || end_key(d) == 0) return;
        counted = &d;
        retain_end(end_key(d));
    });
}

void adopt_inherited_ends() noexcept {
    constexpr int kLooked = 256;
    for (int fd = 0; fd < kLooked; ++fd) {
        struct stat st {};
        if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)) continue;
        const Description* const d = find(fd);
        if (d != nullptr && d->kind == FdKind::Pipe) own_end(d->write_key);
    }
}

}  // namespace simverbs::client::net
