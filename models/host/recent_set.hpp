// What was touched lately: a cache without places, of so many entries, the oldest goes first.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace simverbs::host {

/// Keys in the order in which they came, at most `capacity` of them. What it says depends on which keys are equal, and
/// on nothing else about them: addresses that differ from run to run make no difference. Takes memory at its first key.
class RecentSet {
  public:
    explicit RecentSet(uint64_t capacity) noexcept : capacity_(capacity > 0 ? capacity : 1) {}

    /// Is `key` in it? If not, it is now, and the oldest is gone if there was no room.
    bool touch(uint64_t key) {
        if (order_.empty()) [[unlikely]]
            allocate();
        uint64_t at = home(key);
        for (; table_[at] != kEmpty; at = (at + 1) & mask_)
            if (order_[table_[at]] == key) return true;
        if (size_ == capacity_) {
            erase(order_[next_]);
            at = home(key);
            while (table_[at] != kEmpty) at = (at + 1) & mask_;
        } else {
            ++size_;
        }
        order_[next_] = key;
        table_[at] = static_cast<uint32_t>(next_);
        next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
        return false;
    }

    [[nodiscard]] uint64_t size() const noexcept { return size_; }

  private:
    static constexpr uint32_t kEmpty = UINT32_MAX;

    void allocate() {
        order_.resize(capacity_);
        const uint64_t slots = std::bit_ceil(2 * capacity_);
        table_.assign(slots, kEmpty);
        mask_ = slots - 1;
    }
    [[nodiscard]] uint64_t home(uint64_t key) const noexcept { return (key * 0x9E3779B97F4A7C15ULL >> 24) & mask_; }
    /// Linear probing without tombstones: what follows moves up.
    void erase(uint64_t key) noexcept {
        uint64_t hole = home(key);
        while (order_[table_[hole]] != key) hole = (hole + 1) & mask_;
        for (uint64_t at = (hole + 1) & mask_; table_[at] != kEmpty; at = (at + 1) & mask_) {
            const uint64_t wanted = home(order_[table_[at]]);
            if (((at - wanted) & mask_) < ((at - hole) & mask_)) continue;
            table_[hole] = table_[at];
            hole = at;
        }
        table_[hole] = kEmpty;
    }

    uint64_t capacity_, size_ = 0, next_ = 0, mask_ = 0;
    std::vector<uint64_t> order_;
    std::vector<uint32_t> table_;
};

}  // namespace simverbs::host
