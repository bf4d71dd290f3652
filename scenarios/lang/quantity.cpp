#include "scenarios/lang/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::array<Unit, 5> kRateUnits{{
    {"b/s", 1},
    {"kb/s", 1'000},
    {"Mb/s", 1'000'000},
    {"Gb/s", 1'000'000'000},
    {"Tb/s", 1'000'000'000'000},
}};
constexpr std::array<Unit, 8> kSizeUnits{{
    {"B", 1},
    {"KB", 1'000},
    {"KiB", 1'024},
    {"MB", 1'000'000},
    {"MiB", 1'048'576},
    {"GB", 1'000'000'000},
    {"GiB", 1'073'741'824},
    {"TB", 1'000'000'000'000},
}};
constexpr std::array<Unit, 5> kTimeUnits{{
    {"ps", 1},
    {"ns", 1'000},
    {"us", 1'000'000},
    {"ms", 1'000'000'000},
    {"s", 1'000'000'000'000},
}};
constexpr std::array<Unit, 4> kLengthUnits{{
    {"mm", 1},
    {"cm", 10},
    {"m", 1'000},
    {"km", 1'000'000},
}};

constexpr std::array<QuantityInfo, 4> kQuantities{{
    {"a rate", "100 Gb/s", "b/s", kRateUnits},
    {"a size", "64 KiB", "bytes", kSizeUnits},
    {"a time", "2 us", "ps", kTimeUnits},
    {"a length", "2 m", "mm", kLengthUnits},
}};

/// Spellings that people write elsewhere, and ours.
struct ForeignUnit {
    std::string_view theirs;
    std::string_view ours;
};
constexpr std::array<ForeignUnit, 22> kForeignUnits{{
    {"bps", "b/s"},     {"kbps", "kb/s"},   {"mbps", "Mb/s"},   {"gbps", "Gb/s"},   {"tbps", "Tb/s"}, {"bit/s", "b/s"},
    {"kbit/s", "kb/s"}, {"mbit/s", "Mb/s"}, {"gbit/s", "Gb/s"}, {"tbit/s", "Tb/s"}, {"mbit", "Mb/s"}, {"gbit", "Gb/s"},
    {"µs", "us"},       {"μs", "us"},       {"usec", "us"},     {"nsec", "ns"},     {"msec", "ms"},   {"sec", "s"},
    {"byte", "B"},      {"bytes", "B"},     {"k", "KB"},        {"meter", "m"},
}};

__extension__ using Uint128 = unsigned __int128;

/// An unsigned decimal number: digits × 10^exponent.
struct Decimal {
    Uint128 digits = 0;
    int exponent = 0;
};

constexpr int kMaxDigits = 30;
constexpr int kMaxExponent = 40;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Takes "e-5" off the front of `text`; false if the exponent is out of bounds.
bool take_exponent(std::string_view& text, int& exponent) {
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return true;
    const bool has_sign = text[1] == '-' || text[1] == '+';
    const std::size_t first = has_sign ? 2 : 1;
    if (first >= text.size() || !is_digit(text[first])) return true;
    int value = 0;
    std::size_t at = first;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        if (value <= kMaxExponent) value = value * 10 + (text[at] - '0');
    }
    if (value > kMaxExponent) return false;
    exponent += text[1] == '-' ? -value : value;
    text.remove_prefix(at);
    return true;
}

enum class TakeVerdict { Taken, NoNumber, TooLong };

/// Takes a decimal number off the front of `text`.
TakeVerdict take_decimal(std::string_view& text, Decimal& out) {
    std::size_t at = 0;
    int significant = 0;
    bool any = false;
    bool after_point = false;
    for (; at < text.size(); ++at) {
        if (text[at] == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!is_digit(text[at])) break;
        any = true;
        if (significant > 0 || text[at] != '0') ++significant;
        if (significant > kMaxDigits) return TakeVerdict::TooLong;
        out.digits = out.digits * 10 + static_cast<unsigned>(text[at] - '0');
        if (after_point) --out.exponent;
    }
    if (!any) return TakeVerdict::NoNumber;
    text.remove_prefix(at);
    return take_exponent(text, out.exponent) ? TakeVerdict::Taken : TakeVerdict::TooLong;
}

enum class ScaleVerdict { Exact, TooFine, TooLarge };

/// digits × 10^exponent × base_units as an int64, exactly.
ScaleVerdict scale(Decimal number, int64_t base_units, int64_t& out) {
    constexpr auto kMost = static_cast<Uint128>(std::numeric_limits<int64_t>::max());
    if (number.digits == 0) return out = 0, ScaleVerdict::Exact;
    while (number.exponent < 0 && number.digits % 10 == 0) {
        number.digits /= 10;
        ++number.exponent;
    }
    // 10 = 2 × 5: what is left of the negative exponent must divide the unit.
    auto unit = static_cast<Uint128>(base_units);
    for (; number.exponent < 0; ++number.exponent) {
        for (const unsigned factor : {2U, 5U}) {
            if (unit % factor == 0) {
                unit /= factor;
            } else if (number.digits % factor == 0) {
                number.digits /= factor;
            } else {
                return ScaleVerdict::TooFine;
            }
        }
    }
    for (; number.exponent > 0; --number.exponent) {
        if (number.digits > kMost) return ScaleVerdict::TooLarge;
        number.digits *= 10;
    }
    if (number.digits > kMost / unit) return ScaleVerdict::TooLarge;
    out = static_cast<int64_t>(number.digits * unit);
    return ScaleVerdict::Exact;
}

std::string unit_names(const QuantityInfo& info) {
    std::string out;
    for (const Unit& unit : info.units) out += (out.empty() ? "" : ", ") + std::string(unit.name);
    return out;
}

const Unit* find_unit(const QuantityInfo& info, std::string_view name) noexcept {
    for (const Unit& unit : info.units) {
        if (unit.name == name) return &unit;
    }
    return nullptr;
}

std::string unit_hint(const QuantityInfo& info, std::string_view wrong) {
    std::string lower;
    for (const char c : wrong) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const ForeignUnit& row : kForeignUnits) {
        if (row.theirs == lower && find_unit(info, row.ours) != nullptr) {
            return "did you mean '" + std::string(row.ours) + "'?";
        }
    }
    std::vector<std::string_view> names;
    for (const Unit& unit : info.units) names.push_back(unit.name);
    return did_you_mean(wrong, names);
}

std::optional<QuantityError> number_error(std::string_view whole, TakeVerdict verdict) {
    switch (verdict) {
        case TakeVerdict::Taken:
            return std::nullopt;
        case TakeVerdict::NoNumber:
            if (whole.size() > 1 && whole[0] == '-' && (is_digit(whole[1]) || whole[1] == '.')) {
                return QuantityError{in_quotes(whole) + " is negative", {}};
            }
            return QuantityError{in_quotes(whole) + " does not begin with a number", {}};
        case TakeVerdict::TooLong:
            return QuantityError{in_quotes(whole) + " has too many digits", {}};
    }
    return std::nullopt;
}

}  // namespace

const QuantityInfo& quantity_info(QuantityKind kind) noexcept {
    return kQuantities[static_cast<std::size_t>(kind)];
}

std::string expected_quantity(QuantityKind kind) {
    const QuantityInfo& info = quantity_info(kind);
    return fmt::format("{} such as '{}' (units: {})", info.noun, info.example, unit_names(info));
}

std::variant<int64_t, QuantityError> parse_quantity(QuantityKind kind, std::string_view text) {
    const QuantityInfo& info = quantity_info(kind);
    const std::string_view whole = trimmed(text);
    std::string_view rest = whole;
    Decimal number;
    if (auto error = number_error(whole, take_decimal(rest, number))) return *error;
    const std::string_view unit_name = trimmed(rest);
    if (unit_name.empty()) return QuantityError{in_quotes(whole) + " has no unit", {}};
    const Unit* unit = find_unit(info, unit_name);
    if (unit == nullptr) return QuantityError{in_quotes(unit_name) + " is not a unit here", unit_hint(info, unit_name)};
    int64_t value = 0;
    switch (scale(number, unit->base_units, value)) {
        case ScaleVerdict::Exact:
            return value;
        case ScaleVerdict::TooFine:
            return QuantityError{fmt::format("{} is not a whole number of {}", in_quotes(whole), info.base_name), {}};
        case ScaleVerdict::TooLarge:
            return QuantityError{in_quotes(whole) + " is too large to be counted", {}};
    }
    return value;
}

std::variant<double, QuantityError> parse_probability(std::string_view text) {
    const std::string_view whole = trimmed(text);
    std::string_view rest = whole;
    Decimal number;
    if (auto error = number_error(whole, take_decimal(rest, number))) return *error;
    const std::string digits(whole.substr(0, whole.size() - rest.size()));
    const std::string_view unit_name = trimmed(rest);
    if (!unit_name.empty() && unit_name != "%") {
        return QuantityError{in_quotes(unit_name) + " is not a unit here", {}};
    }
    double value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (unit_name == "%") value /= 100;
    if (value > 1) return QuantityError{in_quotes(whole) + " is more than 1 (100 %)", {}};
    return value;
}

std::variant<double, QuantityError> parse_number(std::string_view text) {
    const std::string_view whole = trimmed(text);
    std::array<double, 2> parts{0, 1};
    std::string_view rest = whole;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string_view part = rest;
        Decimal number;
        if (auto error = number_error(whole, take_decimal(rest, number))) return *error;
        std::from_chars(part.data(), rest.data(), parts.at(i));
        if (rest.empty()) break;
        if (i == 1 || rest.front() != '/') {
            return QuantityError{in_quotes(whole) + " is not a number", "a number that measures nothing has no unit"};
        }
        rest.remove_prefix(1);
    }
    if (parts[1] == 0) return QuantityError{in_quotes(whole) + " divides by zero", {}};
    return parts[0] / parts[1];
}

std::variant<int64_t, QuantityError> parse_integer(std::string_view text) {
    const std::string_view whole = trimmed(text);
    const bool negative = !whole.empty() && whole[0] == '-';
    std::string_view digits = negative ? whole.substr(1) : whole;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        base = 16;
        digits.remove_prefix(2);
    }
    int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const bool signed_twice = !digits.empty() && digits[0] == '-';
    const auto result = std::from_chars(digits.data(), end, value, base);
    if (signed_twice || result.ptr != end || result.ec == std::errc::invalid_argument) {
        return QuantityError{in_quotes(whole) + " is not a whole number", {}};
    }
    if (result.ec == std::errc::result_out_of_range) {
        return QuantityError{in_quotes(whole) + " is too large to be counted", {}};
    }
    return negative ? -value : value;
}

std::string format_quantity(QuantityKind kind, int64_t base_units) {
    const QuantityInfo& info = quantity_info(kind);
    const Unit* best = info.units.data();
    for (const Unit& unit : info.units) {
        if (base_units != 0 && base_units % unit.base_units == 0 && unit.base_units > best->base_units) best = &unit;
    }
    return fmt::format("{} {}", base_units / best->base_units, best->name);
}

}  // namespace simverbs::scenarios
