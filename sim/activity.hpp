// Which nodes of a partition have something to do, and in which window.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/check.hpp"
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
        if (t < earliest_) return;
        const auto since_base = static_cast<uint64_t>((t - base_).in_ps());
        if (since_base >= span_) [[unlikely]] {
            wake_far(node, t);
            return;
        }
        const auto slot = (current_ + ((since_base * reciprocal_) >> kReciprocalShift)) % kBuckets;
        bits_[slot * words_ + node / 64] |= uint64_t{1} << (node % 64);
        active_ |= 1U << slot;
    }

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

    [[nodiscard]] bool current_active() const noexcept { return (active_ >> (current_ % kBuckets)) & 1; }
    /// Bitmap words of the current bucket.
    [[nodiscard]] uint64_t* current_bits() noexcept { return bits_.data() + (current_ % kBuckets) * words_; }
    [[nodiscard]] size_t words() const noexcept { return words_; }
    void mark_current_done() noexcept { active_ &= ~(1U << (current_ % kBuckets)); }

    /// The scratch queue shared by the nodes of this partition (valid within one run_window).
    [[nodiscard]] LocalQueue& local_queue() noexcept { return queue_; }

  private:
    struct FarWake {
        SimTime time;
        NodeId node;
    };
    static constexpr int kReciprocalShift = 48;

    void wake_far(NodeId node, SimTime t);
    void fetch_far();

    SimTime earliest_ = SimTime::zero();
    SimTime base_ = SimTime::zero();  ///< start of the current bucket
    uint64_t span_ = 0;               ///< length of the ring in ps
    uint64_t reciprocal_ = 0;
    uint64_t current_ = 0;  ///< number of the current bucket
    size_t words_ = 0;
    std::vector<uint64_t> bits_;
    uint32_t active_ = 0;  ///< one bit a slot: some node's bit is set
    SimTime window_ = SimTime::zero();
    SimTime window_start_ = SimTime::zero();
    std::vector<FarWake> far_;  ///< heap, earliest first
    LocalQueue queue_;
};

}  // namespace simverbs::sim
