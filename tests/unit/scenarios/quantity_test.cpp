#include "scenarios/lang/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace simverbs::scenarios {
namespace {

int64_t value_of(QuantityKind kind, std::string_view text) {
    const auto parsed = parse_quantity(kind, text);
    if (const auto* error = std::get_if<QuantityError>(&parsed)) {
        ADD_FAILURE() << text << ": " << error->problem;
        return -1;
    }
    return std::get<int64_t>(parsed);
}

std::string error_of(QuantityKind kind, std::string_view text) {
    const auto parsed = parse_quantity(kind, text);
    const auto* error = std::get_if<QuantityError>(&parsed);
    return error == nullptr ? "no error" : error->problem + "|" + error->hint;
}

TEST(Quantity, RatesAreBitsASecond) {
    EXPECT_EQ(value_of(QuantityKind::Rate, "400 Gb/s"), 400'000'000'000);
    EXPECT_EQ(value_of(QuantityKind::Rate, "100 Mb/s"), 100'000'000);
    EXPECT_EQ(value_of(QuantityKind::Rate, "54.54 Gb/s"), 54'540'000'000);
    EXPECT_EQ(value_of(QuantityKind::Rate, "1.6 Tb/s"), 1'600'000'000'000);
    EXPECT_EQ(value_of(QuantityKind::Rate, "7 b/s"), 7);
    EXPECT_EQ(value_of(QuantityKind::Rate, "9.6 kb/s"), 9'600);
}

TEST(Quantity, SizesAreBytesDecimalAndBinary) {
    EXPECT_EQ(value_of(QuantityKind::Size, "64 B"), 64);
    EXPECT_EQ(value_of(QuantityKind::Size, "150 KB"), 150'000);
    EXPECT_EQ(value_of(QuantityKind::Size, "2 MiB"), 2'097'152);
    EXPECT_EQ(value_of(QuantityKind::Size, "1.5 KiB"), 1'536);
    EXPECT_EQ(value_of(QuantityKind::Size, "0.25 GiB"), 268'435'456);
}

TEST(Quantity, TimesArePicosecondsAndExact) {
    EXPECT_EQ(value_of(QuantityKind::Time, "1 ps"), 1);
    EXPECT_EQ(value_of(QuantityKind::Time, "500 ns"), 500'000);
    EXPECT_EQ(value_of(QuantityKind::Time, "2 us"), 2'000'000);
    EXPECT_EQ(value_of(QuantityKind::Time, "0.001 ns"), 1);
    EXPECT_EQ(value_of(QuantityKind::Time, "4.096 us"), 4'096'000);
    EXPECT_EQ(value_of(QuantityKind::Time, "1e3 s"), 1'000'000'000'000'000);
    EXPECT_EQ(value_of(QuantityKind::Time, "1.5e-3ms"), 1'500'000);
}

TEST(Quantity, LengthsAreMillimetres) {
    EXPECT_EQ(value_of(QuantityKind::Length, "2 m"), 2'000);
    EXPECT_EQ(value_of(QuantityKind::Length, "0.5 cm"), 5);
    EXPECT_EQ(value_of(QuantityKind::Length, "300 m"), 300'000);
}

TEST(Quantity, TheSpaceBeforeTheUnitIsOptional) {
    EXPECT_EQ(value_of(QuantityKind::Rate, "400Gb/s"), 400'000'000'000);
    EXPECT_EQ(value_of(QuantityKind::Size, "  64   B "), 64);
}

TEST(Quantity, ANumberWithoutItsUnitIsAnError) {
    EXPECT_EQ(error_of(QuantityKind::Rate, "400"), "'400' has no unit|");
    EXPECT_EQ(error_of(QuantityKind::Time, "0"), "'0' has no unit|");
}

TEST(Quantity, AWrongUnitIsAnErrorWithTheNearestRightOne) {
    EXPECT_EQ(error_of(QuantityKind::Rate, "400 Gbps"), "'Gbps' is not a unit here|did you mean 'Gb/s'?");
    EXPECT_EQ(error_of(QuantityKind::Rate, "400 gbit/s"), "'gbit/s' is not a unit here|did you mean 'Gb/s'?");
    EXPECT_EQ(error_of(QuantityKind::Rate, "50 GB/s"), "'GB/s' is not a unit here|did you mean 'Gb/s'?");
    EXPECT_EQ(error_of(QuantityKind::Time, "2 µs"), "'µs' is not a unit here|did you mean 'us'?");
    EXPECT_EQ(error_of(QuantityKind::Time, "2 furlongs"), "'furlongs' is not a unit here|");
}

TEST(Quantity, WhatIsNotAWholeNumberOfBaseUnitsIsAnError) {
    EXPECT_EQ(error_of(QuantityKind::Time, "0.3 ps"), "'0.3 ps' is not a whole number of ps|");
    EXPECT_EQ(error_of(QuantityKind::Size, "0.1 KiB"), "'0.1 KiB' is not a whole number of bytes|");
    EXPECT_EQ(error_of(QuantityKind::Rate, "1e-3 b/s"), "'1e-3 b/s' is not a whole number of b/s|");
}

TEST(Quantity, TheLargestInt64IsAcceptedAndOneMoreIsNot) {
    EXPECT_EQ(value_of(QuantityKind::Time, "9223372036854775807 ps"), std::numeric_limits<int64_t>::max());
    EXPECT_EQ(error_of(QuantityKind::Time, "9223372036854775808 ps"),
              "'9223372036854775808 ps' is too large to be counted|");
    EXPECT_EQ(error_of(QuantityKind::Time, "9223372036854775807 s"),
              "'9223372036854775807 s' is too large to be counted|");
    EXPECT_EQ(error_of(QuantityKind::Size, "1e39 TB"), "'1e39 TB' is too large to be counted|");
}

TEST(Quantity, NonsenseIsAnErrorAndNotACrash) {
    EXPECT_EQ(error_of(QuantityKind::Time, ""), "'' does not begin with a number|");
    EXPECT_EQ(error_of(QuantityKind::Time, "."), "'.' does not begin with a number|");
    EXPECT_EQ(error_of(QuantityKind::Time, "-2 us"), "'-2 us' is negative|");
    EXPECT_EQ(error_of(QuantityKind::Time, "fast"), "'fast' does not begin with a number|");
    EXPECT_EQ(error_of(QuantityKind::Time, std::string(50, '9') + " ps").substr(0, 5), "'9999");
    EXPECT_EQ(error_of(QuantityKind::Time, "1e99999999999999999999 ps"),
              "'1e99999999999999999999 ps' has too many digits|");
    EXPECT_EQ(error_of(QuantityKind::Time, "0." + std::string(100000, '0') + "1 s").find("not a whole number") !=
                  std::string::npos,
              true);
    EXPECT_EQ(error_of(QuantityKind::Time, "1.2.3 us"), "'.3 us' is not a unit here|");
    EXPECT_EQ(error_of(QuantityKind::Time, "1e us"), "'e us' is not a unit here|");
}

TEST(Quantity, ProbabilitiesAreFractionsOrPercentages) {
    EXPECT_DOUBLE_EQ(std::get<double>(parse_probability("0.1 %")), 0.001);
    EXPECT_DOUBLE_EQ(std::get<double>(parse_probability("1e-5")), 1e-5);
    EXPECT_DOUBLE_EQ(std::get<double>(parse_probability("100%")), 1.0);
    EXPECT_DOUBLE_EQ(std::get<double>(parse_probability("0")), 0.0);
    EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_probability("1.1")));
    EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_probability("101 %")));
    EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_probability("5 percent")));
    EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_probability("-0.1")));
    EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_probability("nan")));
}

TEST(Quantity, IntegersAreDecimalOrHexadecimal) {
    EXPECT_EQ(std::get<int64_t>(parse_integer("42")), 42);
    EXPECT_EQ(std::get<int64_t>(parse_integer("-3")), -3);
    EXPECT_EQ(std::get<int64_t>(parse_integer("0xff")), 255);
    for (const char* wrong : {"", "-", "--1", "1.5", "1 000", "0x", "four", "9223372036854775808"}) {
        EXPECT_TRUE(std::holds_alternative<QuantityError>(parse_integer(wrong))) << wrong;
    }
}

TEST(Quantity, FormattingChoosesTheLargestUnitThatDividesTheValue) {
    EXPECT_EQ(format_quantity(QuantityKind::Time, 2'000'000), "2 us");
    EXPECT_EQ(format_quantity(QuantityKind::Time, 1'500), "1500 ps");
    EXPECT_EQ(format_quantity(QuantityKind::Rate, 400'000'000'000), "400 Gb/s");
    EXPECT_EQ(format_quantity(QuantityKind::Size, 2'097'152), "2 MiB");
    EXPECT_EQ(format_quantity(QuantityKind::Size, 0), "0 B");
}

}  // namespace
}  // namespace simverbs::scenarios
