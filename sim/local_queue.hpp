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
/// reset(), set_leaf() for those with an event, build(); then top() and update(). Or start_empty(), then update().
class LocalQueue {
  public:
    /// Makes room for `sources` leaves, all empty. Inner nodes are undefined until build().
    void reset(uint32_t sources) {
        make_room(sources);
        std::fill_n(tree_.data() + leaves_, leaves_, kNoEvent);
        drained_ = false;
    }
    /// Makes room for `sources` leaves, all empty, inner nodes too. Costs nothing if the last user did the same and has
    /// emptied the queue.
    void start_empty(uint32_t sources) {
        make_room(sources);
        if (drained_ && top() == kNoEvent) [[likely]]
            return;
        std::fill(tree_.begin(), tree_.end(), kNoEvent);
        drained_ = true;
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
        size_t i = size_t{leaves_} + source;
        t[i] = key;
        do {
            key = std::min(key, t[i ^ 1]);
            i >>= 1;
            t[i] = key;
        } while (i > 1);
    }

  private:
    void make_room(uint32_t sources) {
        SIM_CHECK(sources <= kMaxLocalSources, sources);
        leaves_ = std::bit_ceil(std::max(sources, 2U));  // all paths to the root are equally long: no branch is missed
        if (tree_.size() < 2 * size_t{leaves_}) tree_.resize(2 * size_t{leaves_}, kNoEvent);
    }

    uint32_t leaves_ = 2;
    bool drained_ = true;  ///< the whole array is kNoEvent whenever the root is
    std::vector<LocalKey> tree_ = std::vector<LocalKey>(4, kNoEvent);
};

}  // namespace simverbs::sim
