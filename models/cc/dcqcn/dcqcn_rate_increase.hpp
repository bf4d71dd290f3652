// DCQCN's rate increase: fast recovery, additive increase, hyper increase.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/dcqcn/dcqcn_params.hpp"

namespace simverbs::cc::dcqcn {

enum class IncreasePhase : uint8_t { FastRecovery, AdditiveIncrease, HyperIncrease };

/// What the increase works on; rates in bits a second. target >= current.
struct Recovery {
    int64_t current = 0;
    int64_t target = 0;
    int64_t time_stage = 0;  ///< expiries of the rate timer since the last decrease
    int64_t byte_stage = 0;  ///< the same of the byte counter

    constexpr bool operator==(const Recovery&) const noexcept = default;
};

/// Steps and limits of one QP.
struct IncreaseSteps {
    int64_t ai = 1;
    int64_t hai = 1;
    int64_t line_rate = 1;
    int64_t threshold = 5;
    bool byte_counter = false;
    bool hai_grows = false;
};

/// The phase of the next increase, from the stages before it counts. So F expiries of one clock are F rounds of fast
/// recovery. Source: Zhu et al., SIGCOMM 2015, section 3.3; without a byte counter the timer's stage decides alone.
[[nodiscard]] constexpr IncreasePhase decide_phase(int64_t time_stage, int64_t byte_stage,
                                                   const IncreaseSteps& s) noexcept {
    const int64_t bytes = s.byte_counter ? byte_stage : time_stage;
    if (std::max(time_stage, bytes) < s.threshold) return IncreasePhase::FastRecovery;
    if (std::min(time_stage, bytes) > s.threshold) return IncreasePhase::HyperIncrease;
    return IncreasePhase::AdditiveIncrease;
}

/// By how much the target rate grows.
[[nodiscard]] constexpr int64_t target_step(const Recovery& r, const IncreaseSteps& s) noexcept {
    switch (decide_phase(r.time_stage, r.byte_stage, s)) {
        case IncreasePhase::FastRecovery:
            return 0;
        case IncreasePhase::AdditiveIncrease:
            return s.ai;
        case IncreasePhase::HyperIncrease:
            break;
    }
    if (!s.hai_grows) return s.hai;
    const int64_t bytes = s.byte_counter ? r.byte_stage : r.time_stage;
    return s.hai * (std::min(r.time_stage, bytes) - s.threshold);
}

/// Halfway from current to target, rounded up so that it arrives.
[[nodiscard]] constexpr int64_t halfway(int64_t current, int64_t target) noexcept {
    return current + (target - current + 1) / 2;
}

/// One increase, stages left alone.
[[nodiscard]] constexpr Recovery increased(Recovery r, const IncreaseSteps& s) noexcept {
    r.target = std::min(r.target + target_step(r, s), s.line_rate);
    r.current = halfway(r.current, r.target);
    return r;
}

[[nodiscard]] constexpr Recovery after_byte_counter(Recovery r, const IncreaseSteps& s) noexcept {
    r = increased(r, s);
    ++r.byte_stage;
    return r;
}

/// Nothing changes any more but the stages.
[[nodiscard]] constexpr bool is_settled(const Recovery& r, const IncreaseSteps& s) noexcept {
    return r.current == s.line_rate && r.target == s.line_rate;
}

/// Will every further expiry of the timer (the byte counter resting) add the same step?
[[nodiscard]] constexpr bool has_steady_step(const Recovery& r, const IncreaseSteps& s) noexcept {
    switch (decide_phase(r.time_stage, r.byte_stage, s)) {
        case IncreasePhase::FastRecovery:
            return false;
        case IncreasePhase::AdditiveIncrease:
            return s.byte_counter && r.byte_stage <= s.threshold;
        case IncreasePhase::HyperIncrease:
            break;
    }
    return s.hai == 0 || !s.hai_grows || (s.byte_counter && r.time_stage >= r.byte_stage);
}

/// `n` expiries of the rate timer, exactly as one at a time, in bounded work: the gap between target and current stops
/// changing after at most 42 equal steps (it halves), then both climb together by that step until the line rate; only
/// a growing hyper increase is walked, and that reaches the line rate in about sqrt(2 × line / hai) steps.
[[nodiscard]] constexpr Recovery after_timer(Recovery r, int64_t n, const IncreaseSteps& s) noexcept {
    while (n > 0) {
        if (is_settled(r, s)) {
            r.time_stage += n;
            break;
        }
        int64_t steps = 1;
        if (has_steady_step(r, s)) {
            const int64_t step = target_step(r, s);
            const int64_t gap = r.target - r.current;
            if (step == 0 && gap == 0) {  // a step may be configured as none
                r.time_stage += n;
                break;
            }
            if (step > 0 && (gap + step) / 2 == gap) steps = std::min(n, (s.line_rate - r.target) / step);
            if (steps > 1) {
                r.current += steps * step;
                r.target += steps * step;
                r.time_stage += steps;
                n -= steps;
                continue;
            }
            steps = 1;
        }
        r = increased(r, s);
        r.time_stage += steps;
        n -= steps;
    }
    return r;
}

}  // namespace simverbs::cc::dcqcn
