// Reads one statement; see parse_expectation. Internal to scenarios/lang.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/lang/expectation_spec.hpp"
#include "scenarios/lang/expectation_tokens.hpp"
#include "scenarios/lang/scenario_reading.hpp"

namespace simverbs::scenarios {

/// A statement is one of
///     METRIC COMPARISON VALUE [± SHARE]      METRIC COMPARISON METRIC      never EVENT [of …]
///     fault NAME [never] fired [N times]     all flows [of …] complete [within TIME]
/// where METRIC is `NAME[.STATISTIC] [of SELECTOR]` or `SELECTOR NAME [STATISTIC]`, followed by any of `within TIME`,
/// `from TIME`, `until TIME`. Each function reports its own mistakes and goes on after those that leave the rest of the
/// statement readable; after another one it returns nullopt (or false), and nothing more is said of the statement.
class ExpectationParser {
  public:
    ExpectationParser(const ScenarioReading& reading, std::string_view text, SourcePosition position, std::string path);

    /// nullopt after any report.
    [[nodiscard]] std::optional<ExpectationSpec> parse();
    /// What the statement names and only the network that is built from the scenario shows.
    [[nodiscard]] const std::vector<Selector>& unknown_names() const noexcept { return unknown_names_; }

  private:
    using Statement = decltype(ExpectationSpec::statement);

    // expectation_parser.cpp
    std::optional<Statement> statement();
    std::optional<Statement> never_statement();
    std::optional<Statement> fault_statement();
    std::optional<Statement> completion_statement();
    std::optional<Statement> comparison_statement();
    /// Of the unit of `metric`, of any if that is not known.
    std::optional<ExpectedValue> value_of(std::optional<MetricUnit> unit, std::string_view metric);
    bool tolerance(ExpectedValue& value, Comparison comparison);
    /// `out` stays empty after a time that is none.
    bool time(std::optional<sim::SimTime>& out);
    /// A number and, if it follows, its unit: "1 ms", "1ms", "97%".
    std::string quantity_text();

    // expectation_selectors.cpp
    std::optional<MetricExpression> metric_expression();
    std::optional<MetricExpression> selector_first();
    bool modifiers(MetricExpression& expression);
    /// The metric stays nullptr where there is none of that name.
    void metric_and_statistic(const ExpectationToken& token, MetricExpression& expression);
    void statistic(const ExpectationToken& token, std::string_view text, MetricExpression& expression);
    bool rest_of_metric(MetricExpression& expression);
    std::optional<Selector> selector(const MetricInfo* metric);
    std::optional<Selector> selector_of_kind(SelectorKind kind);
    std::optional<Selector> flow_selector();
    std::optional<Selector> named_selector(const MetricInfo* metric);
    void selector_priority(Selector& selector);
    void check_selector(const MetricExpression& expression);

    // Tokens
    [[nodiscard]] const ExpectationToken& peek(std::size_t ahead = 0) const;
    const ExpectationToken& take();
    [[nodiscard]] bool is_word(std::string_view word, std::size_t ahead = 0) const;
    bool take_word(std::string_view word);
    /// Takes `word`, or reports another one and takes that. False at the statement's end.
    bool need_word(std::string_view word, std::string expected);
    /// Reports what stands at `token` as wrong.
    std::nullopt_t wrong(const ExpectationToken& token, std::string problem, std::string expected,
                         std::string hint = {});
    std::nullopt_t unexpected(std::string expected);
    [[nodiscard]] SourcePosition position_of(const ExpectationToken& token) const;
    [[nodiscard]] PlaceRef place(const ExpectationToken& token) const;

    const ScenarioReading& reading_;
    std::string text_;
    SourcePosition position_;
    std::string path_;
    std::vector<ExpectationToken> tokens_;
    std::size_t next_ = 0;
    bool has_failed_ = false;
    std::vector<Selector> unknown_names_;
};

}  // namespace simverbs::scenarios
