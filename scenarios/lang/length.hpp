// A length of cable as a type.
#pragma once

#include <compare>
#include <cstdint>

namespace simverbs::scenarios {

/// A length in whole millimetres.
class Length {
  public:
    constexpr Length() noexcept = default;
    static constexpr Length mm(int64_t n) noexcept { return Length(n); }
    static constexpr Length m(int64_t n) noexcept { return Length(n * 1'000); }
    [[nodiscard]] constexpr int64_t in_mm() const noexcept { return mm_; }
    constexpr auto operator<=>(const Length&) const noexcept = default;

  private:
    explicit constexpr Length(int64_t n) noexcept : mm_(n) {}
    int64_t mm_ = 0;
};

}  // namespace simverbs::scenarios
