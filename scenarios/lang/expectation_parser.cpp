#include "scenarios/lang/expectation_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons{{{"<", Comparison::Less},
                                                                               {"<=", Comparison::LessOrEqual},
                                                                               {">", Comparison::Greater},
                                                                               {">=", Comparison::GreaterOrEqual},
                                                                               {"==", Comparison::Equal},
                                                                               {"!=", Comparison::NotEqual}}};
constexpr std::string_view kExpectedComparison = "a comparison: <, <=, >, >=, == or !=";

constexpr std::array<std::string_view, 9> kKeywords{"of",       "within", "from",  "until", "fired",
                                                    "complete", "times",  "never", "-"};

std::string expected_of(MetricUnit unit) {
    switch (unit) {
        case MetricUnit::Count:
            return "a whole number";
        case MetricUnit::Number:
            return "a number such as '9.5', without a unit";
        case MetricUnit::Ratio:
            return "a share such as '97 %' or '0.97'";
        case MetricUnit::Time:
            return expected_quantity(QuantityKind::Time);
        case MetricUnit::Size:
            return expected_quantity(QuantityKind::Size);
        case MetricUnit::Rate:
            return expected_quantity(QuantityKind::Rate);
    }
    return "";
}

template <typename T>
std::variant<double, QuantityError> as_double(std::variant<T, QuantityError> parsed) {
    if (auto* error = std::get_if<QuantityError>(&parsed)) return std::move(*error);
    return static_cast<double>(std::get<T>(parsed));
}

/// "fct.count" is a number, whatever the unit of FCTs.
std::optional<MetricUnit> unit_of(const MetricExpression& expression) {
    if (expression.metric == nullptr) return std::nullopt;
    return expression.statistic.kind == StatisticKind::Count ? MetricUnit::Count : expression.metric->unit;
}

std::variant<double, QuantityError> parse_unit(MetricUnit unit, std::string_view text) {
    switch (unit) {
        case MetricUnit::Count:
            return as_double(parse_integer(text));
        case MetricUnit::Number:
            return parse_number(text);
        case MetricUnit::Ratio:
            return parse_probability(text);
        case MetricUnit::Time:
            return as_double(parse_quantity(QuantityKind::Time, text));
        case MetricUnit::Size:
            return as_double(parse_quantity(QuantityKind::Size, text));
        case MetricUnit::Rate:
            return as_double(parse_quantity(QuantityKind::Rate, text));
    }
    return QuantityError{};
}

bool is_value_of_any_unit(std::string_view text) {
    constexpr std::array kUnits{MetricUnit::Number, MetricUnit::Ratio, MetricUnit::Time, MetricUnit::Size,
                                MetricUnit::Rate};
    return std::any_of(kUnits.begin(), kUnits.end(),
                       [&](MetricUnit unit) { return parse_unit(unit, text).index() == 0; });
}

bool begins_with_digit(std::string_view text) noexcept {
    return !text.empty() &&
           (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.' || text[0] == '-');
}

}  // namespace

ExpectationParser::ExpectationParser(const ScenarioReading& reading, std::string_view text, SourcePosition position,
                                     std::string path)
    : reading_(reading),
      text_(text),
      position_(std::move(position)),
      path_(std::move(path)),
      tokens_(expectation_tokens(text)) {}

const ExpectationToken& ExpectationParser::peek(std::size_t ahead) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
}

const ExpectationToken& ExpectationParser::take() {
    const ExpectationToken& token = peek();
    next_ = std::min(next_ + 1, tokens_.size() - 1);
    return token;
}

bool ExpectationParser::is_word(std::string_view word, std::size_t ahead) const {
    return peek(ahead).kind == TokenKind::Word && peek(ahead).text == word;
}

bool ExpectationParser::take_word(std::string_view word) {
    if (!is_word(word)) return false;
    take();
    return true;
}

SourcePosition ExpectationParser::position_of(const ExpectationToken& token) const {
    SourcePosition position = position_;
    if (position.line > 0) position.column += static_cast<int>(token.offset);
    return position;
}

PlaceRef ExpectationParser::place(const ExpectationToken& token) const {
    return {token.text, path_, position_of(token)};
}

std::nullopt_t ExpectationParser::wrong(const ExpectationToken& token, std::string problem, std::string expected,
                                        std::string hint) {
    has_failed_ = true;
    reading_.sink.add(position_of(token), path_, std::move(problem), std::move(expected), std::move(hint));
    return std::nullopt;
}

bool ExpectationParser::need_word(std::string_view word, std::string expected) {
    if (take_word(word)) return true;
    unexpected(std::move(expected));
    const bool is_keyword = std::find(kKeywords.begin(), kKeywords.end(), peek().text) != kKeywords.end();
    if (peek().kind == TokenKind::Word && !is_keyword) take();
    return peek().kind != TokenKind::End;
}

std::nullopt_t ExpectationParser::unexpected(std::string expected) {
    const ExpectationToken& token = peek();
    return wrong(
        token,
        token.kind == TokenKind::End ? "the statement ends too early" : in_quotes(token.text) + " cannot stand here",
        std::move(expected));
}

