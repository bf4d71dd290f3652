#include "verbs_shim/client/clock/tsc_patch.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/client/clock/tsc_displaced.hpp"
#include "verbs_shim/client/clock/tsc_stub.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

#if defined(__x86_64__)

namespace {

constexpr uint32_t kTrapsBeforePatch = 4;
constexpr size_t kRdtscBytes = 2;
constexpr size_t kJumpBytes = 5;
constexpr uint8_t kJump = 0xE9;
constexpr uint8_t kHlt = 0xF4;
constexpr uintptr_t kPageBytes = 4096;
constexpr uintptr_t kCacheLine = 64;

/// A place that traps. The jump is remembered to tell a patched place from new code at the same address.
struct Site {
    const uint8_t* code;
    uint32_t traps;
    bool judged;  ///< patched, or cannot be
    uint8_t jump[kJumpBytes];
    uintptr_t stub;
    size_t displaced_at;
};
constexpr uint32_t kMaxSites = 64;
Site g_sites[kMaxSites];
uint32_t g_num_sites = 0;

/// Memory for stubs, within reach of the jumps of one executable or library.
constexpr uintptr_t kRegionBytes = 1 << 20;
struct Region {
    uintptr_t begin;
};
constexpr uint32_t kMaxRegions = 16;
Region g_regions[kMaxRegions];
uint32_t g_num_regions = 0;

Site* find_site(const uint8_t* code) {
    for (uint32_t i = 0; i < g_num_sites; ++i)
        if (g_sites[i].code == code) return &g_sites[i];
    return nullptr;
}

/// Reads /proc/self/maps line by line. Whoever reads it has the turn: the buffer is nobody else's.
class Maps {
  public:
    Maps() : fd_(static_cast<int>(kernel(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC))) {}
    ~Maps() {
        if (fd_ >= 0) kernel(SYS_close, fd_);
    }
    Maps(const Maps&) = delete;
    Maps& operator=(const Maps&) = delete;
    /// The next line without its end, null after the last. Long ones are cut off.
    const char* next() {
        size_t n = 0;
        for (;;) {
            if (at_ == have_ && !refill()) return nullptr;
            const char c = buffer_[at_++];
            if (c == '\n') break;
            if (n + 1 < sizeof line_) line_[n++] = c;
        }
        line_[n] = '\0';
        return line_;
    }

