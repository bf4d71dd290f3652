// Ranges of a linear space, first fit.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace simverbs::server {

/// Gives away pieces of [0, bytes), each a multiple of the grain; the lowest that is large enough.
class RangeAllocator {
  public:
    RangeAllocator(uint64_t bytes, uint64_t grain) : grain_(grain), free_bytes_(bytes / grain * grain) {
        if (free_bytes_ > 0) free_[0] = free_bytes_;
    }

    /// nullopt if no free range is long enough. `bytes` > 0.
    std::optional<uint64_t> take(uint64_t bytes) {
        if (bytes > free_bytes_) return std::nullopt;
        const uint64_t length = rounded(bytes);
        for (auto it = free_.begin(); it != free_.end(); ++it) {
            if (it->second < length) continue;
            const uint64_t at = it->first, rest = it->second - length;
            free_.erase(it);
            if (rest > 0) free_[at + length] = rest;
            free_bytes_ -= length;
            return at;
        }
        return std::nullopt;
    }
    /// What take(bytes) gave.
    void give(uint64_t at, uint64_t bytes) {
        uint64_t length = rounded(bytes);
        free_bytes_ += length;
        auto next = free_.lower_bound(at);
        if (next != free_.end() && next->first == at + length) {
            length += next->second;
            next = free_.erase(next);
        }
        if (next != free_.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == at) {
                before->second += length;
                return;
            }
        }
        free_[at] = length;
    }
    [[nodiscard]] uint64_t free_bytes() const noexcept { return free_bytes_; }

  private:
    [[nodiscard]] uint64_t rounded(uint64_t bytes) const noexcept { return (bytes + grain_ - 1) / grain_ * grain_; }

    uint64_t grain_, free_bytes_;
    std::map<uint64_t, uint64_t> free_;  ///< begin → length
};

}  // namespace simverbs::server
