#include "verbs_shim/client/memory/shared_memory.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "verbs_shim/client/memory/segments.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::memory {

verbs::Lock g_lock;
Segment g_segments[kMaxSegments];
std::atomic<bool> any_segments{false};

namespace {

/// Below this a message costs less than the pages' faults; above, the copy at registration is felt.
constexpr uintptr_t kLeastBytes = 64 << 10;
constexpr uintptr_t kMostBytes = 1 << 30;
/// Size of each memfd, nearly all of it a hole: what mremap adds to a mapping must not lie behind the file's end.
constexpr int64_t kFileBytes = int64_t{1} << 40;
/// Who registers the same memory again and again does not gain from a copy each time.
constexpr uint32_t kMostCopies = 4;

uint32_t g_last_id = 0;

struct Range {
    uintptr_t begin, end;
};

/// Registrations, with the wall clock only: the server may write there at any moment, so that nothing of them can be
/// copied and replaced. With the virtual clock it stands still while this runs.
constexpr uint32_t kMaxRanges = 1024;
Range g_ranges[kMaxRanges];
uint32_t g_num_ranges = 0;
uint32_t g_ranges_not_kept = 0;  ///< for want of room: nothing can be replaced while there are any

Range range_of(const void* address, size_t length) {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    uintptr_t end = 0;
    return {begin, __builtin_add_overflow(begin, length, &end) ? begin : end};
}

void add_range(Range r) {
    if (turn::active() || r.begin == r.end) return;
    if (g_num_ranges < kMaxRanges)
        g_ranges[g_num_ranges++] = r;
    else
        ++g_ranges_not_kept;
}

void remove_range(Range r) {
    if (turn::active() || r.begin == r.end) return;
    for (uint32_t i = 0; i < g_num_ranges; ++i) {
        if (g_ranges[i].begin != r.begin || g_ranges[i].end != r.end) continue;
        g_ranges[i] = g_ranges[--g_num_ranges];
        return;
    }
    if (g_ranges_not_kept > 0) --g_ranges_not_kept;
}

bool may_be_written_by_dma(Range r) {
    if (g_ranges_not_kept != 0) return true;
    for (uint32_t i = 0; i < g_num_ranges; ++i)
        if (g_ranges[i].begin < r.end && r.begin < g_ranges[i].end) return true;
    return false;
}

bool overlaps_segment(Range r) {
    for (const Segment& s : g_segments)
        if (s.id != 0 && s.begin < r.end && r.begin < s.end) return true;
    return false;
}

Segment* find_segment(uint32_t id) {
    for (Segment& s : g_segments)
        if (s.id == id) return &s;
    return nullptr;
}

/// A free entry; segments of which nothing is mapped any more are forgotten for it.
Segment* free_entry() {
    if (Segment* s = find_segment(0)) return s;
    bool mapped[kMaxSegments] = {};
    Mapping m;
    for (OwnMaps maps; maps.next(m);)
        if (const Segment* s = segment_of(m)) mapped[s - g_segments] = true;
    for (Segment& s : g_segments)
        if (!mapped[&s - g_segments] && s.registrations == 0) s = Segment{};
    return find_segment(0);
}

bool write_out(int fd, uintptr_t from, uintptr_t to, uintptr_t origin) {
    while (from < to) {
        const long n = kernel(SYS_pwrite64, fd, from, to - from, from - origin);
        if (n <= 0) return false;
        from += static_cast<uintptr_t>(n);
    }
    return true;
}

/// Copies [begin, end) to the start of the file; of private memory only what was ever touched.
bool copy_into(int fd, Range r, bool is_private) {
    const long pagemap = is_private ? kernel(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    if (pagemap < 0) return write_out(fd, r.begin, r.end, r.begin);
    constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
    constexpr size_t kEntries = 512;
    uint64_t entries[kEntries];
    uintptr_t pending = r.begin;  // everything before it is done
    bool ok = true;
    for (uintptr_t at = r.begin; ok && at < r.end;) {
        const long n = kernel(SYS_pread64, pagemap, entries, sizeof entries, at / kPage * sizeof(uint64_t));
        if (n < static_cast<long>(sizeof(uint64_t))) break;
        const auto count = static_cast<size_t>(n) / sizeof(uint64_t);
        for (size_t i = 0; ok && i < count && at < r.end; ++i, at += kPage) {
            if ((entries[i] & kPresentOrSwapped) != 0) continue;
            ok = write_out(fd, pending, at, r.begin);
            pending = at + kPage;
        }
    }
    // The rest, also if the kernel stopped telling which pages there are.
    ok = ok && write_out(fd, pending, r.end, r.begin);
    kernel(SYS_close, pagemap);
    return ok;
}

int make_file() {
    const long fd = kernel(SYS_memfd_create, "simverbs-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (kernel(SYS_ftruncate, fd, kFileBytes) == 0 &&
        kernel(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return static_cast<int>(fd);
    kernel(SYS_close, fd);
    return -1;
}

/// Puts a memfd with the same bytes where the range is. Its descriptor, or -1: then nothing has changed.
int replace(Range r, bool is_private, Segment& out) {
    const int fd = make_file();
    if (fd < 0) return -1;
    struct stat file;
    const NoSignals scope;
    if (kernel(SYS_fstat, fd, &file) == 0 && copy_into(fd, r, is_private) &&
        kernel(SYS_mmap, r.begin, r.end - r.begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
               0) != -1) {
        out.begin = r.begin;
        out.end = r.end;
        out.device = file.st_dev;
        out.inode = file.st_ino;
        return fd;
    }
    kernel(SYS_close, fd);
    return -1;
}

protocol::SharedRange as_range(const Segment& s, int fd) {
    return {s.id, fd, s.begin, s.end - s.begin};
}

/// The mapping that holds the whole range, and the one before it.
bool find_mapping(Range r, Mapping& found, Mapping& before) {
    before = Mapping{};
    for (OwnMaps maps; maps.next(found); before = found)
        if (found.end > r.begin) return found.begin <= r.begin && found.end >= r.end;
    return false;
}

protocol::SharedRange share(Range whole) {
    const Range inner{(whole.begin + kPage - 1) & ~(kPage - 1), whole.end & ~(kPage - 1)};
    const bool large = inner.begin < inner.end && inner.end - inner.begin >= kLeastBytes;
    if (!large && !overlaps_segment(whole)) return {};
    Mapping m, before;
    if (!find_mapping(large ? inner : whole, m, before)) return {};
    Segment* const old = segment_of(m);
    const bool in_place = old != nullptr && m.shared && m.offset == m.begin - old->begin;
    if (in_place && old->registrations != 0) {
        if ((large ? inner : whole).end > old->end) return {};  // grown by mremap: the server does not have that part
        ++old->registrations;
        return as_range(*old, -1);
    }
    if (!large || inner.end - inner.begin > kMostBytes || may_be_written_by_dma(inner)) return {};
    const uint32_t copies = old == nullptr ? 0 : old->copies + 1;
    if (old == nullptr ? !can_be_shared(m, before, inner.begin, inner.end) : copies > kMostCopies || !alone())
        return {};
    if (m.protection != (PROT_READ | PROT_WRITE)) return {};
    Segment* const entry = free_entry();
    if (entry == nullptr || !copy_at_fork()) return {};
    Segment made;
    const int fd = replace(inner, old == nullptr, made);
    if (fd < 0) return {};
    made.id = ++g_last_id;
    made.registrations = 1;
    made.copies = copies;
    *entry = made;
    any_segments.store(true, std::memory_order_relaxed);
    return as_range(made, fd);
}

}  // namespace

Segment* segment_of(const Mapping& mapping) {
    if (mapping.inode == 0) return nullptr;
    for (Segment& s : g_segments)
        if (s.id != 0 && s.inode == mapping.inode && s.device == mapping.device) return &s;
    return nullptr;
}

bool piece_of(const Mapping& mapping, uintptr_t begin, uintptr_t end, Piece& out) {
    out = {mapping.begin > begin ? mapping.begin : begin, mapping.end < end ? mapping.end : end};
    return out.begin < out.end && segment_of(mapping) != nullptr;
}

Registration::Registration(const void* address, size_t length) : address_(address), length_(length) {
    if (turn::lab() == nullptr) return;
    const int error = errno;
    const verbs::Guard guard(g_lock);
    range_ = share(range_of(address, length));
    errno = error;
}

Registration::~Registration() {
    const int error = errno;
    if (range_.fd >= 0) kernel(SYS_close, range_.fd);
    errno = error;
    if (kept_ || range_.segment == 0) return;
    const verbs::Guard guard(g_lock);
    Segment* const s = find_segment(range_.segment);
    if (s != nullptr && s->registrations > 0) --s->registrations;
}

uint32_t Registration::keep() {
    kept_ = true;
    const verbs::Guard guard(g_lock);
    add_range(range_of(address_, length_));
    return range_.segment;
}

void deregistered(const void* address, size_t length, uint32_t segment) {
    const verbs::Guard guard(g_lock);
    remove_range(range_of(address, length));
    Segment* const s = segment == 0 ? nullptr : find_segment(segment);
    if (s != nullptr && s->registrations > 0) --s->registrations;
}

void forget_registrations() {
    for (Segment& s : g_segments) s = Segment{};
    g_num_ranges = g_ranges_not_kept = 0;
    any_segments.store(false, std::memory_order_relaxed);
}

}  // namespace simverbs::client::memory
