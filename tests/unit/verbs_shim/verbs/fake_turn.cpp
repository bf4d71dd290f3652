// Stands for client/turn, client/spin and client/net: no turns unless a test asks for them, and then every wait is
// recorded.
#include "tests/unit/verbs_shim/verbs/fake_turn.hpp"

#include <cerrno>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/memory/shared_memory.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client {

namespace fake {
FakeTurn g_turn;
int g_channel_fd = -1;
}  // namespace fake

namespace turn {

using fake::g_turn;

bool active() {
    return g_turn.active;
}
uint32_t process_index() {
    return 0;
}
protocol::ThreadSlot* slot() {
    return &g_turn.slot;
}
int64_t now_ps() {
    return g_turn.clock_ps;
}
void charge(int64_t ps) {
    g_turn.clock_ps += ps;
}
void checkpoint() {
    ++g_turn.checkpoints;
}
void note_post(int64_t) {
    ++g_turn.posts;
}
uint64_t deadlines_met() {
    return 0;
}
uint64_t object_value(uint64_t) {
    return 0;
}

WaitSet::WaitSet(const char* what) {
    w.deadline_ps = INT64_MAX;
    std::strncpy(w.what, what, sizeof w.what - 1);
}
void WaitSet::add_object(uint64_t key, uint64_t value, int64_t latency_ps) {
    w.items[w.num_items++] = {protocol::WaitKind::Object, 0, key, value, latency_ps};
}
void WaitSet::add_deadline(int64_t at_ps) {
    w.deadline_ps = at_ps;
}
void WaitSet::add_flags(uint32_t flags) {
    w.flags |= flags;
}

Woken wait(WaitSet& set, uint32_t*) {
    ++g_turn.waits;
    g_turn.last_wait = set.w;
    if (g_turn.on_wait) g_turn.on_wait();
    return Woken::Visible;
}

Signals deliver_signals() {
    return Signals::None;
}

int control(const void* request, void* reply, size_t reply_bytes, int* fds, int max_fds) {
    if (const int error = connection::send_request(request)) return error;
    return connection::receive_reply(reply, reply_bytes, fds, max_fds);
}

InShim::InShim() : saved_errno_(errno) {}
InShim::~InShim() {
    errno = saved_errno_;
}

}  // namespace turn

namespace spin {
std::atomic<bool> pages_protected{false};
void make_accessible() {}
void memory_registered(const void*, size_t, unsigned) {}
void memory_deregistered(const void*, size_t, unsigned) {}
}  // namespace spin

namespace gpu {
bool is_gpu_address(uint64_t) noexcept {
    return false;
}
}  // namespace gpu

namespace memory {
Registration::Registration(const void* address, size_t length) : address_(address), length_(length) {}
Registration::~Registration() = default;
uint32_t Registration::keep() {
    return 0;
}
void deregistered(const void*, size_t, uint32_t) {}
}  // namespace memory

namespace net {
using fake::g_channel_fd;
Description* assign(int fd, FdKind kind) noexcept {
    static Description description;
    description = Description{};
    description.kind = kind;
    g_channel_fd = fd;
    return &description;
}
Description* forget(int fd) noexcept {
    if (fd == g_channel_fd) g_channel_fd = -1;
    return nullptr;
}
void release(Description*) noexcept {}
void add_empty_looks(turn::WaitSet&) noexcept {}
}  // namespace net

}  // namespace simverbs::client
