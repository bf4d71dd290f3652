// Which nodes of a partition have something to do, and in which window.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/check.hpp"
#include "sim/chunk_fifo.hpp"
#include "sim/local_queue.hpp"
#include "sim/node.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Time is cut into buckets of one window. A ring of bitmaps covers the current bucket and the next 15; later wake-ups
/// wait in a heap. Every wake is honoured: its node runs in the window that contains the time asked for.
class Activity {
  public:
    static constexpr int kBuckets = 16;

    /// Sets the bucket length; called once, before the first wake.
    void set_window(SimTime window);
    void resize(uint32_t nodes);

    /// Asks that `node` runs in the window which contains `t`. Times before the end of the window that is being run are
    /// ignored: the running node takes care of them itself.
    void wake(NodeId node, SimTime t) {
        if (t >= earliest_) wake_checked(node, t);
    }
    /// The same for a time that is known not to lie before earliest().
    void wake_checked(NodeId node, SimTime t) {
        const auto since_base = static_cast<uint64_t>((t - base_).in_ps());
        if (since_base >= span_) [[unlikely]] {
            wake_far(node, t);
            return;
        }
        set_bit(node, t);
    }

    /// The same, and tells until when (the end of the bucket) the node need not be woken again: as long as
    /// still_awake() says so.
    [[nodiscard]] SimTime wake_until(NodeId node, SimTime t) {
        const auto since_base = static_cast<uint64_t>((t - base_).in_ps());
        if (since_base >= span_) [[unlikely]] {
            wake_far(node, t);
            return SimTime::zero();
        }
        const uint64_t ahead = (since_base * reciprocal_) >> kReciprocalShift;
        set_bit_of_slot(node, (current_ + ahead) % kBuckets);
        return base_ + window_ * static_cast<int64_t>(ahead + 1);
    }
    /// Has a wake for a time not after `t`, for which wake_until() returned `until`, asked for `t` as well, and not
    /// been forgotten since?
    [[nodiscard]] bool still_awake(SimTime until, SimTime t) const noexcept { return t < until && until > forgotten_; }
    /// Bits of buckets that end at or before `t` may have been cleared although their time is still to come.
    void forget_until(SimTime t) noexcept { forgotten_ = std::max(forgotten_, t); }

    /// Something has come for `node` by its ingress `lane` (0 … 63).
    void note_lane(NodeId node, uint32_t lane) noexcept { lanes_[node] |= uint64_t{1} << lane; }
    [[nodiscard]] uint64_t lanes(NodeId node) const noexcept { return lanes_[node]; }
    /// The lanes noted since the last call.
    [[nodiscard]] uint64_t take_lanes(NodeId node) noexcept { return std::exchange(lanes_[node], 0); }

    /// Earliest time that may be asked for: the end of the window while one runs, the frontier between windows.
    [[nodiscard]] SimTime earliest() const noexcept { return earliest_; }
    void set_earliest(SimTime t) noexcept { earliest_ = t; }

    /// Start of the window that is being run.
    [[nodiscard]] SimTime window_start() const noexcept { return window_start_; }
    void set_window_start(SimTime t) noexcept { window_start_ = t; }

    /// Start of the first bucket in which a node has asked to run, SimTime::max() if none.
    [[nodiscard]] SimTime next_bucket() const noexcept;

    /// Makes the bucket that contains `t` the current one; no earlier bucket may be active.
    void advance_to(SimTime t);
    [[nodiscard]] SimTime bucket_end() const noexcept { return base_ + window_; }

