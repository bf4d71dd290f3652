// Memory spinning (rule 7 of the turn protocol): a program that polls its receive buffer without calling verbs. Pages
// that DMA may write are made inaccessible once the program has been caught burning CPU in a loop; the fault handler
// does the load itself and sees two identical ones in a row, which is an empty poll.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace simverbs::client::spin {

/// A memory region was registered or deregistered. `access` is ibv_access_flags: only ranges that the HCA may write
/// (IBV_ACCESS_LOCAL_WRITE) are ever made inaccessible. Counts overlapping registrations of one page.
void memory_registered(const void* addr, size_t length, unsigned access);
void memory_deregistered(const void* addr, size_t length, unsigned access);

/// Before a thread runs any code of the program: where its stack lies. It allocates memory, and what needs to know the
/// stack are signal handlers, which may have come while the thread holds malloc's lock.
void note_own_stack();

/// True while pages of this process are inaccessible.
extern std::atomic<bool> pages_protected;
void make_accessible();

/// True if pages on which the program has been caught spinning were opened for a call or a store: the shim protects
/// them again when it is left.
extern std::atomic<bool> protection_due;
void protect_poll_pages();
inline void protect_again() {
    if (protection_due.load(std::memory_order_relaxed)) protect_poll_pages();
}

/// In the child of fork(): its pages are its own.
void forget_parent();

/// Before any system call that reads or writes program memory: the kernel answers EFAULT for protected pages.
/// Cheap when nothing is protected.
inline void before_syscall() {
    if (pages_protected.load(std::memory_order_relaxed)) make_accessible();
}

}  // namespace simverbs::client::spin
