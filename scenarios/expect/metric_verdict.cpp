#include "scenarios/expect/metric_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/expect/measurement.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// What is compared with: a number of the scenario, or another metric.
struct Wanted {
    double value = 0;
    double tolerance = 0;
    std::string whose;  ///< "fct.p99 of b", "" of a number
};

bool holds(double measured, Comparison comparison, const Wanted& wanted) {
    switch (comparison) {
        case Comparison::Less:
            return measured < wanted.value;
        case Comparison::LessOrEqual:
            return measured <= wanted.value;
        case Comparison::Greater:
            return measured > wanted.value;
        case Comparison::GreaterOrEqual:
            return measured >= wanted.value;
        case Comparison::Equal:
            return std::abs(measured - wanted.value) <= wanted.tolerance * std::abs(wanted.value);
        case Comparison::NotEqual:
            return measured != wanted.value;
    }
    return false;
}

std::string wanted_text(Comparison comparison, const Wanted& wanted, const std::string& value) {
    if (!wanted.whose.empty()) return fmt::format("{} {} ({})", comparison_text(comparison), wanted.whose, value);
    std::string out = fmt::format("{} {}", comparison_text(comparison), value);
    if (wanted.tolerance > 0) out += " ± " + value_text(MetricUnit::Ratio, wanted.tolerance);
    return out;
}

/// How far a value is from what was wanted, the farther the worse.
double badness(double value, Comparison comparison, const Wanted& wanted) {
    switch (comparison) {
        case Comparison::Less:
        case Comparison::LessOrEqual:
            return value;
        case Comparison::Greater:
        case Comparison::GreaterOrEqual:
            return -value;
        case Comparison::Equal:
            return std::abs(value - wanted.value);
        case Comparison::NotEqual:
            return 0;
    }
    return 0;
}

/// "flow websearch[812], h3 → h77, 1.2 MB: slowdown 14.1 is the worst"; "" if there is nobody to name.
std::string culprit_text(const Measurement& measurement, const MetricExpectation& claim, const Wanted& wanted,
                         const ResultIndex& index) {
    if (measurement.owners == OwnerKind::None || measurement.values.empty()) return "";
    const auto worst = std::max_element(
        measurement.values.begin(), measurement.values.end(), [&](const MeasuredValue& a, const MeasuredValue& b) {
            return badness(a.value, claim.comparison, wanted) < badness(b.value, claim.comparison, wanted);
        });
    const std::string owner = owner_text(measurement, worst->owner, index);
    if (measurement.values.size() == 1) return owner;
    const std::string_view name = claim.left.metric->name;
    const std::string_view noun = name.substr(name.rfind('.') + 1);
    return fmt::format("{}, {} {} is the worst", owner, noun, value_text(claim.left.metric->unit, worst->value));
}

void not_evaluable(ExpectationVerdict& verdict, const std::string& what, const std::string& problem) {
    verdict.outcome = Outcome::NotEvaluable;
    verdict.sentence = fmt::format("{} cannot be evaluated: {}", what, problem);
}

/// Texts of both values, with more digits if they would look equal and are not.
std::pair<std::string, std::string> texts_of(MetricUnit measured_unit, double measured, MetricUnit wanted_unit,
                                             double wanted) {
    auto texts = std::pair(value_text(measured_unit, measured), value_text(wanted_unit, wanted));
    if (texts.first != texts.second || measured == wanted) return texts;
    return {exact_value_text(measured_unit, measured), exact_value_text(wanted_unit, wanted)};
}

}  // namespace

void judge(const MetricExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict) {
    const Measurement left = measure(claim.left, index);
    const std::string what = expression_text(claim.left);
    verdict.unit = left.unit;
    verdict.measured = left.value;
    Wanted wanted;
    MetricUnit wanted_unit = left.unit;
    if (const auto* value = std::get_if<ExpectedValue>(&claim.right)) {
        wanted = {value->value, value->tolerance, ""};
    } else {
        const auto& expression = std::get<MetricExpression>(claim.right);
        const Measurement right = measure(expression, index);
        wanted = {right.value.value_or(0), 0, expression_text(expression)};
        wanted_unit = right.unit;
        if (!right.value) not_evaluable(verdict, wanted.whose, right.problem);
        if (!right.value && left.value) return;
    }
    if (!left.value) {
        verdict.wanted = wanted_text(claim.comparison, wanted, value_text(wanted_unit, wanted.value));
        return not_evaluable(verdict, what, left.problem);
    }
    const auto [measured_text, value] = texts_of(left.unit, *left.value, wanted_unit, wanted.value);
    verdict.wanted_value = wanted.value;
    verdict.wanted = wanted_text(claim.comparison, wanted, value);
    const std::string remark = left.remark.empty() ? "" : "; " + left.remark;
    if (holds(*left.value, claim.comparison, wanted)) {
        verdict.outcome = Outcome::Passed;
        verdict.sentence = fmt::format("{} is {}, as expected ({}){}", what, measured_text, verdict.wanted, remark);
        return;
    }
    verdict.outcome = Outcome::Failed;
    const std::string culprit = culprit_text(left, claim, wanted, index);
    verdict.sentence = fmt::format("{} is {}, expected {}{}{}", what, measured_text, verdict.wanted,
                                   culprit.empty() ? "" : " (" + culprit + ")", remark);
}

