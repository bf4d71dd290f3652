#include "verbs_shim/server/live_segments.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace simverbs::server {

namespace {

constexpr uint64_t kSegmentPage = 4096;

/// An ordinary memfd of at least `length` bytes for good. Pages of hugetlbfs and of a mounted tmpfs may run out under a
/// mapping: the former is another file system, files of the latter cannot be sealed.
bool can_be_mapped(int file, uint64_t length) {
    // First, because no file system is asked that could keep the answer to itself (FUSE).
    const int seals = ::fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return false;
    struct stat status {};
    struct statfs system {};
    if (::fstat(file, &status) != 0 || ::fstatfs(file, &system) != 0) return false;
    if (!S_ISREG(status.st_mode) || system.f_type != TMPFS_MAGIC) return false;
    return status.st_size >= 0 && static_cast<uint64_t>(status.st_size) >= length;
}

}  // namespace

LiveSegments& LiveSegments::operator=(LiveSegments&& other) noexcept {
    if (this != &other) {
        clear();
        segments_.swap(other.segments_);
    }
    return *this;
}

LiveSegments::Segment* LiveSegments::find(uint32_t id) noexcept {
    const auto it = std::ranges::find(segments_, id, &Segment::id);
    return it == segments_.end() ? nullptr : &*it;
}

template <class Which>
void LiveSegments::remove(Which&& which) {
    std::erase_if(segments_, [&](const Segment& s) {
        if (!which(s)) return false;
        ::munmap(s.base, s.length);
        return true;
    });
}

bool LiveSegments::add(uint32_t id, uint64_t va, uint64_t length, int memfd) {
    uint64_t end = 0;
    if (id == 0 || find(id) != nullptr || segments_.size() >= kMost) return false;
    if (length == 0 || length > kMostBytes || length % kSegmentPage != 0 || va % kSegmentPage != 0) return false;
    if (__builtin_add_overflow(va, length, &end) || !can_be_mapped(memfd, length)) return false;
    void* const base = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
    if (base == MAP_FAILED) return false;
    remove([&](const Segment& s) { return s.va < end && va < s.va + s.length; });
    const auto place = std::ranges::upper_bound(segments_, va, {}, &Segment::va);
    segments_.insert(place, {va, length, static_cast<uint8_t*>(base), id, 0});
    return true;
}

bool LiveSegments::add_own(uint64_t va, uint64_t length, int memfd) {
    void* const base = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
    if (base == MAP_FAILED) return false;
    const auto place = std::ranges::upper_bound(segments_, va, {}, &Segment::va);
    segments_.insert(place, {va, length, static_cast<uint8_t*>(base), 0, 0});
    return true;
}

void LiveSegments::remove_own(uint64_t va) {
    remove([va](const Segment& s) { return s.va == va; });
}

bool LiveSegments::hold(uint32_t id) {
    Segment* const s = id == 0 ? nullptr : find(id);
    if (s == nullptr) return false;
    ++s->holders;
    return true;
}

void LiveSegments::release(uint32_t id) {
    Segment* const s = id == 0 ? nullptr : find(id);
    if (s != nullptr && (s->holders == 0 || --s->holders == 0)) forget(id);
}

void LiveSegments::forget(uint32_t id) {
    remove([id](const Segment& s) { return s.id == id; });
}

void LiveSegments::forget_others(uint64_t va, uint64_t length, uint32_t id) {
    remove([&](const Segment& s) {
        if (s.id == id) return false;
        return s.va >= va ? s.va - va < length : va - s.va < s.length;
    });
}

void LiveSegments::clear() {
    remove([](const Segment&) { return true; });
}

LiveSegments::Part LiveSegments::part_at(uint64_t va, uint64_t wanted) const noexcept {
    const auto next = std::ranges::upper_bound(segments_, va, {}, &Segment::va);
    if (next != segments_.begin()) {
        const Segment& s = *(next - 1);
        const uint64_t offset = va - s.va;
        if (offset < s.length) return {s.base + offset, std::min(wanted, s.length - offset)};
    }
    return {nullptr, next == segments_.end() ? wanted : std::min(wanted, next->va - va)};
}

void copy_as_dma(uint8_t* to, const uint8_t* from, uint64_t bytes) noexcept {
    constexpr uint64_t kWord = 8;  // the most that is seen at once
    if (bytes <= kWord || (from < to + bytes && to < from + bytes)) {
        std::memmove(to, from, bytes);
        return;
    }
    std::memcpy(to, from, bytes - kWord);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
}

}  // namespace simverbs::server
