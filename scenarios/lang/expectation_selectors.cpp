#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/expectation_parser.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::array<SelectorKind, 8> kNamedSelectors{SelectorKind::Group,  SelectorKind::Flow, SelectorKind::Host,
                                                      SelectorKind::Switch, SelectorKind::Link, SelectorKind::Port,
                                                      SelectorKind::Queue,  SelectorKind::Slot};
constexpr std::array<std::pair<std::string_view, StatisticKind>, 5> kStatistics{{{"mean", StatisticKind::Mean},
                                                                                 {"min", StatisticKind::Min},
                                                                                 {"max", StatisticKind::Max},
                                                                                 {"total", StatisticKind::Total},
                                                                                 {"count", StatisticKind::Count}}};
constexpr std::string_view kExpectedStatistic = "one of mean, min, max, total, count, p50, p99, p99.9, …";
/// What is meant by `queue tor0/5 < 1 KB` and `link tor0/5 > 97 %`.
constexpr std::string_view kMetricOfQueue = "queue";
constexpr std::string_view kMetricOfLink = "utilisation";

std::optional<SelectorKind> selector_kind(const ExpectationToken& token) {
    for (const SelectorKind kind : kNamedSelectors) {
        if (token.kind == TokenKind::Word && token.text == selector_name(kind)) return kind;
    }
    return std::nullopt;
}

bool is_modifier(const ExpectationToken& token) {
    if (token.kind == TokenKind::Operator || token.kind == TokenKind::End) return true;
    return token.kind == TokenKind::Word &&
           (token.text == "of" || token.text == "within" || token.text == "from" || token.text == "until");
}

/// A statistic's name as what it says.
std::optional<Statistic> parse_statistic(std::string_view text) {
    for (const auto& [name, kind] : kStatistics) {
        if (text == name) return Statistic{kind, 0};
    }
    if (text.size() < 2 || text[0] != 'p') return std::nullopt;
    const auto number = parse_number(text.substr(1));
    const auto* percentile = std::get_if<double>(&number);
    if (percentile == nullptr || *percentile > 100) return std::nullopt;
    return Statistic{StatisticKind::Percentile, *percentile};
}

/// "fct" of "fct.p99.9".
std::string_view without_statistic(std::string_view text) {
    for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
        if (parse_statistic(text.substr(dot + 1))) return text.substr(0, dot);
    }
    return text;
}

std::string selectors_of(const MetricInfo& metric) {
    std::string out;
    for (const SelectorKind kind : kNamedSelectors) {
        if (metric.selectors.contains(kind)) out += (out.empty() ? "" : ", ") + std::string(selector_name(kind));
    }
    return out;
}

}  // namespace

void ExpectationParser::statistic(const ExpectationToken& token, std::string_view text, MetricExpression& expression) {
    const auto parsed = parse_statistic(text);
    if (!parsed) {
        wrong(token, in_quotes(text) + " is not a statistic", std::string(kExpectedStatistic));
        return;
    }
    if (expression.metric != nullptr && expression.metric->default_statistic.empty()) {
        wrong(token, fmt::format("'{}' is one number and has no '{}'", expression.metric->name, text),
              "the metric alone");
    }
    expression.statistic = *parsed;
}

void ExpectationParser::metric_and_statistic(const ExpectationToken& token, MetricExpression& expression) {
    std::vector<std::string_view> names;
    std::string all;
    for (const MetricInfo& info : metrics()) {
        names.push_back(info.name);
        all += (all.empty() ? "one of " : ", ") + std::string(info.name);
    }
    const std::string_view text = token.text;
    const std::string_view name = without_statistic(text);
    // "fct.slwdown" is a metric that is misspelt, "fct.avg" is a statistic that there is not.
    const std::string_view meant = nearest_name(name, names);
    for (std::size_t end = text.size(); end != std::string_view::npos && end > 0; end = text.rfind('.', end - 1)) {
        expression.metric = find_metric(text.substr(0, end));
        if (expression.metric == nullptr) continue;
        if (end == text.size()) return;
        if (end == name.size() || meant.empty() || meant == expression.metric->name) {
            return statistic(token, text.substr(end + 1), expression);
        }
    }
    expression.metric = nullptr;
    wrong(token, in_quotes(text) + " is not a metric", all, did_you_mean(name, names));
}

std::optional<MetricExpression> ExpectationParser::metric_expression() {
    const ExpectationToken first = peek();
    if (first.kind != TokenKind::Word) return unexpected("a metric such as 'fct.slowdown.p99'");
    if (selector_kind(first) && !is_modifier(peek(1)) && !parse_statistic(peek(1).text)) return selector_first();
    take();
    MetricExpression expression;
    metric_and_statistic(first, expression);
    if (peek().kind == TokenKind::Word && parse_statistic(peek().text)) {
        const ExpectationToken token = take();
        statistic(token, token.text, expression);
    }
    if (!rest_of_metric(expression)) return std::nullopt;
    return expression;
}