  private:
    bool refill() {
        const long n = fd_ < 0 ? 0 : kernel(SYS_read, fd_, buffer_, sizeof buffer_);
        at_ = 0;
        have_ = n > 0 ? static_cast<size_t>(n) : 0;
        return have_ != 0;
    }
    static char buffer_[4096];
    static char line_[128];
    int fd_;
    size_t at_ = 0, have_ = 0;
};
char Maps::buffer_[4096];
char Maps::line_[128];

/// True for code of a file, mapped privately and read-only: what is written there is this process's alone, and nobody
/// copies or rewrites it.
bool is_plain_text(uintptr_t begin, uintptr_t end) {
    Maps maps;
    while (const char* const line = maps.next()) {
        unsigned long from = 0, to = 0, inode = 0;
        char access[8] = {};
        if (sscanf(line, "%lx-%lx %7s %*x %*s %lu", &from, &to, access, &inode) != 4) continue;
        if (begin >= from && end <= to) return inode != 0 && strcmp(access, "r-xp") == 0;
    }
    return false;
}

/// A free place for a stub of `site`: the jump's third byte must read as hlt. 0 if the region has none.
uintptr_t place_in(const Region& region, uintptr_t site) {
    constexpr uintptr_t kWindow = 1 << 16;
    const uintptr_t origin = site + kJumpBytes;
    const uintptr_t first = region.begin + ((origin + (uintptr_t{kHlt} << 8) - region.begin) & (kWindow - 1));
    for (uintptr_t window = first; window + 256 <= region.begin + kRegionBytes; window += kWindow) {
        for (uintptr_t p = (window + kStubBytes - 1) & ~(kStubBytes - 1); p < window + 256; p += kStubBytes) {
            bool taken = false;
            for (uint32_t i = 0; i < g_num_sites; ++i) taken = taken || g_sites[i].stub == p;
            const auto distance = static_cast<int64_t>(p - origin);
            if (!taken && distance == static_cast<int32_t>(distance)) return p;
        }
    }
    return 0;
}

/// New memory within reach of `site`. Below it first: above an executable lies its heap, which may grow.
bool add_region(uintptr_t site) {
    if (g_num_regions == kMaxRegions) return false;
    constexpr int64_t kMiB = 1 << 20;
    for (const int64_t distance : {-64 * kMiB, -128 * kMiB, -256 * kMiB, -512 * kMiB, -1024 * kMiB, 1792 * kMiB}) {
        const auto wanted = static_cast<int64_t>(site & ~(kPageBytes - 1)) + distance;
        if (wanted <= kMiB) continue;
        const long got = kernel(SYS_mmap, wanted, kRegionBytes, PROT_READ | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == -1) continue;
        if (got != wanted) {  // a kernel before 4.17 takes it for a wish
            kernel(SYS_munmap, got, kRegionBytes);
            continue;
        }
        g_regions[g_num_regions++] = {static_cast<uintptr_t>(got)};
        return true;
    }
    return false;
}

uintptr_t place_for(uintptr_t site) {
    for (uint32_t i = 0; i < g_num_regions; ++i)
        if (const uintptr_t p = place_in(g_regions[i], site)) return p;
    return add_region(site) ? place_in(g_regions[g_num_regions - 1], site) : 0;
}

/// Makes the page of `address` writable for the scope, and executable all the time.
class Writable {
  public:
    explicit Writable(uintptr_t address)
        : page_(address & ~(kPageBytes - 1)),
          granted_(kernel(SYS_mprotect, page_, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {}
    ~Writable() {
        if (granted_) kernel(SYS_mprotect, page_, kPageBytes, PROT_READ | PROT_EXEC);
    }
    Writable(const Writable&) = delete;
    Writable& operator=(const Writable&) = delete;
    [[nodiscard]] bool granted() const { return granted_; }

  private:
    uintptr_t page_;
    bool granted_;
};

/// The bytes change at once for whoever executes them: one store into one cache line.
void store_jump(uintptr_t site, const uint8_t* jump) {
    const uintptr_t last = (site & ~(kCacheLine - 1)) + kCacheLine - sizeof(uint64_t);
    const uintptr_t word = site < last ? site : last;
    uint64_t bytes = 0;
    memcpy(&bytes, reinterpret_cast<const void*>(word), sizeof bytes);
    memcpy(reinterpret_cast<uint8_t*>(&bytes) + (site - word), jump, kJumpBytes);
    asm volatile("mov %0, (%1)" : : "r"(bytes), "r"(word) : "memory");
}

void patch(Site& s) {
    const auto site = reinterpret_cast<uintptr_t>(s.code);
    if (site % kCacheLine + kJumpBytes > kCacheLine || !stubs_work()) return;
    // At most four bytes more are looked at than may be displaced; none of them in another page.
    if (site % kPageBytes + kRdtscBytes + kMaxDisplaced > kPageBytes) return;
    const size_t displaced = displaceable_length(s.code + kRdtscBytes);
    if (displaced < kJumpBytes - kRdtscBytes || displaced > kMaxDisplaced) return;
    if (!is_plain_text(site, site + kRdtscBytes + displaced)) return;
    const uintptr_t stub = place_for(site);
    if (stub == 0) return;
    {
        const Writable page(stub);
        if (!page.granted()) return;
        s.displaced_at = write_stub(reinterpret_cast<uint8_t*>(stub), stub, s.code, displaced);
    }
    const auto relative = static_cast<int32_t>(stub - (site + kJumpBytes));
    s.jump[0] = kJump;
    memcpy(s.jump + 1, &relative, sizeof relative);
    const Writable page(site);
    if (!page.granted()) return;
    s.stub = stub;
    store_jump(site, s.jump);
}

}  // namespace

void note_tsc_trap(const uint8_t* code) {
    const protocol::ThreadSlot* const slot = turn::slot();
    if (!turn::active() || slot->turn.load(std::memory_order_relaxed) != static_cast<uint32_t>(protocol::Turn::Running))
        return;
    Site* site = find_site(code);
    if (site == nullptr) {
        if (g_num_sites == kMaxSites) return;
        site = &g_sites[g_num_sites++];
        *site = {code, 0, false, {}, 0, 0};
    }
    if (site->judged || ++site->traps < kTrapsBeforePatch) return;
    site->judged = true;
    patch(*site);
}

bool enter_stub(ucontext_t* context) {
    auto& rip = context->uc_mcontext.gregs[REG_RIP];
    const auto* const code = reinterpret_cast<const uint8_t*>(rip);
    if (*code != kHlt) return false;
    const Site* const site = find_site(code - kRdtscBytes);
    if (site == nullptr || site->stub == 0 || memcmp(site->code, site->jump, kJumpBytes) != 0) return false;
    rip = static_cast<greg_t>(site->stub + site->displaced_at);
    return true;
}

#else

void note_tsc_trap(const uint8_t*) {}
bool enter_stub(ucontext_t*) {
    return false;
}

#endif

}  // namespace simverbs::client::clock
