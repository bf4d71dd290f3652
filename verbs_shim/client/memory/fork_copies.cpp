// The child of a fork gets copies of shared memory, as it does of all private memory. The parent makes them before the
// fork, so that both see the bytes of that moment; the child puts them where the shared mappings are.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/memory/segments.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

namespace simverbs::client::memory {

namespace {

struct Copy {
    uintptr_t original, bytes, copy;
    int protection;
};
constexpr uint32_t kMaxCopies = 2 * kMaxSegments;  // a mapping whose protection was changed in part is several
Copy g_copies[kMaxCopies];
uint32_t g_num_copies = 0;
bool g_complete = true;

constexpr int kOpen = PROT_READ | PROT_WRITE;

bool make_copy(const Mapping& m) {
    if (g_num_copies == kMaxCopies) return false;
    const uintptr_t bytes = m.end - m.begin;
    const long copy = kernel(SYS_mmap, nullptr, bytes, kOpen, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == -1) return false;
    const bool readable = (m.protection & PROT_READ) != 0;
    if (!readable) kernel(SYS_mprotect, m.begin, bytes, kOpen);
    memcpy(reinterpret_cast<void*>(copy), reinterpret_cast<const void*>(m.begin), bytes);
    if (!readable) kernel(SYS_mprotect, m.begin, bytes, m.protection);
    if (m.protection != kOpen) kernel(SYS_mprotect, copy, bytes, m.protection);
    g_copies[g_num_copies++] = {m.begin, bytes, static_cast<uintptr_t>(copy), m.protection};
    return true;
}

void before_fork() {
    if (!any_segments.load(std::memory_order_relaxed)) return;
    g_lock.lock();
    g_num_copies = 0;
    g_complete = true;
    Mapping m;
    for (OwnMaps maps; maps.next(m);)
        if (segment_of(m) != nullptr && !make_copy(m)) g_complete = false;
}

void after_fork_in_parent() {
    if (!any_segments.load(std::memory_order_relaxed)) return;
    const int error = errno;
    for (uint32_t i = 0; i < g_num_copies; ++i) kernel(SYS_munmap, g_copies[i].copy, g_copies[i].bytes);
    g_num_copies = 0;
    g_lock.unlock();
    errno = error;
}

/// A child that wrote into its parent's memory would be worse than none.
[[noreturn]] void end_child() {
    static const char kText[] =
        "simverbs: fork: no memory for the child's copy of registered memory; the child ends. Register less memory "
        "before fork(), or allow this process more (ulimit -v, vm.overcommit_memory).\n";
    kernel(SYS_write, 2, kText, sizeof kText - 1);
    for (;;) kernel(SYS_exit_group, connection::kExitCannotJoin);
}

void after_fork_in_child() {
    if (!any_segments.load(std::memory_order_relaxed)) return;
    if (!g_complete) end_child();
    for (uint32_t i = 0; i < g_num_copies; ++i) {
        const Copy& c = g_copies[i];
        if (kernel(SYS_mremap, c.copy, c.bytes, c.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, c.original) == -1) end_child();
    }
    g_num_copies = 0;
    forget_registrations();
    g_lock.reset();
}

}  // namespace

bool copy_at_fork() {
    static bool registered = false;
    if (!registered) registered = pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child) == 0;
    return registered;
}

}  // namespace simverbs::client::memory
