// FIFOs of numbers that share their memory: each takes chunks from a pool as it grows and gives them back at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace simverbs::sim {

/// Chunks of a cache line. What was given back last is taken first: it is still in a cache. Chunks may come back to
/// another pool than theirs; their memory lives as long as the pools that made it, which must be all of one engine's.
class ChunkPool {
  public:
    static constexpr size_t kChunkBytes = 64;

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
    static constexpr size_t kSlabChunks = 256;
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

/// FIFO of numbers other than kNone. The first one lies in the FIFO itself, the others in chunks. Whoever changes it
/// hands in the same kind of pool; clear() before it dies.
class ChunkFifo {
  public:
    static constexpr uint32_t kNone = 0xFFFFFFFF;

    ChunkFifo() = default;
    ChunkFifo(ChunkFifo&& o) noexcept { swap(o); }
    ChunkFifo& operator=(ChunkFifo&& o) noexcept {
        swap(o);
        return *this;
    }

    [[nodiscard]] bool empty() const noexcept { return front_ == kNone; }
    /// Is there one item, and no more?
    [[nodiscard]] bool has_one() const noexcept { return front_ != kNone && head_ == nullptr; }
    /// The first item, kNone if there is none.
    [[nodiscard]] uint32_t front() const noexcept { return front_; }
    /// Calls f for each item, the first one first.
    template <class F>
    void for_each(F f) const {
        if (empty()) return;
        f(front_);
        uint32_t i = first_;
        for (const Chunk* c = head_; c != nullptr; c = c->next, i = 0)
            for (const uint32_t end = c == tail_ ? end_ : kSlots; i < end; ++i) f(c->slots[i]);
    }

    [[gnu::always_inline]] void push(uint32_t item, ChunkPool& pool) {
        if (front_ == kNone) {
            front_ = item;
            return;
        }
        if (head_ == nullptr || end_ == kSlots) lengthen(pool);
        tail_->slots[end_++] = item;
    }
    /// Removes the first item; there must be one.
    [[gnu::always_inline]] void pop(ChunkPool& pool) noexcept {
        if (head_ == nullptr) {
            front_ = kNone;
            return;
        }
        front_ = head_->slots[first_++];
        if (head_ == tail_) {
            if (first_ != end_) return;
            pool.give(head_);
            head_ = tail_ = nullptr;
        } else if (first_ == kSlots) {
            pool.give(std::exchange(head_, head_->next));
            first_ = 0;
        }
    }
    void clear(ChunkPool& pool) noexcept {
        while (!empty()) pop(pool);
    }

    /// Asks for the memory of the second item, and of the next free slot.
    void prefetch() const noexcept {
        __builtin_prefetch(head_);
        __builtin_prefetch(tail_, 1);
    }

  private:
    static constexpr uint8_t kSlots = (ChunkPool::kChunkBytes - sizeof(void*)) / sizeof(uint32_t);
    struct Chunk {
        uint32_t slots[kSlots];
        Chunk* next;
    };
    static_assert(sizeof(Chunk) == ChunkPool::kChunkBytes);

    void swap(ChunkFifo& o) noexcept {
        std::swap(head_, o.head_);
        std::swap(tail_, o.tail_);
        std::swap(front_, o.front_);
        std::swap(first_, o.first_);
        std::swap(end_, o.end_);
    }
    void lengthen(ChunkPool& pool) {
        auto* const chunk = static_cast<Chunk*>(pool.take());
        chunk->next = nullptr;
        if (head_ == nullptr) {
            head_ = chunk;
            first_ = 0;
        } else {
            tail_->next = chunk;
        }
        tail_ = chunk;
        end_ = 0;
    }

    Chunk* head_ = nullptr;
    Chunk* tail_ = nullptr;
    uint32_t front_ = kNone;
    uint8_t first_ = 0;  ///< in head_
    uint8_t end_ = 0;    ///< in tail_: first free slot
};

}  // namespace simverbs::sim
