// Real payload: exact, lazy, one copy a message.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/host/host_memory.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {

/// A piece of memory in a stream's gather list.
struct MemoryRange {
    AddressSpaceId space = 0;
    uint64_t va = 0;
    uint64_t length = 0;
};

/// Dense number of a stream. 0 is none: a message without real bytes.
using StreamId = uint32_t;
inline constexpr StreamId kNoStream = 0;

/// Moves the bytes of messages between memories so that nobody can tell it from per-packet DMA: source bytes are
/// fixed when they are DMA-read, destination bytes appear when they are DMA-written. In between, nothing is copied
/// until somebody could see the difference; then a whole run is, at best with one HostMemory::copy.
///
/// A stream is one message on its way: a gather list of source memory (or its own bytes), how far it has been read,
/// and a count of the holders (the sender, each packet, each pending write). The last release frees it.
class PayloadMover {
  public:
    explicit PayloadMover(HostMemory& memory) : memory_(&memory) {}
    PayloadMover(const PayloadMover&) = delete;
    PayloadMover& operator=(const PayloadMover&) = delete;

    // ---- sender side
    /// A stream over source memory; the caller holds it once. Offset 0 is the first byte of the first range.
    StreamId open(std::span<const MemoryRange> source);
    /// A stream over bytes that exist already (inline data, atomic results).
    StreamId open_bytes(std::span<const uint8_t> bytes);
    /// DMA-reads up to `upto` (exclusive) now, after everything that was read before. Returns false if the memory is
    /// known to be unreachable (a process that has gone).
    bool dma_read(StreamId stream, uint64_t upto);
    void hold(StreamId stream, uint32_t count = 1) { streams_[stream].holders += count; }
    void release(StreamId stream);

    // ---- receiver side
    /// DMA-writes bytes [offset, offset+length) of a stream to `va` of `space`, visible at `visible_at`. They must
    /// have been read. Times of one space never decrease.
    void dma_write(StreamId stream, uint64_t offset, uint64_t length, AddressSpaceId space, uint64_t va,
                   sim::SimTime visible_at);
    /// Atomic read-modify-write of 8 bytes in host byte order: the old value; false if unreachable.
    template <class F>
    bool read_modify_write(AddressSpaceId space, uint64_t va, F&& new_value, uint64_t& old_value) {
        settle(space, va, 8);
        uint8_t raw[8];
        if (!memory_->read(space, va, raw)) return false;
        __builtin_memcpy(&old_value, raw, 8);
        const uint64_t next = new_value(old_value);
        __builtin_memcpy(raw, &next, 8);
        stage_overlapping(space, va, 8);
        return memory_->write(space, va, raw);
    }
    /// The bytes of a packet, for capture and corruption: does not change what anybody sees.
    bool peek(StreamId stream, uint64_t offset, std::span<uint8_t> out);

    // ---- whoever runs programs
    /// A program of `space` is about to run with its clock at `clock`: fixes all source bytes that were read there,
    /// and makes all writes visible that are due by then.
    void before_turn(AddressSpaceId space, sim::SimTime clock);
    /// When the next pending write of this space becomes visible, max() if none: bounds a turn.
    [[nodiscard]] sim::SimTime next_visible(AddressSpaceId space) const;
    /// All pending reads and writes of a space take effect now (its memory is about to be unmapped or given away).
    void settle_all(AddressSpaceId space);
    /// The space's process has gone: reads fail from now on, writes are dropped.
    void space_gone(AddressSpaceId space);
    /// Writes due by `t` can no longer be told apart from done: no program's clock is before `t` any more.
    /// Lets long runs (1 MiB and more) be copied early.
    void set_safe_time(sim::SimTime t) noexcept { safe_time_ = t; }

    /// Turns coalescing off: every read and write at once. For the property test and for debugging.
    void set_immediate(bool on) noexcept { immediate_ = on; }

    struct Stats {
        uint64_t direct_copies = 0, direct_bytes = 0;  ///< source → destination in one step
        uint64_t staged_bytes = 0;                     ///< source bytes that had to be fixed first
        uint64_t writes = 0, written_bytes = 0, dropped_bytes = 0;
    };
    [[nodiscard]] const Stats& stats() const noexcept { return stats_; }
    [[nodiscard]] size_t open_streams() const noexcept { return streams_.size() - free_.size() - 1; }

  private:
    struct Stream {
        std::vector<MemoryRange> source;
        std::vector<uint8_t> staged;  ///< bytes [staged_from, staged_from + staged.size())
        uint64_t staged_from = 0;     ///< everything before is either applied or not needed any more
        uint64_t staged_to = 0;       ///< source bytes before this are fixed in `staged`
        uint64_t read_to = 0;
        uint32_t holders = 0;
        bool listed = false;  ///< in its spaces' lists of readers
        bool failed = false;
    };
    struct Mark {
        sim::SimTime visible_at;
        uint64_t length;
    };
    /// Writes that continue each other: same stream, consecutive offsets and addresses.
    struct Run {
        StreamId stream;
        uint64_t offset, length, va;
        std::vector<Mark> marks;
        size_t first_mark = 0;
    };
    struct Space {
        std::deque<Run> runs;           ///< in order of their writes
        std::vector<StreamId> readers;  ///< streams with read but unstaged bytes here
        bool gone = false;
    };

    void settle(AddressSpaceId space, uint64_t va, uint64_t length);
    void stage_overlapping(AddressSpaceId space, uint64_t va, uint64_t length);
    void stage(Stream& stream);
    void apply_front(Space& space, AddressSpaceId id, uint64_t bytes);
    void apply_until(Space& space, AddressSpaceId id, sim::SimTime t);
    void copy_out(const Run& run, uint64_t offset, uint64_t length, uint64_t va, AddressSpaceId to);

    HostMemory* memory_;
    std::vector<Stream> streams_{1};
    std::vector<StreamId> free_;
    std::unordered_map<AddressSpaceId, Space> spaces_;
    sim::SimTime safe_time_;
    bool immediate_ = false;
    Stats stats_;
};

}  // namespace simverbs::host
