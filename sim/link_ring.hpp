// A FIFO of timed items with a sentinel for empty slots, and the channel built on it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/engine.hpp"
#include "sim/node.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Single-producer, single-consumer FIFO. T is trivially copyable and default-constructs with time SimTime::max(),
/// which marks an empty slot. Starts with 4 slots when the first item comes, and doubles on demand. Producer and
/// consumer never run at the same time (the engine's windows see to that).
template <class T, SimTime T::*Time = &T::arrival>
class LinkRing {
  public:
    static constexpr uint32_t kFirstSlots = 4;
    /// What a ring once has it keeps.
    static constexpr uint32_t kKeptSlots = 8;

    LinkRing() noexcept : slots_(unused()), mask_(0), tail_(1) {}
    LinkRing(LinkRing&& o) noexcept
        : slots_(std::exchange(o.slots_, unused())),
          mask_(std::exchange(o.mask_, 0)),
          head_(std::exchange(o.head_, 0)),
          tail_(std::exchange(o.tail_, 1)) {}
    LinkRing& operator=(LinkRing&& o) noexcept {
        std::swap(slots_, o.slots_);
        std::swap(mask_, o.mask_);
        std::swap(head_, o.head_);
        std::swap(tail_, o.tail_);
        return *this;
    }
    ~LinkRing() {
        if (mask_ != 0) delete[] slots_;
    }

    [[nodiscard]] bool empty() const noexcept { return slots_[head_].*Time == SimTime::max(); }
    /// Time of the first item, SimTime::max() if there is none.
    [[nodiscard]] SimTime head_time() const noexcept { return slots_[head_].*Time; }
    /// Time of the second item, SimTime::max() if there is none.
    [[nodiscard]] SimTime second_time() const noexcept { return slots_[(head_ + 1) & mask_].*Time; }
    [[nodiscard]] const T& second() const noexcept { return slots_[(head_ + 1) & mask_]; }
    [[nodiscard]] T& front() noexcept { return slots_[head_]; }
    [[nodiscard]] const T& front() const noexcept { return slots_[head_]; }
    [[nodiscard]] uint32_t capacity() const noexcept { return mask_ != 0 ? mask_ + 1 : 0; }
    /// The i-th item from the front; it must be there.
    [[nodiscard]] const T& at(uint32_t i) const noexcept { return slots_[(head_ + i) & mask_]; }
    /// Number of items.
    [[nodiscard]] uint32_t size() const noexcept {
        const uint32_t n = (tail_ - head_) & mask_;
        return n == 0 && !empty() ? mask_ + 1 : n;
    }

    void push(const T& item) { push(item, item.*Time); }
    /// Appends a copy of `item` with another time; the copy's other members may be changed until something else is
    /// pushed. (A member that is written just before the whole is copied stalls the copy: write it afterwards.)
    T& push(const T& item, SimTime time) {
        if (full()) [[unlikely]]
            grow();
        return put(item, time);
    }
    /// The same in two steps: there must be room.
    [[nodiscard]] bool full() const noexcept { return slots_[tail_].*Time != SimTime::max(); }
    T& put(const T& item, SimTime time) {
        T& slot = slots_[tail_];
        slot = item;
        slot.*Time = time;
        tail_ = (tail_ + 1) & mask_;
        return slot;
    }
    /// Asks for the memory of the item after the next, and of the next free slot.
    void prefetch_third() const noexcept { __builtin_prefetch(&slots_[(head_ + 2) & mask_]); }
    void prefetch_head() const noexcept { __builtin_prefetch(&slots_[head_]); }
    void prefetch_tail() const noexcept { __builtin_prefetch(&slots_[tail_], 1); }
    /// Removes the first item; there must be one.
    void pop() noexcept {
        slots_[head_].*Time = SimTime::max();
        head_ = (head_ + 1) & mask_;
    }
    /// Slots that it has after it has grown once more.
    [[nodiscard]] uint32_t next_capacity() const noexcept { return mask_ == 0 ? kFirstSlots : 2 * capacity(); }
    /// Has it grown so far that it pays to take memory back?
    [[nodiscard]] bool has_grown() const noexcept { return mask_ >= kKeptSlots; }
    /// Doubles the room.
    [[gnu::cold, gnu::noinline]] void grow() { resize(next_capacity()); }
    /// Moves to other memory, of so many slots: a power of two, at least kFirstSlots, and no less than there are items.
    [[gnu::cold, gnu::noinline]] void resize(uint32_t slots) {
        const uint32_t n = size();
        T* const other = new T[slots];
        for (uint32_t i = 0; i < n; ++i) other[i] = slots_[(head_ + i) & mask_];
        if (mask_ != 0) delete[] slots_;
        slots_ = other;
        mask_ = slots - 1;
        head_ = 0;
        tail_ = n & mask_;
    }

