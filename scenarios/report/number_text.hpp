// Numbers as a reader wants them: three or four digits and a unit.
#pragma once

#include <cstdint>
#include <string>

#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::report {

/// What stands where there is no number.
inline constexpr const char* kNoNumber = "\xE2\x80\x93";  // an en dash

/// "12.3", "0.00123", "1.23e+12"; kNoNumber for what is not finite.
[[nodiscard]] std::string number_text(double value);
/// "12,345,678".
[[nodiscard]] std::string count_text(uint64_t count);
/// "1.50 KB"; powers of 1000, as links count.
[[nodiscard]] std::string bytes_text(double bytes);
/// "39.4 Gb/s".
[[nodiscard]] std::string rate_text(double bits_a_second);
/// "12.3 us"; kNoNumber for SimTime::max().
[[nodiscard]] std::string time_text(sim::SimTime time);
/// "12.3%".
[[nodiscard]] std::string share_text(double share);

}  // namespace simverbs::scenarios::report
