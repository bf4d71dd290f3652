// Many times, kept as counts by size: their mean is exact, their percentiles are within a hundredth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Counts times from 0 up. A class is at most a 64th of its times wide, as in an HDR histogram.
class TimeHistogram {
  public:
    void add(SimTime time) {
        const uint32_t index = index_of(static_cast<uint64_t>(time.in_ps()));
        if (index >= counts_.size()) counts_.resize(index + 1);
        ++counts_[index];
        ++count_;
        sum_ += static_cast<double>(time.in_ps());
    }
    void add(const TimeHistogram& other) {
        if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
        for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
        count_ += other.count_;
        sum_ += other.sum_;
    }
    /// Takes away what `earlier`, a copy of this histogram from before, had.
    void subtract(const TimeHistogram& earlier) {
        for (size_t i = 0; i < earlier.counts_.size(); ++i) counts_[i] -= earlier.counts_[i];
        count_ -= earlier.count_;
        sum_ -= earlier.sum_;
    }

    [[nodiscard]] uint64_t count() const noexcept { return count_; }
    /// In ps.
    [[nodiscard]] double sum() const noexcept { return sum_; }
    /// The smallest class such that at least `percent` % of the times are not above it, in ps: its middle. There must
    /// be one; 0 is the least, 100 the most.
    [[nodiscard]] double percentile(double percent) const noexcept {
        const double rank = std::clamp(percent / 100 * static_cast<double>(count_) * (1 - 1e-9), 0.5,
                                       static_cast<double>(count_) - 0.5);
        uint64_t seen = 0;
        for (size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (static_cast<double>(seen) >= rank) return middle_of(static_cast<uint32_t>(i));
        }
        return 0;
    }

  private:
    static constexpr uint32_t kBits = 6;

    static uint32_t index_of(uint64_t ps) noexcept {
        const auto width = static_cast<uint32_t>(std::bit_width(ps));
        const uint32_t shift = width > kBits + 1 ? width - kBits - 1 : 0;
        return (shift << kBits) + static_cast<uint32_t>(ps >> shift);
    }
    static double middle_of(uint32_t index) noexcept {
        if (index < 2U << kBits) return index;
        const uint32_t shift = (index >> kBits) - 1;
        const uint64_t least = uint64_t{index - (shift << kBits)} << shift;
        return static_cast<double>(least) + static_cast<double>((uint64_t{1} << shift) - 1) / 2;
    }

    std::vector<uint64_t> counts_;
    uint64_t count_ = 0;
    double sum_ = 0;
};

}  // namespace simverbs::sim