  private:
    /// A ring without memory: its head finds an empty slot, its tail a taken one.
    [[nodiscard]] static T* unused() noexcept {
        static T slots[2] = {T{}, [] {
                                 T taken{};
                                 taken.*Time = SimTime::zero();
                                 return taken;
                             }()};
        return slots;
    }

    T* slots_;
    uint32_t mask_;
    uint32_t head_ = 0;
    uint32_t tail_;
};

/// What the engine knows of a channel: it binds it to partitions and drains what was staged for another thread.
class ChannelBase {
  public:
    virtual ~ChannelBase() = default;

  private:
    friend class Engine;
    uint32_t edge_ = 0;  ///< its place among the engine's edges

  protected:
    NodeId producer_ = 0;

  private:
    /// `consumer`: where to wake the consumer; the producer may do so itself if it runs in the same thread.
    virtual void bind(Activity& consumer, bool same_thread) = 0;
    virtual void drain(Activity& activity) = 0;
};

/// Items of rare channels say so by a member kCallsAttention: their consumers need not look at an empty channel.
template <class T>
concept CallsAttention = T::kCallsAttention;

/// A one-way edge with latency between two nodes, or between a node and the world outside. push() wakes the consumer.
/// Producer and consumer may live in different threads: items are then staged and move at the window's end.
/// One cache line: producer and consumer touch nothing else but the ring's slots.
/// External producer: push only between windows. External consumer: nobody is woken; read it between windows.
template <class T, SimTime T::*Time = &T::arrival>
class alignas(64) Channel final {
  public:
    /// `latency`: the least time between the producer's now and an item's arrival.
    Channel(Engine& engine, NodeId producer, NodeId consumer, SimTime latency)
        : consumer_(consumer), cold_(new Cold(*this, engine, producer, latency)) {
        engine.register_channel(*cold_, producer, consumer, latency);
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() { cold_->engine.unregister_channel(*cold_); }

    /// Sends `item`, whose time member says when it arrives: not before an earlier item's, at least latency() after
    /// now.
    void push(const T& item) { push(item, item.*Time); }
    /// The same with another time; see LinkRing::push.
    [[gnu::always_inline]] T& push(const T& item, SimTime t) {
        SIM_CHECK(t >= last_ && t < SimTime::max(), t, last_);
        last_ = t;
        if (activity_ == nullptr) [[unlikely]]
            return push_slow(item, t);
        SIM_CHECK(t >= activity_->earliest(), t, activity_->earliest());
        announce(*activity_, t);
        return put(item, t);
    }

    /// Arrival time of the first item, SimTime::max() if none.
    [[nodiscard]] SimTime head_time() const noexcept { return ring_.head_time(); }
    [[nodiscard]] SimTime second_time() const noexcept { return ring_.second_time(); }
    /// The second item, an empty slot if there is none.
    [[nodiscard]] const T& second() const noexcept { return ring_.second(); }
    [[nodiscard]] bool empty() const noexcept { return ring_.empty(); }
    [[nodiscard]] T& front() noexcept { return ring_.front(); }
    [[nodiscard]] const T& front() const noexcept { return ring_.front(); }
    [[nodiscard]] uint32_t size() const noexcept { return ring_.size(); }
    void pop() noexcept {
        ring_.pop();
        if (ring_.has_grown() && ring_.empty()) [[unlikely]]
            shrink();
    }
    void prefetch_third() const noexcept { ring_.prefetch_third(); }
    void prefetch_head() const noexcept { ring_.prefetch_head(); }
    /// For the producer. A consumer in another thread owns the ring during a window, and may move it.
    void prefetch_tail() const noexcept {
        if (activity_ != nullptr) [[likely]]
            ring_.prefetch_tail();
    }

    /// Bytes that the channel takes, itself and its ring (Activity::max_ring_memory) excepted.
    [[nodiscard]] size_t memory() const noexcept {
        return sizeof(Cold) + (cold_->staged ? sizeof(*cold_->staged) + cold_->staged->capacity() * sizeof(T) : 0);
    }
    /// By which of its lanes the consumer learns of what comes (Activity::take_lanes); 0 at first.
    void set_lane(uint32_t lane) noexcept { lane_ = lane; }
    [[nodiscard]] SimTime latency() const noexcept { return cold_->latency; }
    [[nodiscard]] NodeId consumer() const noexcept { return consumer_; }
    /// Wakes the consumer from the consumer itself (for what it holds back of this channel).
    void wake_consumer(SimTime t) { cold_->engine.wake(consumer_, t); }

  private:
    struct Cold final : ChannelBase {
        Cold(Channel& c, Engine& e, NodeId from, SimTime least) : channel(c), engine(e), latency(least) {
            producer_ = from;
        }
        [[nodiscard]] NodeId producer() const noexcept { return producer_; }
        Channel& channel;
        Engine& engine;
        SimTime latency;
        Activity* consumers_activity = nullptr;  ///< after bind()
        std::unique_ptr<std::vector<T>> staged;  ///< for a consumer in another thread

        void bind(Activity& consumer, bool same_thread) override {
            channel.activity_ = same_thread ? &consumer : nullptr;
            consumers_activity = &consumer;
            consumer.note_ring_memory(channel.ring_bytes());
            channel.awake_until_ = SimTime::zero();
            consumer.note_lane(channel.consumer_, channel.lane_);
        }
        void drain(Activity& activity) override {
            for (const T& item : *staged) {
                SIM_CHECK(item.*Time >= activity.earliest(), item.*Time, activity.earliest());
                channel.announce(activity, item.*Time);
                channel.put(item, item.*Time);
            }
            staged->clear();
        }
    };

    /// Sees to it that the consumer runs in the window of `t` and looks here. Times never decrease, so that one wake
    /// serves all that arrives in a bucket.
    [[gnu::always_inline]] void announce(Activity& activity, SimTime t) {
        if constexpr (CallsAttention<T>) activity.call_attention(consumer_);
        if (activity.still_awake(awake_until_, t)) return;
        if (ring_.has_grown()) [[unlikely]]
            trim();
        awake_until_ = activity.wake_until(consumer_, t);
        activity.note_lane(consumer_, lane_);
    }
    [[nodiscard]] ptrdiff_t ring_bytes() const noexcept { return static_cast<ptrdiff_t>(ring_.capacity() * sizeof(T)); }
    [[gnu::cold, gnu::noinline]] void resize(Activity* activity, uint32_t slots) {
        const ptrdiff_t before = ring_bytes();
        ring_.resize(slots);
        if (activity != nullptr) activity->note_ring_memory(ring_bytes() - before);
    }
    /// What grew in a burst is not kept: a fabric has many links, and few that are in a burst at once.
    [[gnu::cold, gnu::noinline]] void shrink() { resize(cold_->consumers_activity, LinkRing<T, Time>::kKeptSlots); }
    /// Half the room for a ring that is not a quarter full.
    [[gnu::cold, gnu::noinline]] void trim() {
        if (4 * ring_.size() <= ring_.capacity()) resize(cold_->consumers_activity, ring_.capacity() / 2);
    }
    [[gnu::always_inline]] T& put(const T& item, SimTime t) {
        if (ring_.full()) [[unlikely]]
            resize(cold_->consumers_activity, ring_.next_capacity());
        return ring_.put(item, t);
    }
    [[gnu::cold, gnu::noinline]] T& push_slow(const T& item, SimTime t) {
        Cold& c = *cold_;
        if (consumer_ == kExternal) return put(item, t);
        if (c.producer() == kExternal || !c.engine.running()) {
            c.engine.wake_lane(consumer_, t, lane_);
            if constexpr (CallsAttention<T>) c.engine.call_attention(consumer_);
            return put(item, t);
        }
        if (!c.staged) c.staged = std::make_unique<std::vector<T>>();
        if (c.staged->empty()) c.engine.note_staged(c, c.producer(), consumer_);
        c.staged->push_back(item);
        c.staged->back().*Time = t;
        return c.staged->back();
    }

    [[no_unique_address]] LinkRing<T, Time> ring_;
    NodeId consumer_;
    Activity* activity_ = nullptr;
    SimTime last_ = SimTime::zero();
    SimTime awake_until_ = SimTime::zero();  ///< the consumer has been woken for what arrives before
    std::unique_ptr<Cold> cold_;
    uint32_t lane_ = 0;
};

}  // namespace simverbs::sim
