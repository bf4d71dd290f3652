#include "scenarios/expect/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/expect/measurement.hpp"
#include "scenarios/expect/metric_verdict.hpp"
#include "scenarios/expect/value_text.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// A scenario whose claim about one of these is met by a number above 0 is meant to get stuck.
constexpr std::array<std::string_view, 2> kStuckMetrics{"deadlocks", "unfinished"};

bool wants_to_stick(const ExpectationSpec& spec, const ExpectationVerdict& verdict) {
    const auto is_stuck_metric = [](const MetricExpression& expression) {
        return std::find(kStuckMetrics.begin(), kStuckMetrics.end(), expression.metric->name) != kStuckMetrics.end();
    };
    const auto* claim = std::get_if<MetricExpectation>(&spec.statement);
    if (claim == nullptr || verdict.outcome != Outcome::Passed || verdict.measured.value_or(0) <= 0) return false;
    const auto* right = std::get_if<MetricExpression>(&claim->right);
    return is_stuck_metric(claim->left) || (right != nullptr && is_stuck_metric(*right));
}

bool speaks_of_fault(const ExpectationSpec& spec, const std::string& fault) {
    const auto* claim = std::get_if<FaultExpectation>(&spec.statement);
    return claim != nullptr && claim->fault == fault;
}

ExpectationVerdict implicit_failure(std::string name, std::string sentence) {
    ExpectationVerdict verdict;
    verdict.name = verdict.text = std::move(name);
    verdict.outcome = Outcome::Failed;
    verdict.sentence = std::move(sentence);
    verdict.is_implicit = true;
    return verdict;
}

void add_implicit(const std::vector<ExpectationSpec>& expectations, const run::RunResult& result,
                  std::vector<ExpectationVerdict>& verdicts) {
    bool may_stick = false;
    for (std::size_t i = 0; i < expectations.size(); ++i) {
        may_stick = may_stick || wants_to_stick(expectations[i], verdicts[i]);
    }
    if (result.ending == run::RunEnding::Stuck && !may_stick) {
        const auto outstanding = std::count_if(result.flows.begin(), result.flows.end(), [](const auto& flow) {
            return flow.status == flow::FlowStatus::Pending;
        });
        std::string sentence =
            fmt::format("the run got stuck at {} with {} flow{} outstanding",
                        value_text(MetricUnit::Time, static_cast<double>(result.simulated_time.in_ps())), outstanding,
                        outstanding == 1 ? "" : "s");
        if (!result.stuck_dump.empty()) sentence += ":\n" + result.stuck_dump;
        verdicts.push_back(implicit_failure("the run does not get stuck", std::move(sentence)));
    }
    for (const run::FaultRecord& fault : result.faults) {
        const bool is_spoken_of =
            std::any_of(expectations.begin(), expectations.end(),
                        [&](const ExpectationSpec& spec) { return speaks_of_fault(spec, fault.name); });
        if (fault.fired > 0 || !fault.must_fire || is_spoken_of) continue;
        verdicts.push_back(implicit_failure(
            fmt::format("fault '{}' fired", fault.name),
            fmt::format("fault '{}' never fired{}, so the run shows nothing about it: let it act on what happens, "
                        "or say \"fault '{}' never fired\"",
                        fault.name, fault.silence.empty() ? "" : " (" + fault.silence + ")", fault.name)));
    }
}

Selection find_selected(const Selector& selector, const ResultIndex& index) {
    switch (selector.kind) {
        case SelectorKind::Run:
            return {};
        case SelectorKind::Group:
            return index.groups(selector);
        case SelectorKind::Flow:
        case SelectorKind::Host:
            return index.flows(selector);
        case SelectorKind::Switch:
            return index.switches(selector);
        case SelectorKind::Link:
            return index.links(selector);
        case SelectorKind::Port:
        case SelectorKind::Queue:
            return index.ports(selector);
        case SelectorKind::Slot:
            return index.pcie_links(selector);
    }
    return {};
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::Passed:
            return "passed";
        case Outcome::Failed:
            return "failed";
        case Outcome::NotEvaluable:
            return "not evaluable";
    }
    return "";
}

bool all_passed(const std::vector<ExpectationVerdict>& verdicts) noexcept {
    return std::all_of(verdicts.begin(), verdicts.end(),
                       [](const ExpectationVerdict& verdict) { return verdict.outcome == Outcome::Passed; });
}

std::vector<ExpectationVerdict> evaluate(const std::vector<ExpectationSpec>& expectations,
                                         const run::RunResult& result) {
    const ResultIndex index(result);
    std::vector<ExpectationVerdict> verdicts;
    verdicts.reserve(expectations.size());
    for (const ExpectationSpec& spec : expectations) {
        ExpectationVerdict verdict;
        verdict.name = spec.name;
        verdict.text = spec.text;
        verdict.path = spec.path;
        verdict.position = spec.position;
        std::visit([&](const auto& claim) { judge(claim, index, verdict); }, spec.statement);
        verdicts.push_back(std::move(verdict));
    }
    add_implicit(expectations, result, verdicts);
    return verdicts;
}

void check_names(const std::vector<ExpectationSpec>& expectations, const run::RunResult& result, DiagnosticSink& sink,
                 const std::function<bool(const Selector&)>& is_known) {
    const ResultIndex index(result);
    const auto check = [&](const ExpectationSpec& spec, const Selector& selector) {
        if (is_known && !is_known(selector)) return;
        const std::string problem = find_selected(selector, index).problem;
        const std::size_t hint = problem.find("; did you mean");
        if (problem.empty()) return;
        sink.add(selector.position, spec.path, problem.substr(0, hint), "a name of the network or of a workload",
                 hint == std::string::npos ? "" : problem.substr(hint + 2));
    };
    const auto check_expression = [&](const ExpectationSpec& spec, const MetricExpression& expression) {
        check(spec, expression.selector);
        if (is_known && !is_known(expression.selector)) return;
        const auto [problem, advice] = check_metric(expression, index);
        if (!problem.empty()) sink.add(expression.selector.position, spec.path, problem, "", advice);
    };
    for (const ExpectationSpec& spec : expectations) {
        if (const auto* completion = std::get_if<CompletionExpectation>(&spec.statement)) {
            check(spec, completion->selector);
        } else if (const auto* claim = std::get_if<MetricExpectation>(&spec.statement)) {
            check_expression(spec, claim->left);
            if (const auto* right = std::get_if<MetricExpression>(&claim->right)) check_expression(spec, *right);
        }
    }
}

}  // namespace simverbs::scenarios::expect
