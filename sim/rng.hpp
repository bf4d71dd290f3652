// Counter-based random draws: a draw is a hash, never the next number of a stream.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/int128.hpp"

namespace simverbs::sim {

/// Id of a component, made from its path ("h0/mlx5_0/1"): an unrelated component changes nothing.
using ComponentId = uint64_t;
[[nodiscard]] ComponentId component_id(std::string_view path) noexcept;

/// What a draw decides: draws for different purposes are independent.
enum class DrawPurpose : uint32_t {
    FaultDrop = 1,
    FaultCorrupt,
    FaultDuplicate,
    FaultDelay,
    FaultReorder,
    FaultMark,
    Ecn,
    Ecmp,
    Workload,
    Other
};

/// Bijective 64-bit mixer with full avalanche (the finalizer of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] constexpr uint64_t mix64(uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/// hash(seed, id, purpose, ordinal), uniform over 64 bits. `ordinal` counts what this component has seen so far.
[[nodiscard]] constexpr uint64_t draw_u64(uint64_t seed, ComponentId id, DrawPurpose purpose,
                                          uint64_t ordinal) noexcept {
    return mix64(mix64(mix64(seed) ^ id) + mix64((static_cast<uint64_t>(purpose) << 56) ^ ordinal));
}

/// Draws of one component for one purpose.
class Draws {
  public:
    constexpr Draws() noexcept = default;
    constexpr Draws(uint64_t seed, ComponentId id, DrawPurpose purpose) noexcept
        : seed_(seed), id_(id), purpose_(purpose) {}
    [[nodiscard]] constexpr uint64_t u64(uint64_t ordinal) const noexcept {
        return draw_u64(seed_, id_, purpose_, ordinal);
    }
    /// Uniform in [0, 1).
    [[nodiscard]] constexpr double unit(uint64_t ordinal) const noexcept {
        return static_cast<double>(u64(ordinal) >> 11) * 0x1p-53;
    }
    /// Uniform in 0 … n-1 (bias below n / 2^64); n > 0.
    [[nodiscard]] constexpr uint64_t below(uint64_t n, uint64_t ordinal) const noexcept {
        return static_cast<uint64_t>((static_cast<UInt128>(u64(ordinal)) * n) >> 64);
    }

  private:
    uint64_t seed_ = 0;
    ComponentId id_ = 0;
    DrawPurpose purpose_ = DrawPurpose::Other;
};

}  // namespace simverbs::sim
