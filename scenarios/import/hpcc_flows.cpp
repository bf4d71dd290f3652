#include "scenarios/import/hpcc_flows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/text_lines.hpp"

namespace simverbs::scenarios::imports {

namespace {

constexpr std::string_view kFlowLine = "'SRC DST PRIORITY DPORT BYTES START', for example '0 16 3 100 65536 2.000001'";

std::optional<flow::HostIndex> host_at(LineProblems& problems, const Word& word, const HpccTopology& topology) {
    const auto nodes = static_cast<uint32_t>(topology.nodes.size());
    const auto node = problems.number<uint32_t>(word, "node of the topology", 0, nodes - 1);
    if (!node) return std::nullopt;
    if (topology.nodes[*node].is_switch) {
        problems.add(word, fmt::format("node {} is a switch", *node), "a host");
        return std::nullopt;
    }
    return topology.nodes[*node].index;
}

std::optional<workloads::ListedFlow> flow_at(const TextLines& lines, LineProblems& problems,
                                             const HpccTopology& topology) {
    const auto& words = lines.words();
    if (words.size() != 6) {
        problems.add_line(fmt::format("{} word(s) in the line", words.size()), std::string(kFlowLine));
        return std::nullopt;
    }
    const auto src = host_at(problems, words[0], topology);
    const auto dst = host_at(problems, words[1], topology);
    const auto priority = problems.number<uint32_t>(words[2], "priority", 0, workloads::kMaxEthernetPriority);
    const auto port = problems.number<uint32_t>(words[3], "port", 0, UINT16_MAX);
    const auto bytes = problems.number<int64_t>(words[4], "number of bytes", 1, INT64_MAX);
    const auto start = parse_seconds(words[5].text);
    if (!start) problems.add(words[5], in_quotes(words[5].text) + " is no time", "seconds, for example '2.000001'");
    if (src && dst && *src == *dst) problems.add(words[1], "a flow from a host to itself", "two hosts");
    if (!src || !dst || *src == *dst || !priority || !port || !bytes || !start) return std::nullopt;
    return workloads::ListedFlow{*src, *dst, *bytes, *start, static_cast<uint8_t>(*priority)};
}

/// The count in the first line.
std::optional<uint32_t> count_at(TextLines& lines, LineProblems& problems, std::string_view what) {
    if (!lines.next_with_words() || lines.words().size() != 1) {
        problems.add_line(fmt::format("no number of {} in the first line", what), "one number");
        return std::nullopt;
    }
    return problems.number<uint32_t>(lines.words()[0], fmt::format("number of {}", what), 0, workloads::kMaxFlows);
}

}  // namespace

std::optional<HpccFlows> read_hpcc_flows(std::string_view text, std::string_view file, const HpccTopology& topology,
                                         DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    const std::size_t problems_before = sink.count();
    TextLines lines(text, file);
    LineProblems problems(lines, sink);
    const auto count = count_at(lines, problems, "flows");
    if (!count) return std::nullopt;
    HpccFlows result;
    for (uint32_t i = 0; i < *count; ++i) {
        if (!lines.next_with_words()) {
            problems.add_line(fmt::format("{} of {} flows are missing", *count - i, *count), std::string(kFlowLine));
            return std::nullopt;
        }
        if (const auto flow = flow_at(lines, problems, topology)) result.flows.push_back(*flow);
    }
    result.unread_lines = count_unread_lines(lines);
    if (sink.count() != problems_before) return std::nullopt;
    return result;
}

void start_at_zero(std::vector<workloads::ListedFlow>& flows) {
    sim::SimTime first = sim::SimTime::max();
    for (const workloads::ListedFlow& flow : flows) first = std::min(first, flow.start);
    for (workloads::ListedFlow& flow : flows) flow.start = flow.start - first;
}

std::optional<HpccTrace> read_hpcc_trace(std::string_view text, std::string_view file, const HpccTopology& topology,
                                         DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    const std::size_t problems_before = sink.count();
    TextLines lines(text, file);
    LineProblems problems(lines, sink);
    const auto count = count_at(lines, problems, "nodes to trace");
    if (!count) return std::nullopt;
    HpccTrace traced;
    uint32_t found = 0;
    while (found < *count && lines.next_with_words()) {
        for (const Word& word : lines.words()) {
            if (++found > *count) break;
            const auto node = problems.number<uint32_t>(word, "number of a node", 0, UINT32_MAX);
            const bool is_there = node && *node < topology.nodes.size();
            if (is_there) traced.nodes.push_back(topology.nodes[*node]);
            if (!is_there) ++traced.left_out;
        }
    }
    if (found < *count) {
        problems.add_line(fmt::format("{} of {} nodes to trace are missing", *count - found, *count),
                          "as many nodes as the first line says");
    }
    if (sink.count() != problems_before) return std::nullopt;
    return traced;
}

std::optional<std::vector<workloads::CdfPoint>> read_cdf(std::string_view text, std::string_view file,
                                                         DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    const std::size_t problems_before = sink.count();
    TextLines lines(text, file);
    LineProblems problems(lines, sink);
    std::vector<workloads::CdfPoint> points;
    std::vector<SourcePosition> places;
    while (lines.next_with_words()) {
        const auto& words = lines.words();
        if (words[0].text.starts_with('#')) continue;
        if (words.size() != 2 && !(words.size() > 2 && words[2].text.starts_with('#'))) {
            problems.add_line(fmt::format("{} word(s) in the line", words.size()), "'BYTES PERCENT', as in '10000 15'");
            continue;
        }
        const auto bytes = problems.number<int64_t>(words[0], "number of bytes", 0, INT64_MAX);
        const auto percent = parse_real(words[1].text);
        if (!percent) problems.add(words[1], in_quotes(words[1].text) + " is no number", "a percentage from 0 to 100");
        if (!bytes || !percent) continue;
        points.push_back({*bytes, *percent});
        places.push_back(lines.place());
    }
    if (sink.count() != problems_before) return std::nullopt;
    for (const workloads::CdfProblem& problem : workloads::check_cdf(points)) {
        sink.add(points.empty() ? lines.place() : places[problem.point], {}, problem.problem, problem.expected);
    }
    if (sink.count() != problems_before) return std::nullopt;
    return points;
}

}  // namespace simverbs::scenarios::imports
