#pragma once

#include <cstdint>

namespace simverbs::wire {

/// A packet sequence number: 24 bits on a circle (IBTA vol. 1, BTH, "PSN").
/// There is deliberately no operator<: on a circle only distances have a meaning.
class Psn {
  public:
    static constexpr std::uint32_t kModulus = 1u << 24;
    static constexpr std::uint32_t kMask = kModulus - 1;
    /// Half of the circle: the valid window in which a packet counts as a duplicate or as ahead.
    static constexpr std::int32_t kWindow = 1 << 23;

    constexpr Psn() noexcept = default;
    /// Takes the low 24 bits of `value`, as verbs does with `rq_psn` and `sq_psn`.
    constexpr explicit Psn(std::uint32_t value) noexcept : value_(value & kMask) {}

    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }

    /// Steps from `from` to `to`, in [-2^23, 2^23): positive if `to` is ahead of `from`.
    [[nodiscard]] static constexpr std::int32_t distance(Psn from, Psn to) noexcept {
        const std::uint32_t steps = (to.value_ - from.value_) & kMask;
        return steps < kModulus / 2 ? static_cast<std::int32_t>(steps)
                                    : static_cast<std::int32_t>(steps) - static_cast<std::int32_t>(kModulus);
    }

    [[nodiscard]] constexpr Psn next() const noexcept { return Psn(value_ + 1); }
    [[nodiscard]] constexpr Psn previous() const noexcept { return Psn(value_ - 1); }

    constexpr Psn& operator+=(std::int32_t steps) noexcept { return *this = *this + steps; }
    constexpr Psn& operator-=(std::int32_t steps) noexcept { return *this = *this - steps; }
    constexpr Psn& operator++() noexcept { return *this = next(); }

    friend constexpr Psn operator+(Psn psn, std::int32_t steps) noexcept {
        return Psn(psn.value_ + static_cast<std::uint32_t>(steps));
    }
    friend constexpr Psn operator-(Psn psn, std::int32_t steps) noexcept {
        return Psn(psn.value_ - static_cast<std::uint32_t>(steps));
    }
    friend constexpr bool operator==(Psn, Psn) noexcept = default;

  private:
    std::uint32_t value_ = 0;
};

static_assert(Psn::distance(Psn(0xFFFFFF), Psn(0)) == 1);
static_assert(Psn::distance(Psn(0), Psn(0xFFFFFF)) == -1);

}  // namespace simverbs::wire
