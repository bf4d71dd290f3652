// Numbers with units, as users write them: "400 Gb/s", "150 KB", "2 us", "2 m", "0.1 %".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace simverbs::scenarios {

enum class QuantityKind { Rate, Size, Time, Length };

/// One unit and how many base units it is (base: bit/s, byte, picosecond, millimetre).
struct Unit {
    std::string_view name;
    int64_t base_units = 1;
};

/// Everything that messages and the manual say about one kind.
struct QuantityInfo {
    std::string_view noun;       ///< "a rate"
    std::string_view example;    ///< "100 Gb/s"
    std::string_view base_name;  ///< "bit/s": what the value must be a whole number of
    std::span<const Unit> units;
};

[[nodiscard]] const QuantityInfo& quantity_info(QuantityKind kind) noexcept;

/// "a rate such as '100 Gb/s' (units: b/s, kb/s, Mb/s, Gb/s, Tb/s)".
[[nodiscard]] std::string expected_quantity(QuantityKind kind);

/// Why a text is not a quantity or a number; `hint` may be empty.
struct QuantityError {
    std::string problem;
    std::string hint;
};

/// The value in base units, computed exactly (no rounding: "0.3 ps" is an error). Never negative.
[[nodiscard]] std::variant<int64_t, QuantityError> parse_quantity(QuantityKind kind, std::string_view text);

/// A probability from 0 to 1: "0.1 %", "1e-5", "0.001".
[[nodiscard]] std::variant<double, QuantityError> parse_probability(std::string_view text);

/// A number that measures nothing: "0.8", "1e-3", "1/256".
[[nodiscard]] std::variant<double, QuantityError> parse_number(std::string_view text);

/// A whole number, decimal or 0x hexadecimal, within int64.
[[nodiscard]] std::variant<int64_t, QuantityError> parse_integer(std::string_view text);

/// The value in the largest unit that divides it: 2000000 ps is "2 us".
[[nodiscard]] std::string format_quantity(QuantityKind kind, int64_t base_units);

}  // namespace simverbs::scenarios
