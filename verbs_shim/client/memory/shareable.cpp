// Which memory may be replaced by a shared mapping without the program noticing.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "verbs_shim/client/memory/segments.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::memory {

namespace {

/// Threads of this process as the kernel counts them, 0 if it does not tell.
uint64_t count_threads() {
    struct stat tasks;
    if (kernel(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) != 0) return 0;
    constexpr uint64_t kDotAndDotDot = 2;
    return tasks.st_nlink < kDotAndDotDot ? 0 : tasks.st_nlink - kDotAndDotDot;
}

/// Threads of this process that stand still until the server grants them the turn.
uint64_t count_waiting_threads() {
    using protocol::Turn;
    const protocol::LabShared* const lab = turn::lab();
    const uint32_t process = turn::process_index();
    const uint32_t slots = lab->num_slots.load(std::memory_order_acquire);
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < slots && i < protocol::kMaxThreads; ++i) {
        const protocol::ThreadSlot& s = lab->slots[i];
        if (s.process == process && s.turn.load(std::memory_order_acquire) == static_cast<uint32_t>(Turn::Waiting))
            ++waiting;
    }
    return waiting;
}

/// glibc's arenas of other threads trim themselves with a madvise that nobody can intercept, and rely on its zeroes.
/// Their parts are aligned and begin with arena, previous part, size, accessible size (struct heap_info).
bool lies_in_malloc_arena(const Mapping& m, uintptr_t begin, uintptr_t end) {
    constexpr uintptr_t kPartBytes = 64 << 20;  // HEAP_MAX_SIZE of 64-bit glibc
    const uintptr_t part = begin & ~(kPartBytes - 1);
    if (part < m.begin || part == begin) return false;
    const auto* const head = reinterpret_cast<const volatile uintptr_t*>(part);
    const uintptr_t arena = head[0], size = head[2], accessible = head[3];
    return arena != 0 && size != 0 && size % sizeof(uintptr_t) == 0 && size <= accessible && accessible % kPage == 0 &&
           accessible <= kPartBytes && end <= part + accessible;
}

/// True if the kernel (io_uring, vfio, …) holds on to pages of this process, and would go on using those that were
/// replaced, or if the program has locked memory, which a new mapping is not.
bool has_pinned_pages() {
    char text[kPage];
    const long fd = kernel(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true;
    const long n = kernel(SYS_read, fd, text, sizeof text - 1);
    kernel(SYS_close, fd);
    text[n < 0 ? 0 : n] = '\0';
    for (const char* const name : {"\nVmLck:", "\nVmPin:"}) {
        const char* at = strstr(text, name);
        if (at == nullptr) return true;
        at += strlen(name);
        at += strspn(at, " \t");
        if (at[0] != '0' || at[1] != ' ') return true;
    }
    return false;
}

bool file_size_is_limited() {
    struct rlimit limit {};
    return kernel(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

bool alone() {
    const uint64_t threads = count_threads();
    if (threads == 1) return true;
    return threads != 0 && turn::active() && threads <= count_waiting_threads() + 1;
}

bool can_be_shared(const Mapping& m, const Mapping& before, uintptr_t begin, uintptr_t end) {
    if (m.named || m.shared || m.inode != 0 || m.protection != (PROT_READ | PROT_WRITE)) return false;
    // The stack this runs on, whoever made it.
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (here >= m.begin && here < m.end) return false;
    if (!alone()) return false;
    // Another thread's stack lies above its guard.
    if (before.end == m.begin && before.protection == PROT_NONE && count_threads() != 1) return false;
    return !lies_in_malloc_arena(m, begin, end) && !file_size_is_limited() && !has_pinned_pages();
}

NoSignals::NoSignals() {
    const uint64_t all = ~uint64_t{0};
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
}

NoSignals::~NoSignals() {
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
}

}  // namespace simverbs::client::memory
