// TIMELY: registered with and without a window.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "models/cc/parameters.hpp"

namespace simverbs::cc::timely {

inline constexpr auto schema_of = [](bool window) {
    using enum ParameterKind;
    return std::to_array<ParameterInfo>({
        {"alpha", Fraction, 0.875, "0.875", 0, 1, "weight of the newest RTT difference"},
        {"beta", Fraction, 0.8, "0.8", 0, 1, "strength of a decrease"},
        {"t_low", Time, 50 * kUs, "50 us", 0, 1e6 * kUs, "an RTT below this always increases the rate"},
        {"t_high", Time, 500 * kUs, "500 us", 1, 1e6 * kUs, "an RTT above this always decreases it"},
        {"min_rtt", Time, 20 * kUs, "20 us", 1, 1e6 * kUs, "what the gradient is measured against"},
        {"hai_threshold", Integer, 5, "5", 1, 1000, "increases in a row before hyperactive increase"},
        {"delta", Rate, 0, "0 Mb/s", 0, 1000 * kGbps, "additive step; 0: delta_of_line_rate"},
        {"hai_delta", Rate, 0, "0 Mb/s", 0, 1000 * kGbps, "hyperactive step; 0: hai_of_line_rate"},
        {"delta_of_line_rate", Fraction, 1e-3, "0.001", 0, 1, "additive step, if delta is 0"},
        {"hai_of_line_rate", Fraction, 5e-3, "0.005", 0, 1, "hyperactive step, if hai_delta is 0"},
        {"min_rate", Rate, 100 * kMbps, "100 Mb/s", kMbps, 1000 * kGbps, "no rate below this"},
        flag("window", window, "bound the bytes in flight by line rate x base RTT"),
        flag("variable_window", false, "the window shrinks with the rate"),
    });
};
inline constexpr auto kSchema = schema_of(false);
inline constexpr auto kSchemaWithWindow = schema_of(true);

// simulation/run.py of HPCC's simulator: steps 10 and 50 Mb/s per 10 Gb/s (the defaults), MIN_RATE; the
// window of timely_vwin follows the rate.
inline constexpr auto kHpccNs3 = std::to_array<PresetValue>({{"min_rate", 1000 * kMbps}, {"variable_window", 1}});
inline constexpr auto kPresets = std::to_array<Preset>({{"hpcc-ns3", "HPCC's simulator", kHpccNs3, {}}});

[[nodiscard]] std::unique_ptr<CongestionControl> make_timely(std::string_view name, const Values& values);

}  // namespace simverbs::cc::timely
