// The event queue of one node in one window: a tournament tree over 32-bit keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/check.hpp"
#include "sim/event_key.hpp"

namespace simverbs::sim {

/// One leaf for each local source, holding its pending key or kNoEvent. The array is reused from node to node:
/// reset(), set_leaf() for those with an event, build(); then top() and update().
class LocalQueue {
  public:
    /// Makes room for `sources` leaves, all empty. Inner nodes are undefined until build().
    void reset(uint32_t sources) {
        SIM_CHECK(sources <= kMaxLocalSources, sources);
        leaves_ = std::max(sources, 2U);  // need not be a power of two: every inner node has its two children
        if (tree_.size() < 2 * leaves_) tree_.resize(2 * leaves_);
        std::fill_n(tree_.data() + leaves_, leaves_, kNoEvent);
    }
    void set_leaf(uint32_t source, LocalKey key) noexcept { tree_[leaves_ + source] = key; }
    void build() noexcept {
        LocalKey* const t = tree_.data();
        for (uint32_t i = leaves_ - 1; i != 0; --i) t[i] = std::min(t[2 * i], t[2 * i + 1]);
    }

    /// The smallest key, kNoEvent if none is left.
    [[nodiscard]] LocalKey top() const noexcept { return tree_[1]; }
    [[nodiscard]] LocalKey leaf(uint32_t source) const noexcept { return tree_[leaves_ + source]; }

    /// Replaces the pending event of `source` (kNoEvent: removes it). Branchless from leaf to root.
    void update(uint32_t source, LocalKey key) noexcept {
        LocalKey* const t = tree_.data();
        uint32_t i = leaves_ + source;
        t[i] = key;
        for (; i > 1; i >>= 1) {
            key = std::min(key, t[i ^ 1]);
            t[i >> 1] = key;
        }
    }

  private:
    uint32_t leaves_ = 2;
    std::vector<LocalKey> tree_ = std::vector<LocalKey>(4, kNoEvent);
};

}  // namespace simverbs::sim
