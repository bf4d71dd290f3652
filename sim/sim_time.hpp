// Simulated time: a count of picoseconds.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace simverbs::sim {

/// An instant (since the start of the simulation) or a span of simulated time, in whole picoseconds.
/// 400 Gb/s is 20 ps a byte, exactly; int64 reaches 106 days.
class SimTime {
  public:
    constexpr SimTime() noexcept = default;

    static constexpr SimTime ps(int64_t n) noexcept { return SimTime(n); }
    static constexpr SimTime ns(int64_t n) noexcept { return SimTime(n * 1'000); }
    static constexpr SimTime us(int64_t n) noexcept { return SimTime(n * 1'000'000); }
    static constexpr SimTime ms(int64_t n) noexcept { return SimTime(n * 1'000'000'000); }
    static constexpr SimTime s(int64_t n) noexcept { return SimTime(n * 1'000'000'000'000); }
    /// Later than every event: "never".
    static constexpr SimTime max() noexcept { return SimTime(std::numeric_limits<int64_t>::max()); }
    static constexpr SimTime zero() noexcept { return SimTime(0); }

    [[nodiscard]] constexpr int64_t in_ps() const noexcept { return ps_; }
    [[nodiscard]] constexpr double in_us() const noexcept { return static_cast<double>(ps_) * 1e-6; }
    [[nodiscard]] constexpr double in_s() const noexcept { return static_cast<double>(ps_) * 1e-12; }

    constexpr auto operator<=>(const SimTime&) const noexcept = default;
    constexpr SimTime operator+(SimTime o) const noexcept { return SimTime(ps_ + o.ps_); }
    constexpr SimTime operator-(SimTime o) const noexcept { return SimTime(ps_ - o.ps_); }
    constexpr SimTime operator-() const noexcept { return SimTime(-ps_); }
    constexpr SimTime operator*(int64_t n) const noexcept { return SimTime(ps_ * n); }
    constexpr SimTime operator/(int64_t n) const noexcept { return SimTime(ps_ / n); }
    constexpr int64_t operator/(SimTime o) const noexcept { return ps_ / o.ps_; }
    constexpr SimTime operator%(SimTime o) const noexcept { return SimTime(ps_ % o.ps_); }
    constexpr SimTime& operator+=(SimTime o) noexcept { return ps_ += o.ps_, *this; }
    constexpr SimTime& operator-=(SimTime o) noexcept { return ps_ -= o.ps_, *this; }

  private:
    explicit constexpr SimTime(int64_t n) noexcept : ps_(n) {}
    int64_t ps_ = 0;
};

constexpr SimTime operator*(int64_t n, SimTime t) noexcept {
    return t * n;
}

}  // namespace simverbs::sim
