#include "models/host/payload_mover.hpp"

#include <algorithm>
#include <cstring>

#include "sim/check.hpp"

namespace simverbs::host {

namespace {
/// A pending run this long is written as soon as nobody can tell, whether or not a program is about to look.
constexpr uint64_t kEarlyBytes = 1 << 20;
/// So does a long list of short ones.
constexpr size_t kEarlyRuns = 64;
/// Staged bytes that were written are forgotten in pieces of this size.
constexpr uint64_t kForgetBytes = 1 << 18;
/// Staging buffers above this size are given back when their stream ends.
constexpr size_t kKeptCapacity = 1 << 16;
}  // namespace

/// Calls f(range part, offset in the stream) for the source of bytes [from, to); stops when f returns false.
template <class F>
bool PayloadMover::for_ranges(const Stream& s, uint64_t from, uint64_t to, F&& f) {
    uint64_t at = 0;
    for (const MemoryRange& r : s.source) {
        const uint64_t low = std::max(from, at);
        const uint64_t high = std::min(to, at + r.length);
        if (low < high && !f(MemoryRange{r.space, r.va + (low - at), high - low}, low)) return false;
        at += r.length;
        if (at >= to) break;
    }
    return true;
}

PayloadMover::Space& PayloadMover::space_of(AddressSpaceId id) {
    if (cached_space_ == nullptr || cached_id_ != id) {
        cached_space_ = &spaces_[id];
        cached_id_ = id;
    }
    return *cached_space_;
}

StreamId PayloadMover::take_stream() {
    if (free_.empty()) {
        streams_.emplace_back();
        free_.push_back(static_cast<StreamId>(streams_.size() - 1));
    }
    const StreamId id = free_.back();
    free_.pop_back();
    Stream& s = streams_[id];
    s.source.clear();
    s.staged.clear();
    s.staged_from = s.staged_to = s.read_to = 0;
    s.holders = 1;
    s.run = nullptr;
    s.listed = s.pinned = s.failed = false;
    return id;
}

StreamId PayloadMover::open(std::span<const MemoryRange> source) {
    const auto lock = guard();
    const StreamId id = take_stream();
    streams_[id].source.assign(source.begin(), source.end());
    return id;
}

StreamId PayloadMover::open_bytes(std::span<const uint8_t> bytes) {
    const auto lock = guard();
    const StreamId id = take_stream();
    Stream& s = streams_[id];
    s.staged.assign(bytes.begin(), bytes.end());
    s.staged_to = s.read_to = bytes.size();
    return id;
}

bool PayloadMover::overlaps_pending_write(const Stream& s, uint64_t from, uint64_t to) {
    return !for_ranges(s, from, to, [this](const MemoryRange& r, uint64_t) {
        const Space& space = space_of(r.space);
        if (r.va >= space.high || r.va + r.length <= space.low) return true;
        return std::ranges::none_of(
            space.runs, [&](const auto& run) { return run->va < r.va + r.length && r.va < run->va + run->length; });
    });
}

bool PayloadMover::dma_read(StreamId id, uint64_t upto) {
    const auto lock = guard();
    Stream& s = streams_[id];
    if (upto <= s.read_to) return !s.failed;
    const uint64_t from = s.read_to;
    if (!s.listed) {
        s.listed = true;
        for (const MemoryRange& r : s.source) {
            Space& space = space_of(r.space);
            if (space.gone) s.failed = true;
            if (space.readers.empty() || space.readers.back() != id) space.readers.push_back(id);
        }
    }
    // A write that is not visible to programs yet is visible to the adapter: its own reads see it.
    if (overlaps_pending_write(s, from, upto)) {
        stage(s);
        stage_pending_under(s, from, upto);
        s.read_to = upto;
        stage(s, true);
    }
    s.read_to = upto;
    return !s.failed;
}

void PayloadMover::retain(StreamId id) {
    const auto lock = guard();
    Stream& s = streams_[id];
    ++s.holders;
    s.pinned = true;
    stage(s);
}

void PayloadMover::release(StreamId id) {
    const auto lock = guard();
    release_unlocked(id);
}

void PayloadMover::release_unlocked(StreamId id) {
    Stream& s = streams_[id];
    SIM_CHECK(s.holders > 0, id);
    if (--s.holders > 0) return;
    if (s.listed) unlist(id);
    if (s.staged.capacity() > kKeptCapacity) std::vector<uint8_t>().swap(s.staged);
    free_.push_back(id);
}

void PayloadMover::unlist(StreamId id) {
    Stream& s = streams_[id];
    s.listed = false;
    for (const MemoryRange& r : s.source) std::erase(space_of(r.space).readers, id);
}

/// Fixes the bytes of all pending writes to where [from, to) of `s` is read.
void PayloadMover::stage_pending_under(const Stream& s, uint64_t from, uint64_t to) {
    for_ranges(s, from, to, [this](const MemoryRange& r, uint64_t) {
        for (const auto& run : space_of(r.space).runs)
            if (run->va < r.va + r.length && r.va < run->va + run->length) stage(streams_[run->stream]);
        return true;
    });
}

/// Fixes the source bytes that have been read so far. No pending write lies over them, unless `overlay` says so: a
/// write that comes to lie over bytes that were read before has fixed them first.
void PayloadMover::stage(Stream& s, bool overlay) {
    if (s.staged_to >= s.read_to) return;
    const uint64_t bytes = s.read_to - s.staged_to;
    const size_t base = s.staged.size();
    s.staged.resize(base + bytes);
    const bool ok = for_ranges(s, s.staged_to, s.read_to, [&](const MemoryRange& r, uint64_t offset) {
        const std::span out(s.staged.data() + base + (offset - s.staged_to), r.length);
        Space& space = space_of(r.space);
        if (space.gone || !memory_->read(r.space, r.va, out)) return false;
        if (overlay) overlay_pending(space, r.va, out);
        return true;
    });
    if (!ok) {
        s.failed = true;
        stats_.dropped_bytes += bytes;
    }
    stats_.staged_bytes += bytes;
    s.staged_to = s.read_to;
}

/// Puts the bytes of pending writes over what memory holds.
void PayloadMover::overlay_pending(const Space& space, uint64_t va, std::span<uint8_t> out) {
    if (va >= space.high || va + out.size() <= space.low) return;
    for (const auto& run : space.runs) {
        const uint64_t low = std::max(va, run->va);
        const uint64_t high = std::min(va + out.size(), run->va + run->length);
        if (low >= high) continue;
        const Stream& source = streams_[run->stream];
        const uint64_t offset = run->offset + (low - run->va);
        if (!source.failed && offset >= source.staged_from)
            std::memcpy(out.data() + (low - va), source.staged.data() + (offset - source.staged_from), high - low);
    }
}

void PayloadMover::stage_readers_of(Space& space, AddressSpaceId id, uint64_t va, uint64_t length) {
    for (const StreamId reader : space.readers) {
        Stream& s = streams_[reader];
        if (s.staged_to >= s.read_to) continue;
        const bool apart = for_ranges(s, s.staged_to, s.read_to, [&](const MemoryRange& r, uint64_t) {
            return r.space != id || r.va >= va + length || r.va + r.length <= va;
        });
        if (!apart) stage(s);
    }
}

void PayloadMover::dma_write(StreamId id, uint64_t offset, uint64_t length, AddressSpaceId space_id, uint64_t va,
                             sim::SimTime visible_at) {
    if (length == 0) return;
    const auto lock = guard();
    Stream& s = streams_[id];
    SIM_CHECK(offset + length <= s.read_to, offset, length, s.read_to);
    Space& space = space_of(space_id);
    if (space.gone) {
        stats_.dropped_bytes += length;
        return;
    }
    if (!space.readers.empty()) stage_readers_of(space, space_id, va, length);

    Run* run = s.run;
    bool grows =
        run != nullptr && s.run_space == space_id && run->offset + run->length == offset && run->va + run->length == va;
    if (grows && space.runs.back().get() != run) {
        // Later writes to the same bytes keep their order: such a run must not grow any more.
        bool later = false;
        for (const auto& other : space.runs) {
            if (later && other->va < va + length && va < other->va + other->length) grows = false;
            later = later || other.get() == run;
        }
    }
    if (!grows) {
        if (spare_runs_.empty()) spare_runs_.push_back(std::make_unique<Run>());
        space.runs.push_back(std::move(spare_runs_.back()));
        spare_runs_.pop_back();
        run = space.runs.back().get();
        run->stream = id;
        run->offset = offset;
        run->length = 0;
        run->va = va;
        run->marks.clear();
        run->first_mark = 0;
        ++s.holders;
        s.run = run;
        s.run_space = space_id;
    }
    run->length += length;
    if (run->marks.size() > run->first_mark && run->marks.back().visible_at == visible_at)
        run->marks.back().length += length;
    else
        run->marks.push_back({visible_at, length});
    space.low = std::min(space.low, run->va);
    space.high = std::max(space.high, va + length);
    space.pending_bytes += length;
    if (space.pending_bytes >= kEarlyBytes || space.runs.size() >= kEarlyRuns) apply_due(space, space_id, safe_time_);
}

/// Makes the writes visible whose time has come.
void PayloadMover::apply_due(Space& space, AddressSpaceId id, sim::SimTime t) {
    if (space.runs.empty()) return;
    bool finished = false;
    for (auto& run : space.runs) {
        uint64_t bytes = 0;
        while (run->first_mark < run->marks.size() && run->marks[run->first_mark].visible_at <= t)
            bytes += run->marks[run->first_mark++].length;
        if (bytes > 0) write_out(space, id, *run, bytes);
        finished = finished || run->length == 0;
    }
    if (!finished) return;
    std::erase_if(space.runs, [this](std::unique_ptr<Run>& run) {
        if (run->length > 0) return false;
        Stream& s = streams_[run->stream];
        if (s.run == run.get()) s.run = nullptr;
        release_unlocked(run->stream);
        spare_runs_.push_back(std::move(run));
        return true;
    });
    if (space.runs.empty()) {
        space.low = ~uint64_t{0};
        space.high = 0;
    }
}

/// Writes the first `bytes` of a run to memory.
void PayloadMover::write_out(Space& space, AddressSpaceId id, Run& run, uint64_t bytes) {
    Stream& s = streams_[run.stream];
    uint64_t offset = run.offset;
    const uint64_t end = offset + bytes;
    uint64_t va = run.va;
    if (space.gone || s.failed) stats_.dropped_bytes += bytes;
    while (offset < end && !space.gone && !s.failed) {
        if (offset < s.staged_to && offset >= s.staged_from) {
            const uint64_t n = std::min(end, s.staged_to) - offset;
            const std::span in(s.staged.data() + (offset - s.staged_from), n);
            if (!memory_->write(id, va, in)) stats_.dropped_bytes += n;
            ++stats_.writes;
            stats_.written_bytes += n;
            offset += n;
            va += n;
            continue;
        }
        const bool ok = for_ranges(s, offset, end, [&](const MemoryRange& r, uint64_t) {
            const uint64_t to = va;
            va += r.length;
            ++stats_.direct_copies;
            stats_.direct_bytes += r.length;
            return memory_->copy(r.space, r.va, id, to, r.length);
        });
        if (!ok) stats_.dropped_bytes += end - offset;
        offset = end;
    }
    const bool in_order = run.offset <= s.staged_from;
    run.offset += bytes;
    run.va += bytes;
    run.length -= bytes;
    space.pending_bytes -= bytes;
    if (s.pinned || !in_order || end <= s.staged_from) return;
    // Nobody needs again what has been written in order.
    if (end >= s.staged_to) {
        s.staged.clear();
        s.staged_from = s.staged_to = end;
    } else if (end - s.staged_from >= kForgetBytes) {
        s.staged.erase(s.staged.begin(), s.staged.begin() + static_cast<std::ptrdiff_t>(end - s.staged_from));
        s.staged_from = end;
    }
}

bool PayloadMover::peek(StreamId id, uint64_t offset, std::span<uint8_t> out) {
    const auto lock = guard();
    Stream& s = streams_[id];
    if (s.failed || offset + out.size() > s.read_to) return false;
    const uint64_t end = offset + out.size();
    if (offset >= s.staged_from && end <= s.staged_to) {
        std::memcpy(out.data(), s.staged.data() + (offset - s.staged_from), out.size());
        return true;
    }
    if (offset < s.staged_to && offset >= s.staged_from) {
        stage(s);
        if (s.failed) return false;
        std::memcpy(out.data(), s.staged.data() + (offset - s.staged_from), out.size());
        return true;
    }
    // Not staged: source memory still holds the bytes.
    return for_ranges(s, offset, end, [&](const MemoryRange& r, uint64_t at) {
        return !space_of(r.space).gone && memory_->read(r.space, r.va, out.subspan(at - offset, r.length));
    });
}

/// Pending writes to [va, va+length) take effect now, and reads of it are fixed.
void PayloadMover::settle(AddressSpaceId id, uint64_t va, uint64_t length) {
    Space& space = space_of(id);
    stage_readers_of(space, id, va, length);
    const bool touched =
        va < space.high && va + length > space.low && std::ranges::any_of(space.runs, [&](const auto& run) {
            return run->va < va + length && va < run->va + run->length;
        });
    if (touched) apply_due(space, id, sim::SimTime::max());
}

void PayloadMover::before_turn(AddressSpaceId id, sim::SimTime clock) {
    const auto lock = guard();
    set_safe_time(clock);
    Space& space = space_of(id);
    if (!space.readers.empty()) {
        // What is due at the far side is copied directly; the rest of what was read must be fixed.
        for (size_t i = 0; i < space.readers.size(); ++i) {
            Stream& s = streams_[space.readers[i]];
            if (s.staged_to >= s.read_to || s.run == nullptr) continue;
            const size_t before = space.readers.size();
            const AddressSpaceId target = s.run_space;
            apply_due(space_of(target), target, safe_time_);
            if (space.readers.size() != before) i = static_cast<size_t>(-1);
        }
        for (const StreamId reader : space.readers) stage(streams_[reader]);
    }
    apply_due(space, id, clock);
}

sim::SimTime PayloadMover::next_visible(AddressSpaceId id) const {
    const auto lock = guard();
    const auto it = spaces_.find(id);
    auto next = sim::SimTime::max();
    if (it == spaces_.end()) return next;
    for (const auto& run : it->second.runs)
        if (run->first_mark < run->marks.size()) next = std::min(next, run->marks[run->first_mark].visible_at);
    return next;
}

void PayloadMover::settle_all(AddressSpaceId id) {
    const auto lock = guard();
    Space& space = space_of(id);
    for (const StreamId reader : space.readers) stage(streams_[reader]);
    apply_due(space, id, sim::SimTime::max());
}

void PayloadMover::space_gone(AddressSpaceId id) {
    const auto lock = guard();
    Space& space = space_of(id);
    space.gone = true;
    for (const StreamId reader : space.readers) {
        Stream& s = streams_[reader];
        if (s.staged_to < s.read_to) s.failed = true;
    }
    apply_due(space, id, sim::SimTime::max());
}

}  // namespace simverbs::host
