// What the shim knows of each file descriptor of the process.
#pragma once

#include <cstdint>

#include "verbs_shim/client/net/address.hpp"

namespace simverbs::client::net {

enum class FdKind : uint8_t {
    Unknown = 0,  ///< not looked at yet (inherited, or made behind our back): classified at first use
    Plain,        ///< file, device, terminal, anything that never waits for another lab program
    TcpNew,       ///< stream socket, not connected
    TcpListener,
    TcpStream,  ///< connected to a lab program
    Udp,
    Unix,         ///< UNIX socket, connected or not
    Pipe,         ///< pipe or FIFO made in the lab
    ForeignPipe,  ///< pipe or FIFO of unknown origin (standard input, …)
    EventFd,
    TimerFd,
    Epoll,
    Channel,   ///< completion channel or async event fd
    RdmaCm,    ///< /dev/infiniband/rdma_cm
    Random,    ///< /dev/random, /dev/urandom
    External,  ///< something whose readiness only the kernel knows (outside socket, inotify, signalfd, …)
};

/// State of an open file description, shared by duplicated descriptors of this process.
struct Description {
    FdKind kind = FdKind::Unknown;
    bool v6 = false;
    bool bound_any = false;  ///< the program bound INADDR_ANY: getsockname says so
    bool shut_write = false;
    int32_t refs = 0;        ///< descriptors of this process that name it
    Endpoint local, peer;    ///< simulated addresses
    uint64_t read_key = 0;   ///< object that grows when something can be read (or accepted)
    uint64_t write_key = 0;  ///< object to bump after a write
    uint64_t read_consumed_key = 0, write_consumed_key = 0;  ///< TcpStream: bytes taken out of either direction
    uint32_t handle = 0;                                     ///< RdmaCm: the server's name for it
    uint64_t seen = 0;      ///< Pipe, EventFd: read_key's value at the last empty read; RdmaCm: epoch
    void* extra = nullptr;  ///< Epoll: its interest list
};

inline constexpr int kMaxFds = 1 << 16;

/// The description of `fd`, classifying it first if need be. Null for descriptors beyond the table or not open.
Description* find(int fd) noexcept;
/// The description if one is known, without classifying.
Description* peek(int fd) noexcept;
/// Starts a new description for a descriptor that has just been made.
Description* assign(int fd, FdKind kind) noexcept;
/// `to` is now another name of `from`'s description.
void share(int from, int to) noexcept;
/// The descriptor is about to be closed. Returns its description if this was the last name of it (then owned by the
/// caller until release()), else null.
Description* forget(int fd) noexcept;
void release(Description* d) noexcept;

/// Every known descriptor is below it. Programs close all numbers that there could be, one by one, before they exec.
int end_of_known() noexcept;

/// Calls `visit(fd, description)` for every known descriptor.
template <typename Visit>
void for_each(Visit&& visit) {
    for (int fd = 0, end = end_of_known(); fd < end; ++fd)
        if (Description* d = peek(fd)) visit(fd, *d);
}

/// An open end of a stream, pipe, … that the exit of a process closes: counts it in the shared object.
void retain_end(uint64_t key) noexcept;
/// This process is the one that holds the (already counted) end.
void own_end(uint64_t key) noexcept;
/// Drops an end; at the last one the object grows by one, so that readers see the end of the stream.
void drop_end(uint64_t key) noexcept;

/// The process is ending or becoming another program: gives up its ends (all, or only close-on-exec ones).
void drop_all_ends(bool only_cloexec) noexcept;
/// For a child that is about to be forked: it holds every end once more.
void retain_all_ends() noexcept;
/// In a new program image: the pipes that it inherited are known, so that its exit ends them even if it writes them
/// inside libc only.
void adopt_inherited_ends() noexcept;

}  // namespace simverbs::client::net
