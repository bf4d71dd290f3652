// The pages that the HCA may write, and which of them are inaccessible at the moment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::spin {

inline constexpr uintptr_t kPageBytes = 4096;
constexpr uintptr_t page_of(uintptr_t address) {
    return address & ~(kPageBytes - 1);
}

/// This thread is in the middle of changing the protection of pages (a signal has interrupted it there).
bool changing_pages();
/// True if the page holds registered memory that DMA may write.
bool is_dma_page(uintptr_t page);
bool any_dma_pages();

/// Makes every DMA page inaccessible, except what lies on the calling thread's stack. False if there is none.
bool protect_all();
/// Makes every page accessible again, or every one but the poll pages.
void open_all();
void open_all_but_poll_pages();
/// One page.
void protect_page(uintptr_t page);
void open_page(uintptr_t page);
bool is_protected(uintptr_t page);

/// Pages on which the program has been caught spinning.
bool is_poll_page(uintptr_t page);
void remember_poll_page(uintptr_t page);
/// The program uses the page in other ways too often: it is no longer protected at once.
void forget_poll_page(uintptr_t page);
/// Counts an opening without a proof of spinning since; returns how many there were.
uint32_t count_opening(uintptr_t page);

/// True if the page belongs to the part of the calling thread's stack that is in use above `stack_pointer`.
bool is_stack_in_use(uintptr_t page, uintptr_t stack_pointer);

/// Reads program memory that may be protected. False if it cannot be read at all.
bool read_protected(uintptr_t address, void* out, size_t bytes);

}  // namespace simverbs::client::spin
