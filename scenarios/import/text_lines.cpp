#include "scenarios/import/text_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/utf8_check.hpp"

namespace simverbs::scenarios::imports {

namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

struct Ns3Unit {
    std::string_view name;
    std::string_view ours;
    int factor = 1;
};
constexpr std::array<Ns3Unit, 18> kRateUnits{{
    {"bps", "b/s"},
    {"b/s", "b/s"},
    {"kbps", "kb/s"},
    {"Kbps", "kb/s"},
    {"kb/s", "kb/s"},
    {"Kb/s", "kb/s"},
    {"Mbps", "Mb/s"},
    {"Mb/s", "Mb/s"},
    {"Gbps", "Gb/s"},
    {"Gb/s", "Gb/s"},
    {"Tbps", "Tb/s"},
    {"Tb/s", "Tb/s"},
    {"B/s", "b/s", 8},
    {"KB/s", "kb/s", 8},
    {"kB/s", "kb/s", 8},
    {"MB/s", "Mb/s", 8},
    {"GB/s", "Gb/s", 8},
    {"TB/s", "Tb/s", 8},
}};

/// "12.5MB/s" → "12.5", "MB/s".
std::pair<std::string_view, std::string_view> split_unit(std::string_view word) {
    const auto end = std::min(word.find_first_not_of("0123456789."), word.size());
    return {word.substr(0, end), word.substr(end)};
}

std::optional<int64_t> quantity_of(QuantityKind kind, std::string_view number, std::string_view unit) {
    if (number.empty()) return std::nullopt;
    const auto value = parse_quantity(kind, fmt::format("{} {}", number, unit));
    const auto* base_units = std::get_if<int64_t>(&value);
    return base_units == nullptr ? std::nullopt : std::optional(*base_units);
}

}  // namespace

TextLines::TextLines(std::string_view text, std::string_view file)
    : rest_(text), position_{std::make_shared<const std::string>(file), 0, 0} {}

bool TextLines::next() {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++position_.line;
    words_.clear();
    for (std::size_t at = line_.find_first_not_of(kBlank); at != std::string_view::npos;) {
        const std::size_t stop = std::min(line_.find_first_of(kBlank, at), line_.size());
        words_.push_back({line_.substr(at, stop - at), static_cast<int>(at) + 1});
        at = line_.find_first_not_of(kBlank, stop);
    }
    return true;
}

bool TextLines::next_with_words() {
    while (next()) {
        if (!words_.empty()) return true;
    }
    return false;
}

SourcePosition TextLines::place(int column) const {
    SourcePosition place = position_;
    place.column = column;
    return place;
}

uint32_t count_unread_lines(TextLines& lines) {
    uint32_t count = 0;
    while (lines.next_with_words()) count += parse_real(lines.words()[0].text) ? 1 : 0;
    return count;
}

bool check_is_text(std::string_view text, std::string_view file, DiagnosticSink& sink) {
    const auto bad = find_bad_text(text);
    if (!bad) return true;
    sink.add(SourcePosition{std::make_shared<const std::string>(file), bad->line, bad->column}, {},
             fmt::format("byte 0x{:02x} is not text", bad->byte), "a text file");
    return false;
}

std::optional<double> parse_real(std::string_view word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<sim::BitRate> parse_ns3_rate(std::string_view word) {
    const auto [number, unit] = split_unit(word);
    for (const Ns3Unit& known : kRateUnits) {
        if (known.name != unit) continue;
        const auto value = quantity_of(QuantityKind::Rate, number, known.ours);
        if (!value || *value > INT64_MAX / known.factor) return std::nullopt;
        return sim::BitRate::bps(*value * known.factor);
    }
    return std::nullopt;
}

std::optional<sim::SimTime> parse_ns3_time(std::string_view word) {
    const auto [number, unit] = split_unit(word);
    // Without a unit ns-3 means seconds.
    const auto value = quantity_of(QuantityKind::Time, number, unit.empty() ? "s" : unit);
    return value ? std::optional(sim::SimTime::ps(*value)) : std::nullopt;
}

std::optional<sim::SimTime> parse_seconds(std::string_view word) {
    const auto [number, unit] = split_unit(word);
    if (!unit.empty()) return std::nullopt;
    return parse_ns3_time(word);
}

void LineProblems::add(const Word& word, std::string problem, std::string expected, std::string hint) {
    sink_.add(lines_.place(word.column), {}, std::move(problem), std::move(expected), std::move(hint));
}

void LineProblems::add_line(std::string problem, std::string expected, std::string hint) {
    sink_.add(lines_.place(), {}, std::move(problem), std::move(expected), std::move(hint));
}

}  // namespace simverbs::scenarios::imports
