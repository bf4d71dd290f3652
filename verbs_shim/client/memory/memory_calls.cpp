// Calls that treat shared memory differently from the private memory that the program believes it to be.
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/memory/segments.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::memory {

namespace {

/// Empties what of [begin, end) is ours: it reads as zeroes afterwards.
void empty(uintptr_t begin, uintptr_t end) {
    const verbs::Guard guard(g_lock);
    Mapping m;
    Piece p;
    for (OwnMaps maps; maps.next(m) && m.begin < end;)
        if (piece_of(m, begin, end, p)) kernel(SYS_madvise, p.begin, p.end - p.begin, MADV_REMOVE);
}

/// The server must not go on writing into a file that nobody sees any more.
void tell_server(uint32_t segment) {
    auto request = connection::make_request<protocol::ObjectRequest>(protocol::Op::UnshareMemory);
    request.arg = segment;
    protocol::ReplyHeader reply;
    connection::request(&request, &reply, sizeof reply);
}

/// Private memory with the same bytes, in place; it joins its neighbours to one mapping again.
bool make_private(Piece p, int protection) {
    const uintptr_t bytes = p.end - p.begin;
    constexpr int kOpen = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
    const long aside = kernel(SYS_mmap, nullptr, bytes, kOpen, kPrivate | MAP_NORESERVE, -1, 0);
    if (aside == -1) return false;
    auto* const copy = reinterpret_cast<void*>(aside);
    auto* const place = reinterpret_cast<void*>(p.begin);
    kernel(SYS_mprotect, place, bytes, kOpen);
    memcpy(copy, place, bytes);
    const bool ok = kernel(SYS_mmap, place, bytes, kOpen, kPrivate | MAP_FIXED, -1, 0) != -1;
    if (ok) memcpy(place, copy, bytes);
    if (protection != kOpen) kernel(SYS_mprotect, place, bytes, protection);
    kernel(SYS_munmap, copy, bytes);
    return ok;
}

/// All shared memory in [begin, end) becomes private again. True if there was any.
bool unshare(uintptr_t begin, uintptr_t end) {
    bool any = false;
    for (;;) {
        Mapping m;
        Piece p{};
        uint32_t segment = 0;
        {
            const verbs::Guard guard(g_lock);
            for (OwnMaps maps; segment == 0 && maps.next(m) && m.begin < end;)
                if (piece_of(m, begin, end, p)) segment = segment_of(m)->id;
        }
        if (segment == 0) return any;
        tell_server(segment);  // first: what it writes from now on goes through this process's page tables
        if (!make_private(p, m.protection)) return any;
        any = true;
    }
}

/// The whole range, or nothing if it does not fit into the address space.
bool range_of(const void* address, size_t length, uintptr_t& begin, uintptr_t& end) {
    begin = reinterpret_cast<uintptr_t>(address);
    return !__builtin_add_overflow(begin, length, &end) && begin % kPage == 0;
}

}  // namespace

}  // namespace simverbs::client::memory

using namespace simverbs::client;
using namespace simverbs::client::memory;

SIMVERBS_INTERPOSE int madvise(void* address, size_t length, int advice) noexcept {
    constexpr int kDontNeedLocked = 24;  // MADV_DONTNEED_LOCKED, Linux 5.18
    uintptr_t begin = 0, end = 0;
    const bool discards = advice == MADV_DONTNEED || advice == MADV_FREE || advice == kDontNeedLocked;
    if (discards && any_segments.load(std::memory_order_relaxed) && range_of(address, length, begin, end)) {
        end = (end + kPage - 1) & ~(kPage - 1);
        empty(begin, end);
        // The kernel frees only private memory lazily; at once is allowed too.
        if (advice == MADV_FREE) advice = MADV_DONTNEED;
    }
    return static_cast<int>(kernel(SYS_madvise, address, length, advice));
}

SIMVERBS_INTERPOSE void* mremap(void* address, size_t old_size, size_t new_size, int flags, ...) noexcept {
    va_list more;
    va_start(more, flags);
    void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
    va_end(more);
    const auto call = [&] { return kernel(SYS_mremap, address, old_size, new_size, flags, wanted); };
    uintptr_t begin = 0, end = 0;
    if (!any_segments.load(std::memory_order_relaxed) || !range_of(address, old_size, begin, end))
        return reinterpret_cast<void*>(call());
    turn::InShim guard;
    spin::before_syscall();
    // What is cut off would be there again if the mapping grew.
    if (new_size != 0 && new_size < old_size) empty((begin + new_size + kPage - 1) & ~(kPage - 1), end);
    long result = call();
    // Private memory on both sides of shared memory was one mapping, and must be it again to be moved as one.
    if (result == -1 && errno == EFAULT && unshare(begin, end)) result = call();
    if (result == -1) guard.set_errno(errno);
    return reinterpret_cast<void*>(result);
}
