#include "scenarios/report/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace simverbs::scenarios::report {

namespace {

constexpr std::array<const char*, 6> kByteUnits{"B", "KB", "MB", "GB", "TB", "PB"};
constexpr std::array<const char*, 5> kRateUnits{"b/s", "Kb/s", "Mb/s", "Gb/s", "Tb/s"};
constexpr std::array<const char*, 5> kTimeUnits{"ps", "ns", "us", "ms", "s"};

/// Three significant digits, no exponent; for values below 1000 (and above, where there is no larger unit).
std::string three_digits(double value) {
    const double size = std::fabs(value);
    if (size == std::floor(size) && size < 1000) return fmt::format("{:.0f}", value);
    if (size >= 99.95) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

std::string with_unit(double value, std::span<const char* const> units) {
    if (!std::isfinite(value)) return kNoNumber;
    size_t unit = 0;
    while (unit + 1 < units.size() && std::fabs(value) >= 999.5) {
        value /= 1000;
        ++unit;
    }
    return three_digits(value) + " " + units[unit];
}

}  // namespace

std::string number_text(double value) {
    if (!std::isfinite(value)) return kNoNumber;
    const double size = std::fabs(value);
    if (size >= 0.1 && size < 1e6) return three_digits(value);
    return fmt::format("{:.3g}", value);
}

std::string count_text(uint64_t count) {
    std::string text = std::to_string(count);
    for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

std::string bytes_text(double bytes) {
    return with_unit(bytes, kByteUnits);
}

std::string rate_text(double bits_a_second) {
    return with_unit(bits_a_second, kRateUnits);
}

std::string time_text(sim::SimTime time) {
    if (time == sim::SimTime::max()) return kNoNumber;
    return with_unit(static_cast<double>(time.in_ps()), kTimeUnits);
}

std::string share_text(double share) {
    if (!std::isfinite(share)) return kNoNumber;
    return three_digits(share * 100) + "%";
}

}  // namespace simverbs::scenarios::report
