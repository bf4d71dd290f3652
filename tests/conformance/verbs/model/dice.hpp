// Choices out of one number: small numbers make simple choices, so that what a shrinker finds is simple.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simverbs::test::model {

class Dice {
  public:
    explicit Dice(uint64_t number) : rest_(number) {}
    /// 0 … n - 1.
    uint32_t below(uint32_t n) {
        const auto r = static_cast<uint32_t>(rest_ % n);
        rest_ /= n;
        return r;
    }
    /// True once in n times.
    bool once_in(uint32_t n) { return below(n) == n - 1; }
    template <class T, size_t N>
    const T& of(const std::array<T, N>& choices) {
        return choices[below(static_cast<uint32_t>(N))];
    }

  private:
    uint64_t rest_;
};

}  // namespace simverbs::test::model