void judge(const FaultExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict) {
    const auto& faults = index.result().faults;
    const auto fault =
        std::find_if(faults.begin(), faults.end(), [&](const auto& record) { return record.name == claim.fault; });
    const std::string what = fmt::format("fault '{}'", claim.fault);
    if (fault == faults.end()) return not_evaluable(verdict, what, "the run has no such fault");
    verdict.measured = static_cast<double>(fault->fired);
    bool is_met = fault->fired == 0;
    verdict.wanted = "never";
    verdict.wanted_value = 0;
    if (claim.has_fired && claim.times) {
        is_met = fault->fired == static_cast<uint64_t>(*claim.times);
        verdict.wanted = fmt::format("{} times", *claim.times);
        verdict.wanted_value = static_cast<double>(*claim.times);
    } else if (claim.has_fired) {
        is_met = fault->fired > 0;
        verdict.wanted = "at least once";
        verdict.wanted_value = 1;
    }
    const std::string fired = fault->fired == 0   ? "never fired"
                              : fault->fired == 1 ? "fired once"
                                                  : fmt::format("fired {} times", fault->fired);
    verdict.outcome = is_met ? Outcome::Passed : Outcome::Failed;
    verdict.sentence = is_met ? fmt::format("{} {}, as expected", what, fired)
                              : fmt::format("{} {}, expected: {}", what, fired, verdict.wanted);
}

void judge(const CompletionExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict) {
    const Selection selected = index.flows(claim.selector);
    const std::string selector = selector_text(claim.selector);
    const std::string what = selector.empty() ? "the completion of all flows" : "the completion of " + selector;
    if (!selected.problem.empty()) return not_evaluable(verdict, what, selected.problem);
    if (selected.numbers.empty()) return not_evaluable(verdict, what, "no flow is measured");
    const auto& flows = index.result().flows;
    uint32_t completed = 0;
    uint32_t worst = selected.numbers.front();
    bool has_worst = false;
    for (const uint32_t number : selected.numbers) {
        const run::FlowRecord& flow = flows[number];
        const bool in_time =
            flow.status == flow::FlowStatus::Success && (!claim.within || flow.acknowledged <= *claim.within);
        if (in_time) ++completed;
        if (!in_time && !has_worst) worst = number;
        has_worst = has_worst || !in_time;
    }
    const std::size_t all = selected.numbers.size();
    const std::string within =
        claim.within ? " within " + format_quantity(QuantityKind::Time, claim.within->in_ps()) : "";
    const std::string of = selector.empty() ? "" : " of " + selector;
    verdict.measured = completed;
    verdict.wanted_value = static_cast<double>(all);
    verdict.wanted = fmt::format("all {}{}", all, within);
    if (!has_worst) {
        verdict.outcome = Outcome::Passed;
        verdict.sentence = fmt::format("all {} flows{} completed{}, as expected", all, of, within);
        return;
    }
    const run::FlowRecord& flow = flows[worst];
    std::string fate =
        "is unfinished at " + value_text(MetricUnit::Time, static_cast<double>(index.result().simulated_time.in_ps()));
    const std::string end = value_text(MetricUnit::Time, static_cast<double>(flow.acknowledged.in_ps()));
    if (flow.status == flow::FlowStatus::Success) fate = "completed at " + end;
    if (flow.status == flow::FlowStatus::RetryExceeded) fate = "gave up at " + end + " (retry count exceeded)";
    verdict.outcome = Outcome::Failed;
    verdict.sentence = fmt::format("{} of {} flows{} completed{}, expected all ({} {})", completed, all, of, within,
                                   index.flow_text(worst), fate);
}

}  // namespace simverbs::scenarios::expect
