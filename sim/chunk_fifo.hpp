// FIFOs of timed items that share their memory: each takes chunks from a pool as it grows and gives them back at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Chunks of 256 bytes. What was given back last is taken first: it is still in a cache. Chunks may come back to
/// another pool than theirs; their memory lives as long as the pools that made it, which must be all of one engine's.
class ChunkPool {
  public:
    static constexpr size_t kChunkBytes = 256;

    ChunkPool() = default;
    ChunkPool(const ChunkPool&) = delete;
    ChunkPool& operator=(const ChunkPool&) = delete;

    [[nodiscard]] void* take() {
        if (free_ == nullptr) [[unlikely]]
            add_slab();
        Free* const chunk = free_;
        free_ = chunk->next;
        return chunk;
    }
    void give(void* chunk) noexcept { free_ = new (chunk) Free{free_}; }
    /// Bytes of all chunks that were made here.
    [[nodiscard]] size_t memory() const noexcept { return slabs_.size() * kSlabChunks * kChunkBytes; }

  private:
    static constexpr size_t kSlabChunks = 64;
    struct Free {
        Free* next;
    };
    struct alignas(64) Bytes {
        std::byte bytes[kChunkBytes];
    };
    [[gnu::cold, gnu::noinline]] void add_slab() {
        slabs_.emplace_back(new Bytes[kSlabChunks]);
        for (size_t i = kSlabChunks; i-- != 0;) give(&slabs_.back()[i]);
    }
    Free* free_ = nullptr;
    std::vector<std::unique_ptr<Bytes[]>> slabs_;
};

/// Single-producer, single-consumer FIFO of trivially copyable T, whose first member is its time. Empty, it has no
/// memory. Whoever changes it hands in the same kind of pool; clear() before it dies.
template <class T, SimTime T::*Time = &T::arrival>
class ChunkFifo {
  public:
    ChunkFifo() = default;
    ChunkFifo(ChunkFifo&& o) noexcept
        : head_(std::exchange(o.head_, none())),
          tail_(std::exchange(o.tail_, none())),
          first_(std::exchange(o.first_, uint8_t{0})),
          end_(std::exchange(o.end_, kSlots)) {}
    ChunkFifo& operator=(ChunkFifo&& o) noexcept {
        std::swap(head_, o.head_);
        std::swap(tail_, o.tail_);
        std::swap(first_, o.first_);
        std::swap(end_, o.end_);
        return *this;
    }

    [[nodiscard]] bool empty() const noexcept { return head_ == none(); }
    /// Time of the first (second) item, SimTime::max() if there is none.
    [[nodiscard]] SimTime head_time() const noexcept { return time_at(*head_, first_); }
    [[nodiscard]] SimTime second_time() const noexcept { return time_at(*head_, first_ + 1U); }
    [[nodiscard]] T& front() noexcept { return head_->slots[first_]; }
    [[nodiscard]] const T& front() const noexcept { return head_->slots[first_]; }
    /// The second item; there must be one.
    [[nodiscard]] const T& second() const noexcept {
        return first_ + 1U < kSlots ? head_->slots[first_ + 1U] : head_->next->slots[0];
    }
    [[nodiscard]] uint32_t size() const noexcept {
        uint32_t n = 0;
        for_each([&](const T&) { ++n; });
        return n;
    }
    /// Calls f for each item, the first one first.
    template <class F>
    void for_each(F f) const {
        if (empty()) return;
        uint32_t i = first_;
        for (const Chunk* c = head_;; c = c->next, i = 0) {
            for (const uint32_t end = c == tail_ ? end_ : kSlots; i < end; ++i) f(c->slots[i]);
            if (c == tail_) return;
        }
    }

    /// Appends a copy of `item` with another time; the copy's other members may be changed until something else is
    /// pushed. (A member that is written just before the whole is copied stalls the copy: write it afterwards.)
    [[gnu::always_inline]] T& push(const T& item, SimTime time, ChunkPool& pool) {
        if (end_ == kSlots) lengthen(time, pool);
        T& slot = tail_->slots[end_];
        slot = item;
        slot.*Time = time;
        ++end_;
        time_at(*tail_, end_) = SimTime::max();
        return slot;
    }
    /// Removes the first item; there must be one.
    [[gnu::always_inline]] void pop(ChunkPool& pool) noexcept {
        ++first_;
        if (head_ == tail_) {
            if (first_ != end_) return;
            pool.give(head_);
            head_ = tail_ = none();
            first_ = 0;
            end_ = kSlots;
        } else if (first_ == kSlots) {
            pool.give(std::exchange(head_, head_->next));
            first_ = 0;
        }
    }
    void clear(ChunkPool& pool) noexcept {
        while (!empty()) pop(pool);
    }

    /// Asks for the memory of the first item, of the third, of the next free slot.
    void prefetch_head() const noexcept { __builtin_prefetch(&head_->slots[first_]); }
    void prefetch_third() const noexcept { __builtin_prefetch(&head_->slots[first_] + 2); }
    void prefetch_tail() const noexcept { __builtin_prefetch(&tail_->slots[0] + end_, 1); }

  private:
    static constexpr uint8_t kSlots = (ChunkPool::kChunkBytes - 16) / sizeof(T);
    static_assert(kSlots >= 2 && sizeof(T) % 8 == 0);
    struct Chunk {
        T slots[kSlots];
        SimTime beyond = SimTime::max();  ///< time of the next chunk's first item: continues the slots' times
        Chunk* next = nullptr;
    };
    static_assert(sizeof(Chunk) <= ChunkPool::kChunkBytes && alignof(Chunk) <= 64);

    /// What an empty FIFO points at: an empty first slot, and no room.
    [[nodiscard]] static Chunk* none() noexcept {
        static constinit Chunk empty{};
        return &empty;
    }
    /// Time of slot i, or (i = kSlots) beyond it.
    [[nodiscard]] static SimTime& time_at(Chunk& chunk, uint32_t i) noexcept {
        return *reinterpret_cast<SimTime*>(reinterpret_cast<std::byte*>(&chunk) + size_t{i} * sizeof(T));
    }
    void lengthen(SimTime time, ChunkPool& pool) {
        auto* const chunk = static_cast<Chunk*>(pool.take());
        chunk->next = nullptr;
        if (empty()) {
            head_ = chunk;
        } else {
            tail_->beyond = time;
            tail_->next = chunk;
        }
        tail_ = chunk;
        end_ = 0;
    }

    Chunk* head_ = none();
    Chunk* tail_ = none();
    uint8_t first_ = 0;     ///< in head_
    uint8_t end_ = kSlots;  ///< in tail_: first free slot
};

}  // namespace simverbs::sim
