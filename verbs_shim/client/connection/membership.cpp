#include "verbs_shim/client/connection/membership.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include <cstring>

#include "verbs_shim/client/connection/raw_syscall.hpp"

namespace simverbs::client::connection {

using protocol::LabShared;

Membership g_membership;

namespace {

// Where the two mappings are asked for, so that they do not move the program's own mappings from run to run.
constexpr uintptr_t kLabAddress = 0x510000000000;
constexpr uintptr_t kArenaAddress = 0x520000000000;

void* map_shared(int fd, size_t bytes, uintptr_t wanted) {
    const long p = raw_syscall(SYS_mmap, static_cast<long>(wanted), static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE, fd, 0);
    return p < 0 && p > -4096 ? nullptr : reinterpret_cast<void*>(p);
}

}  // namespace

bool Membership::map(int lab_fd, int arena_fd) noexcept {
    lab = static_cast<LabShared*>(map_shared(lab_fd, sizeof(LabShared), kLabAddress));
    arena = static_cast<uint8_t*>(map_shared(arena_fd, protocol::kArenaBytes, kArenaAddress));
    return lab != nullptr && arena != nullptr;
}

void Membership::unmap() noexcept {
    if (lab != nullptr) raw_syscall(SYS_munmap, as_argument(lab), sizeof(LabShared));
    if (arena != nullptr) raw_syscall(SYS_munmap, as_argument(arena), static_cast<long>(protocol::kArenaBytes));
    lab = nullptr;
    arena = nullptr;
}

bool Membership::start_epoch() noexcept {
    if (epoch_page == nullptr) {
        const long p = raw_syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p < 0 && p > -4096) return false;
        raw_syscall(SYS_madvise, p, 4096, MADV_WIPEONFORK);
        epoch_page = reinterpret_cast<std::atomic<uint64_t>*>(p);
    }
    epoch_page->store(++epochs, std::memory_order_relaxed);
    return true;
}

bool joined() noexcept {
    return g_membership.lab != nullptr && !server_gone();
}

const protocol::HelloReply& hello_reply() noexcept {
    return g_membership.reply;
}

LabShared* lab() noexcept {
    return g_membership.lab;
}

uint8_t* arena() noexcept {
    return g_membership.arena;
}

protocol::ArenaHeader* arena_header() noexcept {
    return reinterpret_cast<protocol::ArenaHeader*>(g_membership.arena);
}

protocol::ProcessEntry* process() noexcept {
    if (g_membership.lab == nullptr) return nullptr;
    return &g_membership.lab->processes[g_membership.reply.process % protocol::kMaxProcesses];
}

uint64_t epoch() noexcept {
    return g_membership.epoch_page == nullptr ? 0 : g_membership.epoch_page->load(std::memory_order_relaxed);
}

bool server_gone() noexcept {
    return g_membership.gone.load(std::memory_order_relaxed) || g_membership.lab == nullptr ||
           g_membership.lab->server_alive.load(std::memory_order_relaxed) == 0;
}

void note_server_gone() noexcept {
    g_membership.gone.store(true, std::memory_order_relaxed);
}

bool check_server() noexcept {
    if (server_gone()) return false;
    pollfd p{g_membership.socket, POLLRDHUP, 0};
    if (raw_syscall(SYS_ppoll, as_argument(&p), 1, as_argument(&kNoWait), 0, 8) == 1 &&
        (p.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) != 0) {
        note_server_gone();
    }
    return !server_gone();
}

void count(protocol::Stat what, uint64_t by) noexcept {
    if (auto* p = process()) {
        uint64_t& counter = p->stats[static_cast<size_t>(what)];
        // A statistic: a count lost between two threads is better than a locked instruction on every post.
        __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
    }
}

void wake_server() noexcept {
    LabShared* const page = g_membership.lab;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // what was posted before, then: does it sleep?
    if (page->server_sleeps.load(std::memory_order_relaxed) == 0) return;
    page->server_word.fetch_add(1, std::memory_order_release);
    constexpr long kFutexWake = 1;
    raw_syscall(SYS_futex, as_argument(&page->server_word), kFutexWake, 1);
    count(protocol::Stat::DataPathSyscalls);
}

bool owns_fd(int fd) noexcept {
    return fd >= 0 && fd == g_membership.socket;
}

}  // namespace simverbs::client::connection
