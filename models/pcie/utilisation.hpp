// How busy something was, over time: a fixed number of bins whose width doubles as time goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/sim_time.hpp"

namespace simverbs::pcie {

/// Busy time of one direction of a link, in total and by bins. Takes no memory as it grows.
class Utilisation {
  public:
    static constexpr uint32_t kBins = 256;
    static constexpr sim::SimTime kFirstWidth = sim::SimTime::us(1);

    /// Busy from `from` for `span`. Spans do not overlap, and come in any order.
    void add(sim::SimTime from, sim::SimTime span) noexcept {
        total_ += span;
        while (true) {
            const int64_t bin = from / width_;
            if (bin >= kBins) {
                widen();
                continue;
            }
            const sim::SimTime left = width_ * (bin + 1) - from;
            sim::SimTime& here = bins_[static_cast<size_t>(bin)];
            if (span <= left) {
                here += span;
                return;
            }
            here += left;
            from += left;
            span -= left;
        }
    }

    [[nodiscard]] sim::SimTime total() const noexcept { return total_; }
    [[nodiscard]] sim::SimTime width() const noexcept { return width_; }
    /// Busy time in bin `i`: [i × width, (i + 1) × width).
    [[nodiscard]] sim::SimTime bin(uint32_t i) const noexcept { return bins_[i]; }

  private:
    [[gnu::cold, gnu::noinline]] void widen() noexcept {
        for (uint32_t i = 0; i < kBins; ++i)
            bins_[i] = 2 * i + 1 < kBins ? bins_[2 * i] + bins_[2 * i + 1] : sim::SimTime::zero();
        width_ = width_ * 2;
    }

    sim::SimTime total_;
    sim::SimTime width_ = kFirstWidth;
    std::array<sim::SimTime, kBins> bins_{};
};

}  // namespace simverbs::pcie