std::optional<MetricExpression> ExpectationParser::selector_first() {
    const SelectorKind kind = *selector_kind(take());
    auto selected = selector_of_kind(kind);
    if (!selected) return std::nullopt;
    MetricExpression expression;
    expression.selector = std::move(*selected);
    const bool names_metric = peek().kind == TokenKind::Word && !is_modifier(peek()) && !parse_statistic(peek().text);
    if (names_metric) {
        const ExpectationToken token = take();
        metric_and_statistic(token, expression);
    } else if (kind == SelectorKind::Queue || kind == SelectorKind::Link) {
        expression.metric = find_metric(kind == SelectorKind::Queue ? kMetricOfQueue : kMetricOfLink);
    } else {
        unexpected(fmt::format("a metric of the {}", selector_name(kind)));
    }
    if (peek().kind == TokenKind::Word && !is_modifier(peek())) {
        const ExpectationToken token = take();
        statistic(token, token.text, expression);
    }
    if (is_word("of")) unexpected("no second selector");
    if (!rest_of_metric(expression)) return std::nullopt;
    return expression;
}

bool ExpectationParser::rest_of_metric(MetricExpression& expression) {
    if (!modifiers(expression)) return false;
    if (expression.metric != nullptr) check_selector(expression);
    return true;
}

bool ExpectationParser::modifiers(MetricExpression& expression) {
    while (true) {
        const ExpectationToken token = peek();
        if (take_word("of")) {
            auto selected = selector(expression.metric);
            if (!selected) return false;
            expression.selector = std::move(*selected);
            continue;
        }
        std::optional<sim::SimTime>* slot = is_word("within")  ? &expression.within
                                            : is_word("from")  ? &expression.from
                                            : is_word("until") ? &expression.until
                                                               : nullptr;
        if (slot == nullptr) break;
        take();
        slot->reset();
        if (!time(*slot)) return false;
        if (expression.from && expression.until && *expression.until <= *expression.from) {
            wrong(token, "'until' is not after 'from'", "a later time");
        }
    }
    if (expression.within && expression.metric != nullptr && expression.metric->unit != MetricUnit::Count &&
        expression.metric->unit != MetricUnit::Time) {
        wrong(peek(), fmt::format("'within' says nothing about '{}'", expression.metric->name),
              "a count or a time with 'within'");
    }
    return true;
}

void ExpectationParser::check_selector(const MetricExpression& expression) {
    const SelectorKind kind = expression.selector.kind;
    // Whatever can be asked can be asked of the run; a name that is none stands for it too.
    if (kind == SelectorKind::Run || expression.metric->selectors.contains(kind)) return;
    has_failed_ = true;
    reading_.sink.add(expression.selector.position, path_,
                      fmt::format("'{}' cannot be asked of a {}", expression.metric->name, selector_name(kind)),
                      selectors_of(*expression.metric).empty()
                          ? "no selector"
                          : "one of " + selectors_of(*expression.metric) + ", or no selector");
}

std::optional<Selector> ExpectationParser::selector(const MetricInfo* metric) {
    const auto kind = selector_kind(peek());
    if (!kind || is_modifier(peek(1))) return named_selector(metric);
    take();
    return selector_of_kind(*kind);
}

std::optional<Selector> ExpectationParser::selector_of_kind(SelectorKind kind) {
    const ExpectationToken name = peek();
    if (name.kind != TokenKind::Word && name.kind != TokenKind::Quoted) {
        return unexpected(fmt::format("the name of a {}", selector_name(kind)));
    }
    if (kind == SelectorKind::Flow) return flow_selector();
    take();
    Selector out;
    out.kind = kind;
    out.name = name.text;
    out.position = position_of(name);
    out.is_checked = !reading_.network.topology.is_fabric;
    if (kind == SelectorKind::Group) {
        std::vector<std::string_view> names;
        for (const WorkloadSpec& workload : reading_.spec.workloads) names.push_back(workload.name);
        out.is_checked = std::find(names.begin(), names.end(), name.text) != names.end();
        if (!out.is_checked && reading_.workload_names_are_complete) {
            wrong(name, fmt::format("there is no workload {}", in_quotes(name.text)), "a workload's name",
                  did_you_mean(name.text, names));
        }
        return out;
    }
    if (kind == SelectorKind::Slot) {
        // Which slots there are, who builds the adapters knows.
        out.is_checked = false;
        unknown_names_.push_back(out);
        return out;
    }
    bool is_right =
        kind == SelectorKind::Host ? check_host(reading_, place(name)) : check_place(reading_.network, place(name));
    if (kind != SelectorKind::Host && take_word("-")) {
        const ExpectationToken other = take();
        is_right = check_place(reading_.network, place(other)) && is_right;
        out.name += " - " + other.text;
        out.kind = SelectorKind::Link;
    }
    has_failed_ = has_failed_ || !is_right;
    if (kind != SelectorKind::Host) selector_priority(out);
    if (is_right && !out.is_checked) unknown_names_.push_back(out);
    return out;
}

