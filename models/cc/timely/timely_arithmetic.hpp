// TIMELY's arithmetic: from RTT and its gradient to a rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/cc/arithmetic.hpp"

namespace simverbs::cc::timely {

struct TimelyParams {
    double alpha = 0.875;  ///< weight of the newest RTT difference
    double beta = 0.8;     ///< strength of a decrease
    sim::SimTime t_low = sim::SimTime::us(50);
    sim::SimTime t_high = sim::SimTime::us(500);
    sim::SimTime min_rtt = sim::SimTime::us(20);
    int64_t hai_threshold = 5;  ///< increases in a row before hyperactive increase
    sim::BitRate delta;         ///< additive step; zero: delta_of_line_rate
    sim::BitRate hai_delta;     ///< hyperactive step; zero: hai_of_line_rate
    double delta_of_line_rate = 1e-3;
    double hai_of_line_rate = 5e-3;
    sim::BitRate min_rate;
    WindowRule window = WindowRule::None;
};

/// Moving average of RTT differences, in ps. Source: Mittal et al., SIGCOMM 2015, Algorithm 1.
[[nodiscard]] constexpr double averaged_difference(double average, sim::SimTime difference, double alpha) noexcept {
    return (1.0 - alpha) * average + alpha * static_cast<double>(difference.in_ps());
}

/// What one RTT sample asks for: an increase, or the factor of a decrease.
struct RateDecision {
    bool increase = false;
    double factor = 1.0;

    constexpr bool operator==(const RateDecision&) const noexcept = default;
};

/// Below t_low increase; above t_high decrease towards it whatever the gradient; between, follow the gradient.
/// Source: Mittal et al., Algorithm 1.
[[nodiscard]] constexpr RateDecision decide_rate(sim::SimTime rtt, double average_difference,
                                                 const TimelyParams& p) noexcept {
    if (rtt < p.t_low) return {true, 1.0};
    if (rtt > p.t_high) {
        const double ratio = static_cast<double>(p.t_high.in_ps()) / static_cast<double>(rtt.in_ps());
        return {false, 1.0 - p.beta * (1.0 - ratio)};
    }
    const double gradient = average_difference / static_cast<double>(p.min_rtt.in_ps());
    if (gradient <= 0) return {true, 1.0};
    return {false, std::max(0.0, 1.0 - p.beta * gradient)};
}

}  // namespace simverbs::cc::timely
