// The memory regions of a device, found by handle or key.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/hca/mr/key_permutation.hpp"
#include "models/hca/mr/mr_access_check.hpp"

namespace simverbs::hca {

/// Keys are index << 8 | consumer byte. The index goes through a seeded permutation; even indices are L_Keys, odd ones
/// R_Keys, so that no L_Key is ever a valid R_Key.
class MrTable {
  public:
    explicit MrTable(uint64_t seed) : permutation_(seed), seed_(seed) {}

    /// A free slot with fresh keys; handle is set.
    Mr& add() {
        if (free_.empty()) {
            slots_.emplace_back();
            free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        Mr& mr = slots_[index];
        const auto generation = static_cast<uint8_t>(mr.generation + 1);
        mr = Mr{};
        mr.generation = generation;
        mr.handle = index + 1;
        mr.lkey = key(2 * index, generation);
        mr.rkey = key(2 * index + 1, generation);
        ++count_;
        return mr;
    }
    void remove(Mr& mr) {
        free_.push_back(mr.handle - 1);
        mr.handle = 0;
        --count_;
    }
    /// nullptr if there is none.
    [[nodiscard]] Mr* find(uint32_t handle) noexcept {
        if (handle == 0 || handle > slots_.size()) return nullptr;
        Mr& mr = slots_[handle - 1];
        return mr.handle == 0 ? nullptr : &mr;
    }
    [[nodiscard]] const Mr* find(uint32_t handle) const noexcept { return const_cast<MrTable*>(this)->find(handle); }
    [[nodiscard]] const Mr* find_lkey(uint32_t lkey) const noexcept {
        const Mr* mr = find_index(lkey, 0);
        return mr != nullptr && mr->lkey == lkey && !mr->is_window() ? mr : nullptr;
    }
    [[nodiscard]] const Mr* find_rkey(uint32_t rkey) const noexcept {
        const Mr* mr = find_index(rkey, 1);
        return mr != nullptr && mr->rkey == rkey && mr->rkey_valid ? mr : nullptr;
    }
    [[nodiscard]] uint32_t count() const noexcept { return count_; }
    template <class F>
    void for_each(F&& f) {
        for (Mr& mr : slots_)
            if (mr.handle != 0) f(mr);
    }

  private:
    [[nodiscard]] uint32_t key(uint32_t index, uint8_t generation) const noexcept {
        const auto consumer = static_cast<uint8_t>(sim::mix64(seed_ ^ (uint64_t{index} << 8)) + generation);
        return (permutation_.permuted(index) << 8) | consumer;
    }
    [[nodiscard]] const Mr* find_index(uint32_t k, uint32_t parity) const noexcept {
        const uint32_t index = permutation_.original(k >> 8);
        if ((index & 1) != parity || index / 2 >= slots_.size()) return nullptr;
        const Mr& mr = slots_[index / 2];
        return mr.handle == 0 ? nullptr : &mr;
    }

    KeyPermutation permutation_;
    uint64_t seed_;
    std::deque<Mr> slots_;
    std::vector<uint32_t> free_;
    uint32_t count_ = 0;
};

}  // namespace simverbs::hca