std::optional<ExpectationSpec> ExpectationParser::parse() {
    if (peek().kind == TokenKind::End) {
        return wrong(peek(), "is empty", "a statement such as 'fct.slowdown.p99 of websearch < 10'");
    }
    auto parsed = statement();
    if (!parsed) return std::nullopt;
    if (peek().kind != TokenKind::End) unexpected("the end of the statement");
    if (has_failed_) return std::nullopt;
    return ExpectationSpec{text_, text_, std::move(*parsed), path_, position_};
}

std::optional<ExpectationParser::Statement> ExpectationParser::statement() {
    if (take_word("never")) return never_statement();
    if (is_word("fault")) return fault_statement();
    if (is_word("all")) return completion_statement();
    return comparison_statement();
}

std::optional<ExpectationParser::Statement> ExpectationParser::never_statement() {
    const ExpectationToken event = peek();
    auto expression = metric_expression();
    if (!expression) return std::nullopt;
    if (expression->metric != nullptr && expression->metric->unit != MetricUnit::Count) {
        wrong(event, fmt::format("'{}' is not a number of events", expression->metric->name),
              "a count such as 'drops' or 'timeouts' after 'never'");
    }
    return MetricExpectation{std::move(*expression), Comparison::Equal, ExpectedValue{MetricUnit::Count, 0, 0}};
}

std::optional<ExpectationParser::Statement> ExpectationParser::fault_statement() {
    take();
    const ExpectationToken name = peek();
    if (name.kind != TokenKind::Word && name.kind != TokenKind::Quoted) return unexpected("the name of a fault");
    take();
    std::vector<std::string_view> names;
    std::string all;
    for (const AddressedFaultSpec& fault : reading_.spec.faults) {
        names.push_back(fault.name);
        all += (all.empty() ? "one of " : ", ") + fault.name;
    }
    const bool is_known = std::find(names.begin(), names.end(), name.text) != names.end();
    if (!is_known && reading_.fault_names_are_complete) {
        wrong(name, fmt::format("there is no fault {}", in_quotes(name.text)),
              names.empty() ? "the scenario's `faults` to have it" : all, did_you_mean(name.text, names));
    }
    FaultExpectation out{name.text, true, std::nullopt};
    out.has_fired = !take_word("never");
    if (!take_word("fired")) return unexpected(out.has_fired ? "'fired' or 'never fired'" : "'fired'");
    if (!out.has_fired || peek().kind == TokenKind::End) return out;
    const ExpectationToken count = peek();
    const auto times = parse_integer(count.text);
    const auto* number = std::get_if<int64_t>(&times);
    if (number == nullptr || *number < 1) return unexpected("a number of times, or the end of the statement");
    take();
    out.times = *number;
    if (!take_word("times") && !take_word("time")) return unexpected("'times'");
    return out;
}

std::optional<ExpectationParser::Statement> ExpectationParser::completion_statement() {
    take();
    if (!need_word("flows", "'flows' after 'all'")) return std::nullopt;
    CompletionExpectation out;
    if (take_word("of")) {
        static constexpr MetricInfo kCompletion{.name = "all flows",
                                                .selectors = SelectorSet(SelectorKind::Group, SelectorKind::Flow),
                                                .help = "Not a metric: what completion can be asked of."};
        auto selected = selector(&kCompletion);
        if (!selected) return std::nullopt;
        MetricExpression asked;
        asked.metric = &kCompletion;
        asked.selector = *selected;
        check_selector(asked);
        out.selector = std::move(*selected);
    }
    if (!need_word("complete", "'complete'")) return has_failed_ ? std::nullopt : std::optional<Statement>(out);
    if (take_word("within") && !time(out.within)) return std::nullopt;
    return out;
}

std::optional<ExpectationParser::Statement> ExpectationParser::comparison_statement() {
    auto left = metric_expression();
    if (!left) return std::nullopt;
    const ExpectationToken sign = peek();
    const auto found =
        std::find_if(kComparisons.begin(), kComparisons.end(), [&](const auto& row) { return row.first == sign.text; });
    const bool is_comparison = sign.kind == TokenKind::Operator && found != kComparisons.end();
    if (!is_comparison) {
        // A value that follows, or one word later, is still looked at.
        unexpected(std::string(kExpectedComparison));
        const bool is_at_value = sign.kind == TokenKind::Word && begins_with_digit(sign.text);
        if (!is_at_value && !begins_with_digit(peek(1).text)) return std::nullopt;
        if (!is_at_value) take();
    } else {
        take();
    }
    MetricExpectation out{std::move(*left), is_comparison ? found->second : Comparison::Equal, ExpectedValue{}};
    const ExpectationToken first = peek();
    if (first.kind == TokenKind::Word && !begins_with_digit(first.text)) {
        auto right = metric_expression();
        if (!right) return std::nullopt;
        const auto unit = unit_of(*right), wanted = unit_of(out.left);
        if (unit && wanted && *unit != *wanted) {
            wrong(first, fmt::format("'{}' and '{}' cannot be compared", out.left.metric->name, right->metric->name),
                  "metrics of the same unit");
        }
        out.right = std::move(*right);
        return out;
    }
    auto value = value_of(unit_of(out.left), out.left.metric != nullptr ? out.left.metric->name : "");
    if (!value || !tolerance(*value, out.comparison)) return std::nullopt;
    out.right = *value;
    return out;
}