    /// Moves the nodes of the current bucket into `out`, by number, and clears it.
    void take_current(std::vector<NodeId>& out) {
        const size_t slot = current_ % kBuckets;
        uint64_t* const bits = bits_.data() + slot * words_;
        for (size_t w = 0; w < words_; ++w) {
            for (uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
                out.push_back(static_cast<NodeId>(w * 64 + static_cast<size_t>(std::countr_zero(rest))));
            bits[w] = 0;
        }
        active_ &= ~(1U << slot);
    }

    /// The earliest event that any node has, by `event_time(node)`; SimTime::max() if none. A wake that came too
    /// early (a header's arrival, where the event is its tail's; a cancelled timer) moves to the node's next event.
    template <class EventTime>
    [[nodiscard]] SimTime exact_next(EventTime event_time) {
        for (uint64_t k = 0; k < kBuckets && active_ != 0; ++k) {
            const size_t slot = (current_ + k) % kBuckets;
            if (((active_ >> slot) & 1) == 0) continue;
            const SimTime end = base_ + window_ * static_cast<int64_t>(k + 1);
            SimTime best = SimTime::max();
            uint64_t left = 0;
            for (size_t w = 0; w < words_; ++w) {
                uint64_t& word = bits_[slot * words_ + w];
                for (uint64_t rest = word; rest != 0; rest &= rest - 1) {
                    const auto bit = static_cast<size_t>(std::countr_zero(rest));
                    const auto node = static_cast<NodeId>(w * 64 + bit);
                    const SimTime t = event_time(node);
                    if (t < end) {
                        best = std::min(best, t);
                    } else {
                        word &= ~(uint64_t{1} << bit);
                        forget_until(end);
                        if (t != SimTime::max()) wake_checked(node, t);
                    }
                }
                left |= word;
            }
            if (left == 0) active_ &= ~(1U << slot);
            if (best != SimTime::max()) return best;
        }
        while (!far_.empty()) {
            const NodeId node = far_.front().node;
            const SimTime t = event_time(node);
            if (t <= far_.front().time) return t;
            pop_far();
            if (t != SimTime::max()) wake_checked(node, t);
        }
        return SimTime::max();
    }

    /// A rare channel has something for `node`: it is to look at all of them, until it clears the mark.
    void call_attention(NodeId node) noexcept { attention_[node / 64] |= uint64_t{1} << (node % 64); }
    [[nodiscard]] bool attention(NodeId node) const noexcept { return (attention_[node / 64] >> (node % 64)) & 1; }
    void clear_attention(NodeId node) noexcept { attention_[node / 64] &= ~(uint64_t{1} << (node % 64)); }

    /// The scratch queue shared by the nodes of this partition (valid within one run_window).
    [[nodiscard]] LocalQueue& local_queue() noexcept { return queue_; }
    /// Memory for the FIFOs of the nodes of this partition.
    [[nodiscard]] ChunkPool& chunks() noexcept { return chunks_; }
    [[nodiscard]] const ChunkPool& chunks() const noexcept { return chunks_; }
    /// Counts what the rings of this partition's channels take: `bytes` more, or less.
    void note_ring_memory(ptrdiff_t bytes) noexcept {
        ring_bytes_ += bytes;
        max_ring_bytes_ = std::max(max_ring_bytes_, ring_bytes_);
    }
    /// The most that they have taken at once.
    [[nodiscard]] size_t max_ring_memory() const noexcept { return static_cast<size_t>(max_ring_bytes_); }

  private:
    struct FarWake {
        SimTime time;
        NodeId node;
    };
    static constexpr int kReciprocalShift = 48;

    struct LaterFirst {
        bool operator()(const FarWake& a, const FarWake& b) const noexcept { return b.time < a.time; }
    };

    void set_bit(NodeId node, SimTime t) noexcept {
        const auto since_base = static_cast<uint64_t>((t - base_).in_ps());
        set_bit_of_slot(node, (current_ + ((since_base * reciprocal_) >> kReciprocalShift)) % kBuckets);
    }
    void set_bit_of_slot(NodeId node, uint64_t slot) noexcept {
        bits_[slot * words_ + node / 64] |= uint64_t{1} << (node % 64);
        active_ |= 1U << slot;
    }
    void wake_far(NodeId node, SimTime t);
    void pop_far() noexcept;

    SimTime earliest_ = SimTime::zero();
    SimTime base_ = SimTime::zero();  ///< start of the current bucket
    uint64_t span_ = 0;               ///< length of the ring in ps
    uint64_t reciprocal_ = 0;
    uint64_t current_ = 0;  ///< number of the current bucket
    size_t words_ = 0;
    std::vector<uint64_t> bits_;
    std::vector<uint64_t> attention_;
    std::vector<uint64_t> lanes_;  ///< by node
    SimTime forgotten_ = SimTime::zero();
    uint32_t active_ = 0;  ///< one bit a slot: some node's bit is set
    SimTime window_ = SimTime::zero();
    SimTime window_start_ = SimTime::zero();
    std::vector<FarWake> far_;  ///< heap, earliest first
    LocalQueue queue_;
    ChunkPool chunks_;
    ptrdiff_t ring_bytes_ = 0;
    ptrdiff_t max_ring_bytes_ = 0;
};

}  // namespace simverbs::sim
