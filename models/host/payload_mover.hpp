// Real payload: exact, lazy, one copy a message where possible.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/host/host_memory.hpp"
#include "models/host/null_space.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {

/// A piece of memory in a stream's gather list.
struct MemoryRange {
    AddressSpaceId space = 0;
    uint64_t va = 0;
    uint64_t length = 0;
};

using wire::kNoStream;
using wire::StreamId;

/// Moves the bytes of messages between memories so that nobody can tell it from DMA packet by packet: source bytes are
/// fixed when they are DMA-read, destination bytes appear when they are DMA-written. In between, nothing is copied
/// until somebody could see the difference; then a whole run is, at best with one HostMemory::copy.
///
/// A stream is one message on its way: a gather list of source memory (or its own bytes), how far it has been read,
/// and a count of holders (the sender, each packet, each pending write). The last release frees it.
/// Safe to call from several threads; but only windows that run in one thread give overlapping writes of several HCAs
/// of one host a fixed order.
class PayloadMover final : public wire::PayloadStreams {
  public:
    explicit PayloadMover(HostMemory& memory) : with_null_(memory), memory_(&with_null_), streams_(1) {}
    PayloadMover(const PayloadMover&) = delete;
    PayloadMover& operator=(const PayloadMover&) = delete;

    // ---- sender side
    /// A stream over source memory; the caller holds it once. Offset 0 is the first byte of the first range.
    StreamId open(std::span<const MemoryRange> source);
    /// A stream over bytes that exist already (inline data, a datagram's GRH).
    StreamId open_bytes(std::span<const uint8_t> bytes);
    /// DMA-reads up to `upto` (exclusive) now, after everything that was read before. False if the memory is known to
    /// be unreachable (a process that has gone).
    bool dma_read(StreamId stream, uint64_t upto);
    void hold(StreamId stream) {
        const auto lock = guard();
        ++streams_[stream].holders;
    }
    /// A fault duplicates a packet: its bytes must be there twice.
    void retain(StreamId stream) override;
    void release(StreamId stream) override;

    // ---- receiver side
    /// DMA-writes bytes [offset, offset+length) of a stream to `va` of `space`, visible at `visible_at`. They must
    /// have been read. Times of one HCA's writes to a space never decrease.
    void dma_write(StreamId stream, uint64_t offset, uint64_t length, AddressSpaceId space, uint64_t va,
                   sim::SimTime visible_at);
    /// Reads 8 bytes in host byte order and replaces them by new_value(old), at once; false if unreachable.
    template <class F>
    bool read_modify_write(AddressSpaceId space, uint64_t va, F&& new_value, uint64_t& old_value) {
        const auto lock = guard();
        settle(space, va, 8);
        uint8_t raw[8];
        if (!memory_->read(space, va, raw)) return false;
        __builtin_memcpy(&old_value, raw, 8);
        const uint64_t next = new_value(old_value);
        __builtin_memcpy(raw, &next, 8);
        return memory_->write(space, va, raw);
    }
    /// The bytes of a packet, for capture and corruption: changes nothing that anybody sees. False if unreachable.
    bool peek(StreamId stream, uint64_t offset, std::span<uint8_t> out);

    // ---- whoever runs programs
    /// A program of `space` is about to run with its clock at `clock`, the smallest of all runnable clocks: fixes all
    /// source bytes that were read there, and makes all writes visible that are due by then.
    void before_turn(AddressSpaceId space, sim::SimTime clock);
    /// When the next pending write of this space becomes visible, max() if none: bounds a turn.
    [[nodiscard]] sim::SimTime next_visible(AddressSpaceId space) const;
    /// All pending reads and writes of a space take effect now (its memory is about to be unmapped or given away).
    void settle_all(AddressSpaceId space);
    /// The space's process has gone: reads fail from now on, writes are dropped.
    void space_gone(AddressSpaceId space);
    /// No program's clock is before `t` any more: writes due by then may be done early.
    void set_safe_time(sim::SimTime t) noexcept {
        if (t > safe_time_) safe_time_ = t;
    }

    struct Stats {
        uint64_t direct_copies = 0, direct_bytes = 0;  ///< source → destination in one step
        uint64_t staged_bytes = 0;                     ///< source bytes that had to be fixed first
        uint64_t writes = 0, written_bytes = 0;        ///< HostMemory::write calls from staged bytes
        uint64_t dropped_bytes = 0;                    ///< could not be read or written
    };
    [[nodiscard]] const Stats& stats() const noexcept { return stats_; }
    [[nodiscard]] size_t open_streams() const noexcept { return streams_.size() - free_.size() - 1; }
    /// Locks around every call; off until more than one thread runs windows.
    void set_threaded(bool on) noexcept { threaded_ = on; }

  private:
    struct Run;
    struct Stream {
        std::vector<MemoryRange> source;
        std::vector<uint8_t> staged;  ///< bytes [staged_from, staged_to)
        uint64_t staged_from = 0;     ///< bytes before this have been written, or copied directly
        uint64_t staged_to = 0;       ///< bytes before this do not depend on source memory any more
        uint64_t read_to = 0;
        uint32_t holders = 0;
        Run* run = nullptr;  ///< pending write that may grow
        AddressSpaceId run_space = 0;
        bool listed = false;  ///< in the reader lists of its spaces
        bool pinned = false;  ///< keep all bytes: a packet was duplicated
        bool failed = false;
    };
    struct Mark {
        sim::SimTime visible_at;
        uint64_t length = 0;
    };
    /// Writes that continue each other: same stream, consecutive offsets and addresses.
    struct Run {
        StreamId stream = kNoStream;
        uint64_t offset = 0, length = 0, va = 0;
        std::vector<Mark> marks;
        size_t first_mark = 0;
    };
    struct Space {
        std::vector<std::unique_ptr<Run>> runs;  ///< in order of their first writes
        uint64_t low = ~uint64_t{0}, high = 0;   ///< all runs lie in [low, high)
        uint64_t pending_bytes = 0;
        std::vector<StreamId> readers;  ///< streams that may have read but unstaged bytes here
        bool gone = false;
    };

    [[nodiscard]] std::unique_lock<std::mutex> guard() const {
        return threaded_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    }
    Space& space_of(AddressSpaceId id);
    StreamId take_stream();
    void release_unlocked(StreamId id);
    [[nodiscard]] bool overlaps_pending_write(const Stream& s, uint64_t from, uint64_t to);
    void stage_readers_of(Space& space, AddressSpaceId id, uint64_t va, uint64_t length);
    void settle(AddressSpaceId id, uint64_t va, uint64_t length);
    void stage(Stream& s, bool overlay = false);
    void stage_pending_under(const Stream& s, uint64_t from, uint64_t to);
    void overlay_pending(const Space& space, uint64_t va, std::span<uint8_t> out);
    void apply_due(Space& space, AddressSpaceId id, sim::SimTime t);
    void write_out(Space& space, AddressSpaceId id, Run& run, uint64_t bytes);
    void unlist(StreamId id);

    template <class F>
    static bool for_ranges(const Stream& s, uint64_t from, uint64_t to, F&& f);

    NullSpaceFilter with_null_;
    HostMemory* memory_;
    std::vector<Stream> streams_;
    std::vector<StreamId> free_;
    std::unordered_map<AddressSpaceId, Space> spaces_;
    AddressSpaceId cached_id_ = 0;
    Space* cached_space_ = nullptr;
    std::vector<std::unique_ptr<Run>> spare_runs_;
    sim::SimTime safe_time_;
    bool threaded_ = false;
    mutable std::mutex mutex_;
    Stats stats_;
};

}  // namespace simverbs::host