std::string ExpectationParser::quantity_text() {
    std::string text = take().text;
    const ExpectationToken& next = peek();
    const bool is_unit = next.kind == TokenKind::Word && !begins_with_digit(next.text) &&
                         std::find(kKeywords.begin(), kKeywords.end(), next.text) == kKeywords.end();
    if (is_unit) text += " " + take().text;
    return text;
}

std::optional<ExpectedValue> ExpectationParser::value_of(std::optional<MetricUnit> unit, std::string_view metric) {
    const ExpectationToken first = peek();
    if (first.kind != TokenKind::Word) {
        return unexpected(unit ? expected_of(*unit) : "a value such as '10', '97 %' or '2 us'");
    }
    const std::string text = quantity_text();
    if (!unit) {
        if (!is_value_of_any_unit(text)) {
            wrong(first, in_quotes(text) + " is not a value",
                  "one such as '10', '97 %', '2 us', '64 KiB' or '40 Gb/s'");
        }
        return ExpectedValue{};
    }
    auto parsed = parse_unit(*unit, text);
    if (auto* error = std::get_if<QuantityError>(&parsed)) {
        wrong(first, std::move(error->problem), fmt::format("for '{}' {}", metric, expected_of(*unit)),
              std::move(error->hint));
        return ExpectedValue{*unit, 0, 0};
    }
    return ExpectedValue{*unit, std::get<double>(parsed), 0};
}

bool ExpectationParser::tolerance(ExpectedValue& value, Comparison comparison) {
    const ExpectationToken sign = peek();
    if (sign.kind != TokenKind::Operator || sign.text != "±") return true;
    take();
    if (comparison != Comparison::Equal) wrong(sign, "a tolerance belongs to an equality", "'== VALUE ± SHARE'");
    const auto share = value_of(MetricUnit::Ratio, "±");
    if (share) value.tolerance = share->value;
    return share.has_value();
}

bool ExpectationParser::time(std::optional<sim::SimTime>& out) {
    const ExpectationToken first = peek();
    if (first.kind != TokenKind::Word) {
        unexpected(expected_quantity(QuantityKind::Time));
        return false;
    }
    auto parsed = parse_quantity(QuantityKind::Time, quantity_text());
    if (auto* error = std::get_if<QuantityError>(&parsed)) {
        wrong(first, std::move(error->problem), expected_quantity(QuantityKind::Time), std::move(error->hint));
    } else {
        out = sim::SimTime::ps(std::get<int64_t>(parsed));
    }
    return true;
}

std::optional<ExpectationSpec> parse_expectation(ScenarioReading& reading, std::string_view text,
                                                 const SourcePosition& position, const std::string& path) {
    ExpectationParser parser(reading, text, position, path);
    auto spec = parser.parse();
    if (!spec) {
        for (const Selector& name : parser.unknown_names())
            reading.names_of_wrong_expectations.push_back({"", "", CompletionExpectation{name, {}}, path, position});
    }
    return spec;
}

void read_expectations(ScenarioReading& reading, const Section& scenario) {
    const std::vector<YamlPtr> items = read_list(scenario, "expectations", reading.sink);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const YamlValue& item = *items[i];
        const std::string path = item_path(scenario.path("expectations"), i);
        const bool is_map = item.kind == YamlKind::Map;
        if (!is_map && item.kind != YamlKind::Scalar) {
            report_wrong_shape(item, path, "a statement such as 'fct.slowdown.p99 of websearch < 10'", reading.sink);
            continue;
        }
        std::optional<Section> section;
        if (is_map) section.emplace(kExpectationSchema, item, path, reading.sink);
        const YamlValue* written = is_map ? item.find("expect") : &item;
        if (written == nullptr || written->kind != YamlKind::Scalar) continue;
        if (written->text.find("${") != std::string::npos) continue;  // an unknown parameter has been reported
        SourcePosition position = written->position;
        if (written->is_quoted && position.line > 0) ++position.column;
        auto spec = parse_expectation(reading, written->text, position, section ? section->path("expect") : path);
        if (!spec) continue;
        if (section && section->has("name")) spec->name = section->text("name");
        if (const auto* claim = std::get_if<FaultExpectation>(&spec->statement); claim && !claim->has_fired) {
            for (AddressedFaultSpec& fault : reading.spec.faults) {
                if (fault.name == claim->fault) fault.must_fire = false;
            }
        }
        reading.spec.expectations.push_back(std::move(*spec));
    }
}

}  // namespace simverbs::scenarios
