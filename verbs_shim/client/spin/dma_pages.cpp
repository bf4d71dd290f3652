#include "verbs_shim/client/spin/dma_pages.hpp"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sys/mman.h>

#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::spin {

std::atomic<bool> pages_protected{false};
std::atomic<bool> protection_due{false};

namespace {

/// A registration, in whole pages.
struct Range {
    uintptr_t begin, end;
};
constexpr uint32_t kMaxRanges = 4096;
Range g_ranges[kMaxRanges];
uint32_t g_num_ranges = 0;

enum class Protection { None, PollPages, All };
Protection g_protection = Protection::None;

/// Pages that were opened one by one since the last protect_all().
constexpr uint32_t kMaxOpened = 64;
uintptr_t g_opened[kMaxOpened];
uint32_t g_num_opened = 0;

struct PollPage {
    uintptr_t page;
    uint32_t openings;
    bool open;
};
constexpr uint32_t kMaxPollPages = 32;
PollPage g_poll_pages[kMaxPollPages];
uint32_t g_num_poll_pages = 0;

int g_memory_fd = -1;  ///< /proc/self/mem: reads pages whatever their protection
thread_local Range t_stack __attribute__((tls_model("initial-exec"))) = {0, 0};

/// What the pages are and what is known of them part for a moment: a probe that comes just then must not look.
thread_local volatile bool t_changing __attribute__((tls_model("initial-exec"))) = false;

class Changing {
  public:
    Changing() : before_(t_changing) { t_changing = true; }
    ~Changing() { t_changing = before_; }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

