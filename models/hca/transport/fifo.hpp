// A queue in one growing ring, whose entries can be found again by their number.
#pragma once

#include <cstdint>
#include <vector>

namespace simverbs::hca {

/// FIFO of plain values. Entries are numbered from 0 in order of pushing; numbers wrap at 2^32.
template <class T>
class Fifo {
  public:
    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] uint32_t size() const noexcept { return tail_ - head_; }
    [[nodiscard]] T& front() noexcept { return slots_[head_ & mask()]; }
    [[nodiscard]] const T& front() const noexcept { return slots_[head_ & mask()]; }
    [[nodiscard]] T& back() noexcept { return slots_[(tail_ - 1) & mask()]; }
    /// Numbers of the first entry and of the next to be pushed.
    [[nodiscard]] uint32_t first() const noexcept { return head_; }
    [[nodiscard]] uint32_t next() const noexcept { return tail_; }
    [[nodiscard]] bool holds(uint32_t number) const noexcept { return number - head_ < tail_ - head_; }
    [[nodiscard]] T& at(uint32_t number) noexcept { return slots_[number & mask()]; }

    uint32_t push(const T& value) {
        if (size() == slots_.size()) grow();
        slots_[tail_ & mask()] = value;
        return tail_++;
    }
    void pop() noexcept { ++head_; }
    void clear() noexcept { head_ = tail_; }

  private:
    [[nodiscard]] uint32_t mask() const noexcept { return static_cast<uint32_t>(slots_.size()) - 1; }
    void grow() {
        std::vector<T> bigger(slots_.size() * 2);
        for (uint32_t i = head_; i != tail_; ++i) bigger[i & (bigger.size() - 1)] = slots_[i & mask()];
        slots_.swap(bigger);
    }
    std::vector<T> slots_ = std::vector<T>(8);
    uint32_t head_ = 0, tail_ = 0;
};

}  // namespace simverbs::hca
