// This process's membership in a lab: the control socket, the mapped lab page and arena, and what the hello said.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::connection {

inline constexpr uint32_t kSlotFromEnvironment = 0xFFFFFFFE;

/// Joins the lab that the environment names (protocol::kEnvSocket): connects, maps the lab page and the arena. Called
/// once by the library's constructor, and again by the child of a fork with the slot that was reserved for it: the
/// parent's socket, arena and contexts are dead for it from then on. Returns false outside a lab. A process image that
/// was started for a lab but cannot join it says so on stderr in one line and ends with kExitCannotJoin, because its
/// results would silently be those of the real machine; a forked child goes on with a lab that is gone.
bool hello(uint32_t slot = kSlotFromEnvironment);
inline constexpr int kExitCannotJoin = 126;

/// True between a successful hello and the end of the server.
bool joined() noexcept;

/// What the hello said; num_devices is 0 outside a lab.
const protocol::HelloReply& hello_reply() noexcept;

/// Null outside a lab.
protocol::LabShared* lab() noexcept;
uint8_t* arena() noexcept;
protocol::ArenaHeader* arena_header() noexcept;
protocol::ProcessEntry* process() noexcept;

/// Changes with every hello and reads 0 in the child of a fork until it has made its own. A context remembers the
/// epoch in which it was opened: a different one means that it belongs to a parent.
uint64_t epoch() noexcept;

/// True once the server has died or ended the lab (or there never was one). One load: cheap enough for every call.
bool server_gone() noexcept;
/// Looks at the control socket whether the server has died without saying so, and remembers it. One system call.
bool check_server() noexcept;
/// Somebody found the server dead: every later call fails.
void note_server_gone() noexcept;

/// Adds to a counter of --stats.
void count(protocol::Stat what, uint64_t by = 1) noexcept;

/// Wakes a sleeping server after a doorbell (wall clock only; with the virtual clock it is woken by the yield).
void wake_server() noexcept;

/// True for descriptors of ours that the program never opened (the control socket): it must not close them.
bool owns_fd(int fd) noexcept;

// --- the control channel -------------------------------------------------------------------------------------------

/// Sends one request (a struct of messages.hpp: `op` and `bytes` set). Magic, sequence, slot and clock are filled in.
/// Returns 0 or an errno, ENODEV if the server is gone. A thread has at most one request on its way.
int send_request(const void* request) noexcept;

/// Receives the reply to the request that this thread sent last; replies that belong to other threads are kept for
/// them. Blocks. Returns the reply's error: 0, an errno, ENODEV if the server is gone. `fds` gets up to `max_fds`
/// descriptors (-1 where fewer came), close-on-exec.
int receive_reply(void* reply, size_t reply_bytes, int* fds, int max_fds) noexcept;

/// One control request: through turn::control with the virtual clock, under a lock with the wall clock.
int request(const void* request, void* reply, size_t reply_bytes, int* fds = nullptr, int max_fds = 0) noexcept;

/// Fills in a request's header.
template <typename T>
T make_request(protocol::Op op) noexcept {
    static_assert(sizeof(T) <= protocol::kMaxMessage);
    T r{};
    r.h.op = op;
    r.h.bytes = static_cast<uint16_t>(sizeof(T));
    return r;
}

}  // namespace simverbs::client::connection
