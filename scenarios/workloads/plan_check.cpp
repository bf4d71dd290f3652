#include "scenarios/workloads/plan_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace simverbs::scenarios::workloads {

std::vector<flow::FlowIndex> flows_that_never_start(const flow::FlowPlan& plan) {
    const std::size_t flows = plan.flows.size();
    std::vector<uint32_t> awaited(flows);
    std::vector<std::size_t> first(flows + 1);  // of what waits for a flow, in `waiting`
    for (const auto& [before, after] : plan.dependencies) {
        ++awaited[after];
        ++first[before + 1];
    }
    for (std::size_t i = 0; i < flows; ++i) first[i + 1] += first[i];
    std::vector<flow::FlowIndex> waiting(plan.dependencies.size());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (const auto& [before, after] : plan.dependencies) waiting[next[before]++] = after;
    std::vector<flow::FlowIndex> started;
    started.reserve(flows);
    for (flow::FlowIndex i = 0; i < flows; ++i) {
        if (awaited[i] == 0) started.push_back(i);
    }
    for (std::size_t head = 0; head < started.size(); ++head) {
        for (std::size_t i = first[started[head]]; i < first[started[head] + 1]; ++i) {
            if (--awaited[waiting[i]] == 0) started.push_back(waiting[i]);
        }
    }
    std::vector<flow::FlowIndex> stuck;
    for (flow::FlowIndex i = 0; i < flows; ++i) {
        if (awaited[i] > 0) stuck.push_back(i);
    }
    return stuck;
}

bool check_plan(const flow::FlowPlan& plan, uint32_t host_count, DiagnosticSink& sink) {
    const std::size_t problems_before = sink.count();
    const auto add = [&](std::string_view list, std::size_t index, std::string problem, std::string expected) {
        sink.add({}, fmt::format("{}[{}]", list, index), std::move(problem), std::move(expected));
    };
    for (std::size_t i = 0; i < plan.flows.size(); ++i) {
        const flow::FlowSpec& flow = plan.flows[i];
        if (flow.src >= host_count || flow.dst >= host_count) {
            add("flows", i, fmt::format("host {} does not exist", std::max(flow.src, flow.dst)),
                "a host of the fabric");
        }
        if (flow.src == flow.dst) add("flows", i, fmt::format("host {} sends to itself", flow.src), "two hosts");
        if (flow.bytes < 1) add("flows", i, fmt::format("{} bytes", flow.bytes), "at least 1");
        if (flow.group >= plan.groups.size()) add("flows", i, fmt::format("group {}", flow.group), "one of the groups");
    }
    for (std::size_t i = 0; i < plan.dependencies.size(); ++i) {
        const auto& [before, after] = plan.dependencies[i];
        if (before >= plan.flows.size() || after >= plan.flows.size()) {
            add("dependencies", i, "a flow that does not exist", "flows of the plan");
            continue;
        }
        const flow::HostIndex who = plan.flows[after].src;
        if (who != plan.flows[before].dst && who != plan.flows[before].src) {
            add("dependencies", i, fmt::format("host {} cannot know that flow {} is done", who, before),
                "a flow from or to that host");
        }
    }
    if (sink.count() != problems_before) return false;
    const auto stuck = flows_that_never_start(plan);
    for (const flow::FlowIndex i : stuck) add("flows", i, "the flow waits for itself", "dependencies without a cycle");
    return stuck.empty();
}

}  // namespace simverbs::scenarios::workloads
