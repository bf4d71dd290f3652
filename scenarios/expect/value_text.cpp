#include "scenarios/expect/value_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios::expect {

namespace {

struct DecimalUnit {
    std::string_view name;
    double size;
};
constexpr std::array<DecimalUnit, 5> kTimes{{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};
constexpr std::array<DecimalUnit, 5> kSizes{{{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};
constexpr std::array<DecimalUnit, 5> kRates{{{"b/s", 1}, {"kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}, {"Tb/s", 1e12}}};

std::string number(double value, bool is_exact) {
    // From here on, %g writes an exponent, which nobody wants to read of a count of packets.
    constexpr double kLongest = 9999.5;
    if (is_exact) return fmt::format("{}", value);
    if (std::abs(value) >= kLongest) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

std::string in_units(std::span<const DecimalUnit> units, double value, bool is_exact) {
    const DecimalUnit* best = units.data();
    for (const DecimalUnit& unit : units) {
        if (std::abs(value) >= unit.size) best = &unit;
    }
    return fmt::format("{} {}", number(value / best->size, is_exact), best->name);
}

std::string text_of(MetricUnit unit, double value, bool is_exact) {
    switch (unit) {
        case MetricUnit::Count:
        case MetricUnit::Number:
            return number(value, is_exact);
        case MetricUnit::Ratio:
            return number(value * 100, is_exact) + " %";
        case MetricUnit::Time:
            return in_units(kTimes, value, is_exact);
        case MetricUnit::Size:
            return in_units(kSizes, value, is_exact);
        case MetricUnit::Rate:
            return in_units(kRates, value, is_exact);
    }
    return "";
}

std::string statistic_text(const Statistic& statistic) {
    switch (statistic.kind) {
        case StatisticKind::None:
            return "";
        case StatisticKind::Mean:
            return ".mean";
        case StatisticKind::Min:
            return ".min";
        case StatisticKind::Max:
            return ".max";
        case StatisticKind::Total:
            return ".total";
        case StatisticKind::Count:
            return ".count";
        case StatisticKind::Percentile:
            return fmt::format(".p{}", statistic.percentile);
    }
    return "";
}

std::string time_text(const std::optional<sim::SimTime>& time, std::string_view word) {
    if (!time) return "";
    return fmt::format(" {} {}", word, format_quantity(QuantityKind::Time, time->in_ps()));
}

}  // namespace

std::string value_text(MetricUnit unit, double value) {
    return text_of(unit, value, false);
}

std::string exact_value_text(MetricUnit unit, double value) {
    return text_of(unit, value, true);
}

std::string_view comparison_text(Comparison comparison) noexcept {
    switch (comparison) {
        case Comparison::Less:
            return "<";
        case Comparison::LessOrEqual:
            return "<=";
        case Comparison::Greater:
            return ">";
        case Comparison::GreaterOrEqual:
            return ">=";
        case Comparison::Equal:
            return "==";
        case Comparison::NotEqual:
            return "!=";
    }
    return "";
}

std::string selector_text(const Selector& selector) {
    switch (selector.kind) {
        case SelectorKind::Run:
            return "";
        case SelectorKind::Flow: {
            const std::string number = fmt::format("{}", selector.index.value_or(0));
            return selector.name.empty() ? "flow " + number : fmt::format("flow {}[{}]", selector.name, number);
        }
        case SelectorKind::Group:
        case SelectorKind::Host:
        case SelectorKind::Switch:
        case SelectorKind::Port:
        case SelectorKind::Link:
        case SelectorKind::Queue:
        case SelectorKind::Slot:
            break;
    }
    std::string out = selector.name;
    if (selector.kind == SelectorKind::Link || selector.kind == SelectorKind::Queue ||
        selector.kind == SelectorKind::Slot) {
        out = fmt::format("{} {}", selector_name(selector.kind), selector.name);
    }
    if (selector.priority) out += fmt::format(" priority {}", *selector.priority);
    return out;
}

std::string expression_text(const MetricExpression& expression) {
    std::string out = std::string(expression.metric->name) + statistic_text(expression.statistic);
    const std::string selector = selector_text(expression.selector);
    if (!selector.empty()) out += " of " + selector;
    return out + time_text(expression.within, "within") + time_text(expression.from, "from") +
           time_text(expression.until, "until");
}

}  // namespace simverbs::scenarios::expect
