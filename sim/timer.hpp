// Cancellable timers of one node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/check.hpp"
#include "sim/event_key.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// The pending timers of a node: an indexed heap ordered by (time, source). A source has at most one pending expiry.
/// The node runs due timers in EventPhase::Timer and wakes itself for next_time() when it sets one beyond its window.
class TimerQueue {
  public:
    /// Number of a timer in its queue.
    using Index = uint32_t;

    TimerQueue() = default;
    TimerQueue(const TimerQueue&) = delete;
    TimerQueue& operator=(const TimerQueue&) = delete;

    /// Makes a timer. `source` orders expiries at equal time and must be unique in the node; `tag` comes back from
    /// pop().
    Index add(SourceId source, uint64_t tag);
    /// Cancels and forgets a timer; its index may be reused.
    void remove(Index timer);

    /// Sets or moves the expiry of a timer.
    void set(Index timer, SimTime t);
    /// Without effect if it is not set.
    void cancel(Index timer);
    /// Expiry, SimTime::max() if not set.
    [[nodiscard]] SimTime time(Index timer) const { return slots_[timer].time; }

    /// Earliest expiry, SimTime::max() if none.
    [[nodiscard]] SimTime next_time() const noexcept { return heap_.empty() ? SimTime::max() : heap_.front().time; }
    /// Source of the earliest expiry; there must be one.
    [[nodiscard]] SourceId next_source() const noexcept { return heap_.front().source; }
    /// Takes the earliest expiry off and returns the timer's tag; there must be one. The timer may be set again.
    uint64_t pop();
    [[nodiscard]] size_t pending() const noexcept { return heap_.size(); }

  private:
    static constexpr uint32_t kNotPending = 0xFFFFFFFF;
    static constexpr uint32_t kArity = 4;
    struct Entry {
        SimTime time;
        SourceId source;
        Index timer;
        [[nodiscard]] bool before(const Entry& o) const noexcept {
            return time != o.time ? time < o.time : source < o.source;
        }
    };
    struct Slot {
        SimTime time = SimTime::max();
        SourceId source = 0;
        uint64_t tag = 0;
        uint32_t position = kNotPending;
    };

    void place(uint32_t position, const Entry& entry);
    void sift_up(uint32_t position, const Entry& entry);
    void sift_down(uint32_t position, const Entry& entry);

    std::vector<Entry> heap_;
    std::vector<Slot> slots_;
    std::vector<Index> free_;
};

/// A timer that dies with its owner. Cancelling twice is harmless.
class Timer {
  public:
    Timer() = default;
    Timer(TimerQueue& queue, SourceId source, uint64_t tag) : queue_(&queue), index_(queue.add(source, tag)) {}
    Timer(Timer&& o) noexcept : queue_(std::exchange(o.queue_, nullptr)), index_(o.index_) {}
    Timer& operator=(Timer&& o) noexcept {
        if (this != &o) {
            reset();
            queue_ = std::exchange(o.queue_, nullptr);
            index_ = o.index_;
        }
        return *this;
    }
    ~Timer() { reset(); }

    void set(SimTime t) { queue_->set(index_, t); }
    void cancel() {
        if (queue_ != nullptr) queue_->cancel(index_);
    }
    [[nodiscard]] SimTime time() const { return queue_ != nullptr ? queue_->time(index_) : SimTime::max(); }
    [[nodiscard]] bool pending() const { return time() != SimTime::max(); }

  private:
    void reset() {
        if (queue_ != nullptr) queue_->remove(index_);
        queue_ = nullptr;
    }
    TimerQueue* queue_ = nullptr;
    TimerQueue::Index index_ = 0;
};

}  // namespace simverbs::sim