  private:
    bool before_;
};

/// The calling thread's stack: a page on it cannot be taken away, the kernel puts signal frames there.
Range own_stack() {
    const uintptr_t here = page_of(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    if (here >= t_stack.begin && here < t_stack.end) return t_stack;
    // A thread, or a stack, of the program's own making: a generous neighbourhood.
    constexpr uintptr_t kNeighbourhood = 1 << 20;
    return {here - kNeighbourhood, here + kNeighbourhood};
}

void change(uintptr_t begin, uintptr_t end, int protection) {
    if (begin < end) kernel(SYS_mprotect, begin, end - begin, protection);
}

void protect_range(Range r) {
    const Range stack = own_stack();
    if (r.end <= stack.begin || r.begin >= stack.end) {
        change(r.begin, r.end, PROT_NONE);
        return;
    }
    change(r.begin, r.begin < stack.begin ? stack.begin : r.begin, PROT_NONE);
    change(r.end > stack.end ? stack.end : r.end, r.end, PROT_NONE);
}

constexpr int kOpen = PROT_READ | PROT_WRITE;

PollPage* find_poll_page(uintptr_t page) {
    for (uint32_t i = 0; i < g_num_poll_pages; ++i)
        if (g_poll_pages[i].page == page) return &g_poll_pages[i];
    return nullptr;
}

bool on_own_stack(uintptr_t page) {
    const Range stack = own_stack();
    return page >= stack.begin && page < stack.end;
}

void note_state() {
    pages_protected.store(g_protection != Protection::None, std::memory_order_relaxed);
}

}  // namespace

void note_own_stack() {
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    const auto begin = reinterpret_cast<uintptr_t>(low);
    t_stack = {begin, begin + bytes};
}

bool changing_pages() {
    return t_changing;
}

bool is_dma_page(uintptr_t page) {
    for (uint32_t i = 0; i < g_num_ranges; ++i)
        if (page >= g_ranges[i].begin && page < g_ranges[i].end) return true;
    return false;
}

bool any_dma_pages() {
    return g_num_ranges != 0;
}

bool protect_all() {
    const Changing changing;
    if (g_num_ranges == 0) return false;
    for (uint32_t i = 0; i < g_num_ranges; ++i) protect_range(g_ranges[i]);
    for (uint32_t i = 0; i < g_num_poll_pages; ++i) g_poll_pages[i].open = false;
    g_num_opened = 0;
    g_protection = Protection::All;
    note_state();
    return true;
}

void open_all() {
    const Changing changing;
    if (g_protection == Protection::All)
        for (uint32_t i = 0; i < g_num_ranges; ++i) change(g_ranges[i].begin, g_ranges[i].end, kOpen);
    if (g_protection == Protection::PollPages)
        for (uint32_t i = 0; i < g_num_poll_pages; ++i)
            if (!g_poll_pages[i].open) change(g_poll_pages[i].page, g_poll_pages[i].page + kPageBytes, kOpen);
    for (uint32_t i = 0; i < g_num_poll_pages; ++i) g_poll_pages[i].open = true;
    g_protection = Protection::None;
    note_state();
}

void open_all_but_poll_pages() {
    const Changing changing;
    if (g_protection != Protection::All) return;
    open_all();
    protect_poll_pages();
}

void protect_page(uintptr_t page) {
    const Changing changing;
    if (on_own_stack(page)) return;
    PollPage* const p = find_poll_page(page);
    // All the others may have been opened meanwhile: a page that is closed then would be known to nobody.
    if (p == nullptr && g_protection != Protection::All) return;
    change(page, page + kPageBytes, PROT_NONE);
    if (p != nullptr) p->open = false;
    for (uint32_t i = 0; i < g_num_opened; ++i)
        if (g_opened[i] == page) g_opened[i] = g_opened[--g_num_opened];
    if (g_protection == Protection::None) g_protection = Protection::PollPages;
    note_state();
}

void open_page(uintptr_t page) {
    const Changing changing;
    change(page, page + kPageBytes, kOpen);
    if (PollPage* p = find_poll_page(page)) p->open = true;
    if (g_protection != Protection::All) return;
    if (g_num_opened == kMaxOpened)
        open_all_but_poll_pages();
    else
        g_opened[g_num_opened++] = page;
}

bool is_protected(uintptr_t page) {
    if (g_protection == Protection::None) return false;
    if (const PollPage* p = find_poll_page(page)) return !p->open;
    if (g_protection != Protection::All || !is_dma_page(page)) return false;
    for (uint32_t i = 0; i < g_num_opened; ++i)
        if (g_opened[i] == page) return false;
    return true;
}

bool is_poll_page(uintptr_t page) {
    return find_poll_page(page) != nullptr;
}

void remember_poll_page(uintptr_t page) {
    const Changing changing;
    PollPage* p = find_poll_page(page);
    if (p == nullptr && g_num_poll_pages < kMaxPollPages && !on_own_stack(page)) {
        p = &g_poll_pages[g_num_poll_pages++];
        *p = {page, 0, !is_protected(page)};
    }
    if (p != nullptr) p->openings = 0;
}

void forget_poll_page(uintptr_t page) {
    const Changing changing;
    PollPage* const p = find_poll_page(page);
    if (p == nullptr) return;
    if (!p->open) change(page, page + kPageBytes, kOpen);
    *p = g_poll_pages[--g_num_poll_pages];
}

uint32_t count_opening(uintptr_t page) {
    PollPage* const p = find_poll_page(page);
    return p == nullptr ? 0 : ++p->openings;
}

bool is_stack_in_use(uintptr_t page, uintptr_t stack_pointer) {
    return stack_pointer >= t_stack.begin && page >= page_of(stack_pointer) && page < t_stack.end;
}

bool read_protected(uintptr_t address, void* out, size_t bytes) {
    if (g_memory_fd < 0) {
        const long fd = kernel(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (fd < 0) return false;
        // Out of the range in which programs count (and close) descriptors.
        const long moved = kernel(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 1000);
        g_memory_fd = static_cast<int>(moved >= 0 ? moved : fd);
        if (moved >= 0) kernel(SYS_close, fd);
    }
    if (kernel(SYS_pread64, g_memory_fd, out, bytes, address) == static_cast<long>(bytes)) return true;
    if (errno == EBADF) g_memory_fd = -1;  // the program closed everything: next time anew
    return false;
}

// --- spin.hpp --------------------------------------------------------------------------------------------------------

void memory_registered(const void* address, size_t length, unsigned access) {
    const Changing changing;
    if (length == 0 || (access & IBV_ACCESS_LOCAL_WRITE) == 0 || !turn::active()) return;
    const auto begin = reinterpret_cast<uintptr_t>(address);
    // What is registered must be readable and writable, or it is not ours to change.
    if (g_num_ranges < kMaxRanges)
        g_ranges[g_num_ranges++] = {page_of(begin), page_of(begin + length - 1) + kPageBytes};
}

void memory_deregistered(const void* address, size_t length, unsigned access) {
    const Changing changing;
    if (length == 0 || (access & IBV_ACCESS_LOCAL_WRITE) == 0) return;
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const Range r{page_of(begin), page_of(begin + length - 1) + kPageBytes};
    // The program may unmap it next, or give it back to the allocator: nothing of it stays protected or remembered.
    open_all();
    for (uint32_t i = 0; i < g_num_ranges; ++i) {
        if (g_ranges[i].begin != r.begin || g_ranges[i].end != r.end) continue;
        g_ranges[i] = g_ranges[--g_num_ranges];
        break;
    }
    for (uint32_t i = 0; i < g_num_poll_pages;) {
        if (is_dma_page(g_poll_pages[i].page))
            ++i;
        else
            g_poll_pages[i] = g_poll_pages[--g_num_poll_pages];
    }
    if (g_num_poll_pages != 0) protection_due.store(true, std::memory_order_relaxed);
}

void make_accessible() {
    open_all();
    if (g_num_poll_pages != 0) protection_due.store(true, std::memory_order_relaxed);
}

void protect_poll_pages() {
    const Changing changing;
    protection_due.store(false, std::memory_order_relaxed);
    for (uint32_t i = 0; i < g_num_poll_pages; ++i)
        if (g_poll_pages[i].open || g_protection == Protection::None) protect_page(g_poll_pages[i].page);
}

void forget_parent() {
    open_all();  // copied with the parent's protection
    g_num_ranges = 0;
    g_num_poll_pages = 0;
    if (g_memory_fd >= 0) kernel(SYS_close, g_memory_fd);
    g_memory_fd = -1;
    protection_due.store(false, std::memory_order_relaxed);
}

}  // namespace simverbs::client::spin
