#include "scenarios/workloads/flow_list.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>

namespace simverbs::scenarios::workloads {

namespace {

constexpr std::string_view kPairsLine = "'SRC DST BYTES', for example '0 16 1048576'";

std::vector<std::string_view> pair_words(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r";
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    while (true) {
        const auto begin = line.find_first_not_of(kBlank);
        if (begin == std::string_view::npos) return words;
        const auto end = line.find_first_of(kBlank, begin);
        words.push_back(line.substr(begin, end - begin));
        if (end == std::string_view::npos) return words;
        line.remove_prefix(end);
    }
}

template <class Number>
bool parse_pair_number(std::string_view word, Number& out) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc{} && end == word.data() + word.size() && out >= 0;
}

/// One line's flow, or a problem in `sink`; nothing for a blank line.
std::optional<ListedFlow> read_pair(std::string_view line, const SourcePosition& place, DiagnosticSink& sink) {
    const std::vector<std::string_view> words = pair_words(line);
    if (words.empty()) return std::nullopt;
    if (words.size() != 3) {
        sink.add(place, {}, fmt::format("{} word(s) in the line", words.size()), std::string(kPairsLine));
        return std::nullopt;
    }
    ListedFlow flow;
    const std::array<bool, 3> is_good{parse_pair_number(words[0], flow.src), parse_pair_number(words[1], flow.dst),
                                      parse_pair_number(words[2], flow.bytes)};
    constexpr std::array<std::string_view, 3> kNames{"source host", "destination host", "number of bytes"};
    for (std::size_t i = 0; i < is_good.size(); ++i) {
        if (!is_good[i]) {
            sink.add(place, {}, fmt::format("{} is no {}", in_quotes(words[i]), kNames[i]), std::string(kPairsLine));
        }
    }
    if (!is_good[0] || !is_good[1] || !is_good[2]) return std::nullopt;
    return flow;
}

bool is_right(const ListedFlow& flow, uint32_t host_count) {
    return flow.src < host_count && flow.dst < host_count && flow.src != flow.dst && flow.bytes > 0 &&
           flow.start >= sim::SimTime::zero() && flow.priority.value_or(0) <= kMaxPriority;
}

}  // namespace

Problems append_flow_list(flow::FlowPlan& plan, const FlowListParameters& parameters) {
    PlanWriter writer(plan, parameters.common);
    if (parameters.flows.empty()) writer.add_problem("flows", "no flows", "at least one flow");
    writer.check_size("flows", static_cast<double>(parameters.flows.size()));
    for (std::size_t i = 0; i < parameters.flows.size(); ++i) {
        const ListedFlow& listed = parameters.flows[i];
        if (is_right(listed, parameters.common.host_count)) continue;  // lists are long: no paths for what is right
        const std::string path = fmt::format("flows[{}]", i);
        writer.check_host(path + ".src", listed.src);
        writer.check_host(path + ".dst", listed.dst);
        writer.check_positive(path + ".bytes", listed.bytes);
        writer.check_not_negative(path + ".start", listed.start);
        if (listed.src == listed.dst) {
            writer.add_problem(path, fmt::format("host {} sends to itself", listed.src), "two different hosts");
        }
        if (listed.priority.value_or(0) > kMaxPriority) {
            writer.add_problem(path + ".priority", fmt::format("priority {} does not exist", *listed.priority),
                               "0 to 15");
        }
    }
    if (writer.has_problems()) return writer.problems();
    writer.begin(parameters.flows.size());
    for (const ListedFlow& listed : parameters.flows) {
        writer.add(flow::FlowSpec{listed.src, listed.dst, listed.bytes, parameters.common.start + listed.start, 0,
                                  listed.priority.value_or(parameters.common.priority)});
    }
    return {};
}

std::vector<ListedFlow> read_pairs(std::string_view text, std::string_view file, DiagnosticSink& sink) {
    std::vector<ListedFlow> flows;
    SourcePosition place{std::make_shared<const std::string>(file), 0, 0};
    const std::size_t problems_before = sink.count();
    while (!text.empty()) {
        const auto end = text.find('\n');
        ++place.line;
        if (const auto flow = read_pair(text.substr(0, end), place, sink)) flows.push_back(*flow);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (sink.count() != problems_before) return {};
    if (flows.empty()) sink.add(place, {}, "no flows in the file", std::string(kPairsLine));
    return flows;
}

}  // namespace simverbs::scenarios::workloads
