// Keys that look like a real HCA's: the index part is a seeded permutation, so that no key can be guessed from another.
#pragma once

#include <cstdint>

#include "sim/rng.hpp"

namespace simverbs::hca {

/// A bijection of 24-bit numbers: four Feistel rounds over 12-bit halves.
class KeyPermutation {
  public:
    explicit constexpr KeyPermutation(uint64_t seed) noexcept : seed_(seed) {}

    [[nodiscard]] constexpr uint32_t permuted(uint32_t index) const noexcept {
        uint32_t left = (index >> 12) & 0xFFF, right = index & 0xFFF;
        for (uint32_t round = 0; round < kRounds; ++round) {
            const uint32_t next = left ^ mix(right, round);
            left = right;
            right = next;
        }
        return (left << 12) | right;
    }
    [[nodiscard]] constexpr uint32_t original(uint32_t permuted) const noexcept {
        uint32_t left = (permuted >> 12) & 0xFFF, right = permuted & 0xFFF;
        for (uint32_t round = kRounds; round-- > 0;) {
            const uint32_t previous = right ^ mix(left, round);
            right = left;
            left = previous;
        }
        return (left << 12) | right;
    }

  private:
    static constexpr uint32_t kRounds = 4;
    [[nodiscard]] constexpr uint32_t mix(uint32_t half, uint32_t round) const noexcept {
        return static_cast<uint32_t>(sim::mix64(seed_ ^ (uint64_t{round} << 32) ^ half)) & 0xFFF;
    }
    uint64_t seed_;
};

}  // namespace simverbs::hca
