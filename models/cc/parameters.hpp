// The schema of an algorithm: its parameters with units and ranges, its named sets, how it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/cc/arithmetic.hpp"
#include "models/cc/congestion_control.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::cc {

/// What a number counts; it is kept in the base unit named here.
enum class ParameterKind : uint8_t {
    Rate,      ///< bit/s
    Time,      ///< ps
    Size,      ///< bytes
    Fraction,  ///< 1 is the whole
    Integer,
    Flag,  ///< 0 or 1
};

struct ParameterInfo {
    std::string_view name;  ///< the vendor's, where there is one
    ParameterKind kind = ParameterKind::Integer;
    double default_value = 0;       ///< in base units
    std::string_view default_text;  ///< the same as a user writes it
    double least = 0;
    double most = 0;
    std::string_view help;
};

/// Base units of the literals in schemas.
inline constexpr double kMbps = 1e6;
inline constexpr double kGbps = 1e9;
inline constexpr double kUs = 1e6;
inline constexpr double kMs = 1e9;
inline constexpr double kKb = 1e3;

[[nodiscard]] constexpr ParameterInfo flag(std::string_view name, bool on, std::string_view help) noexcept {
    return {name, ParameterKind::Flag, on ? 1.0 : 0.0, on ? "1" : "0", 0, 1, help};
}

/// RED marking that a parameter set was published with. It belongs to the switches; scenarios may take it from here.
/// The probability grows from 0 at kmin to pmax at kmax, above kmax it is 1.
struct EcnMarking {
    sim::ByteCount kmin = 0;
    sim::ByteCount kmax = 0;
    double pmax = 0;
    sim::BitRate at_rate;  ///< thresholds are for this port rate and grow with it; zero: the same for every port

    [[nodiscard]] constexpr bool given() const noexcept { return kmax > 0; }
    [[nodiscard]] constexpr EcnMarking scaled_to(sim::BitRate port) const noexcept {
        if (at_rate.in_bps() == 0) return *this;
        const auto scaled = [&](sim::ByteCount bytes) {
            return static_cast<sim::ByteCount>(static_cast<sim::Int128>(bytes) * port.in_bps() / at_rate.in_bps());
        };
        return {scaled(kmin), scaled(kmax), pmax, port};
    }
};

struct PresetValue {
    std::string_view name;
    double value = 0;
};

/// A named set: values that differ from the defaults.
struct Preset {
    std::string_view name;
    std::string_view help;
    std::span<const PresetValue> values;
    EcnMarking ecn;
};

/// What a user gave: name → value in base units.
using Parameters = std::map<std::string, double, std::less<>>;

struct AlgorithmInfo;

/// Every parameter of an algorithm with its value: what was given, else the default.
class Values {
  public:
    Values(const AlgorithmInfo& info, const Parameters& given);

    [[nodiscard]] double number(std::string_view name) const;
    [[nodiscard]] int64_t integer(std::string_view name) const { return static_cast<int64_t>(number(name)); }
    [[nodiscard]] bool is_set(std::string_view name) const { return number(name) != 0; }
    [[nodiscard]] sim::BitRate rate(std::string_view name) const { return sim::BitRate::bps(integer(name)); }
    [[nodiscard]] sim::SimTime time(std::string_view name) const { return sim::SimTime::ps(integer(name)); }
    /// From the flags "window" and "variable_window".
    [[nodiscard]] WindowRule window_rule() const;

  private:
    const AlgorithmInfo& info_;
    const Parameters& given_;
};

/// What is wrong with one given parameter, for a diagnostic.
struct ParameterProblem {
    std::string parameter;
    std::string problem;
    std::string expected;
    std::string hint;  ///< what to do
};

/// One algorithm as users know it.
struct AlgorithmInfo {
    std::string_view name;
    std::string_view summary;
    std::span<const ParameterInfo> parameters;
    std::span<const Preset> presets;
    std::unique_ptr<CongestionControl> (*factory)(const Values&) = nullptr;
    /// What two parameters must be to each other, beyond the range of each; may be left out.
    std::vector<ParameterProblem> (*check)(const Values&) = nullptr;
};

/// All that is wrong with `given`: unknown names, values out of range, fractions where whole numbers belong; if nothing
/// is, what AlgorithmInfo::check finds.
[[nodiscard]] std::vector<ParameterProblem> check_parameters(const AlgorithmInfo& info, const Parameters& given);

/// The problem, if `low` is above `high` (or, if `strictly`, equal to it).
[[nodiscard]] std::vector<ParameterProblem> check_order(const Values& values, std::string_view low,
                                                        std::string_view high, bool strictly = false);

[[nodiscard]] const ParameterInfo* find_parameter(const AlgorithmInfo& info, std::string_view name) noexcept;
[[nodiscard]] const Preset* find_preset(const AlgorithmInfo& info, std::string_view name) noexcept;

/// The preset's values; what was `given` beside the preset's name goes before them.
[[nodiscard]] Parameters with_preset(const Preset& preset, const Parameters& given = {});

}  // namespace simverbs::cc