void ExpectationParser::selector_priority(Selector& selector) {
    if (!is_word("priority") && !is_word("VL")) return;
    constexpr int64_t kMostPriority = 15;
    take();
    const auto parsed = parse_integer(peek().text);
    const auto* number = std::get_if<int64_t>(&parsed);
    if (number == nullptr || *number < 0 || *number > kMostPriority) {
        unexpected("a number from 0 to 15");
        if (peek().kind == TokenKind::Word) take();
        return;
    }
    take();
    selector.priority = static_cast<int>(*number);
}

std::optional<Selector> ExpectationParser::flow_selector() {
    const ExpectationToken token = take();
    Selector out;
    out.kind = SelectorKind::Flow;
    out.position = position_of(token);
    const std::size_t bracket = token.text.find('[');
    const bool is_indexed = bracket != std::string::npos && token.text.back() == ']';
    const std::string index = is_indexed ? token.text.substr(bracket + 1, token.text.size() - bracket - 2) : token.text;
    const auto parsed = parse_integer(index);
    const auto* number = std::get_if<int64_t>(&parsed);
    if (number == nullptr || *number < 0) {
        wrong(token, in_quotes(token.text) + " is not a flow",
              "a number such as '3', or one of a workload such as 'websearch[3]'");
        return out;
    }
    out.index = *number;
    if (!is_indexed) return out;
    out.name = token.text.substr(0, bracket);
    const auto& workloads = reading_.spec.workloads;
    const auto found = std::find_if(workloads.begin(), workloads.end(),
                                    [&](const WorkloadSpec& workload) { return workload.name == out.name; });
    out.is_checked = found != workloads.end();
    if (!out.is_checked && reading_.workload_names_are_complete) {
        wrong(token, fmt::format("there is no workload {}", in_quotes(out.name)), "a workload's name");
    }
    const bool lists_flows = out.is_checked && found->kind == "flows";
    if (lists_flows && *number >= static_cast<int64_t>(found->flows.size()) && !found->flows.empty()) {
        wrong(token, fmt::format("'{}' has no flow {}", out.name, *number),
              fmt::format("0 to {}", found->flows.size() - 1));
    }
    return out;
}

std::optional<Selector> ExpectationParser::named_selector(const MetricInfo* metric) {
    const ExpectationToken name = peek();
    if (name.kind != TokenKind::Word && name.kind != TokenKind::Quoted) {
        return unexpected(metric == nullptr ? std::string("a name of what it is asked of")
                                            : "what it is asked of: one of " + selectors_of(*metric) + ", or a name");
    }
    if (metric != nullptr && metric->selectors.contains(SelectorKind::Slot) && name.text.find('/') != std::string::npos)
        return selector_of_kind(SelectorKind::Slot);
    if (name.text.find('/') != std::string::npos || is_word("-", 1)) return selector_of_kind(SelectorKind::Port);
    const LabReading& network = reading_.network;
    std::vector<std::string_view> workloads;
    for (const WorkloadSpec& workload : reading_.spec.workloads) workloads.push_back(workload.name);
    if (std::find(workloads.begin(), workloads.end(), name.text) != workloads.end()) {
        return selector_of_kind(SelectorKind::Group);
    }
    const bool of_hosts = metric == nullptr || metric->selectors.contains(SelectorKind::Host);
    const bool of_switches = metric == nullptr || metric->selectors.contains(SelectorKind::Switch);
    const auto known = network.nodes_by_name.find(name.text);
    if (known != network.nodes_by_name.end()) {
        return selector_of_kind(known->second.is_switch ? SelectorKind::Switch : SelectorKind::Host);
    }
    const bool like_host =
        name.text.size() > 1 && name.text[0] == 'h' && parse_integer(name.text.substr(1)).index() == 0;
    if (network.topology.is_fabric && like_host && of_hosts) return selector_of_kind(SelectorKind::Host);
    if (network.topology.is_fabric && !like_host && of_switches) return selector_of_kind(SelectorKind::Switch);
    take();
    Selector unknown;
    unknown.position = position_of(name);
    has_failed_ = true;
    if (!reading_.workload_names_are_complete || !network.names_are_complete) return unknown;
    // Switches of a fabric that is still to be made are not known: a metric that is not theirs tells that none is
    // meant.
    std::string nouns = "workload";
    if (of_hosts) nouns += of_switches ? ", host" : " or host";
    if (of_switches) nouns += " or switch";
    wrong(name, fmt::format("there is no {} {}", nouns, in_quotes(name.text)),
          metric == nullptr ? "a name of the network or of a workload"
                            : fmt::format("'{}' of one of {}", metric->name, selectors_of(*metric)),
          did_you_mean(name.text, workloads));
    return unknown;
}

}  // namespace simverbs::scenarios
