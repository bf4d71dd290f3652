#include "scenarios/workloads/workload_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/check.hpp"

namespace simverbs::scenarios::workloads {

sim::Draws workload_draws(const WorkloadCommon& common, std::string_view part) {
    return {common.seed, sim::component_id(fmt::format("workload/{}/{}", common.name, part)),
            sim::DrawPurpose::Workload};
}

std::vector<flow::HostIndex> host_range(flow::HostIndex first, uint32_t count) {
    std::vector<flow::HostIndex> hosts(count);
    std::iota(hosts.begin(), hosts.end(), first);
    return hosts;
}

PlanWriter::PlanWriter(flow::FlowPlan& plan, const WorkloadCommon& common) : plan_(plan), common_(common) {
    if (common.name.empty()) add_problem("name", "the workload has no name", "a name");
    if (std::find(plan.groups.begin(), plan.groups.end(), common.name) != plan.groups.end()) {
        add_problem("name", fmt::format("a workload named {} exists already", in_quotes(common.name)),
                    "a name of its own");
    }
    if (common.priority > kMaxPriority) {
        add_problem("priority", fmt::format("priority {} does not exist", common.priority), "0 to 15");
    }
    check_not_negative("start", common.start);
}

void PlanWriter::add_problem(std::string parameter, std::string problem, std::string expected, std::string hint) {
    sink_.add(SourcePosition{}, std::move(parameter), std::move(problem), std::move(expected), std::move(hint));
}

void PlanWriter::check_host(std::string_view parameter, flow::HostIndex host) {
    if (host < common_.host_count || sink_.is_full()) return;
    const std::string expected =
        common_.host_count == 0 ? "a fabric with hosts" : fmt::format("0 to {}", common_.host_count - 1);
    add_problem(std::string(parameter), fmt::format("host {} does not exist", host), expected);
}

void PlanWriter::check_hosts(std::string_view parameter, const std::vector<flow::HostIndex>& hosts,
                             std::size_t at_least) {
    if (hosts.size() < at_least) {
        add_problem(std::string(parameter), fmt::format("{} host(s) are too few", hosts.size()),
                    fmt::format("at least {}", at_least));
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) check_host(fmt::format("{}[{}]", parameter, i), hosts[i]);
    std::vector<flow::HostIndex> sorted = hosts;
    std::sort(sorted.begin(), sorted.end());
    for (auto it = sorted.begin(); (it = std::adjacent_find(it, sorted.end())) != sorted.end();) {
        add_problem(std::string(parameter), fmt::format("host {} occurs twice", *it), "each host once");
        it = std::upper_bound(it, sorted.end(), *it);
    }
}

void PlanWriter::check_positive(std::string_view parameter, int64_t value) {
    if (value < 1) add_problem(std::string(parameter), fmt::format("{} is too small", value), "at least 1");
}

void PlanWriter::check_not_negative(std::string_view parameter, sim::SimTime value) {
    if (value < sim::SimTime::zero()) {
        add_problem(std::string(parameter), fmt::format("{} ps is negative", value.in_ps()), "0 or later");
    }
}

void PlanWriter::check_size(std::string_view parameter, double flows, double dependencies) {
    if (flows + static_cast<double>(plan_.flows.size()) > static_cast<double>(kMaxFlows)) {
        add_problem(std::string(parameter), fmt::format("about {:.3g} flows are too many", flows),
                    fmt::format("at most {} in a scenario", kMaxFlows),
                    "use fewer hosts, a shorter time or larger messages");
    }
    if (dependencies + static_cast<double>(plan_.dependencies.size()) > static_cast<double>(kMaxDependencies)) {
        add_problem(std::string(parameter), fmt::format("about {:.3g} dependencies are too many", dependencies),
                    fmt::format("at most {} in a scenario", kMaxDependencies), "use fewer channels or larger chunks");
    }
}

void PlanWriter::begin(std::size_t expected_flows) {
    SIM_CHECK(!has_problems() && !is_open_);
    is_open_ = true;
    group_ = static_cast<uint32_t>(plan_.groups.size());
    plan_.groups.push_back(common_.name);
    // Growing by exactly what each workload needs would copy the plan once a workload.
    const std::size_t needed = plan_.flows.size() + expected_flows;
    if (needed > plan_.flows.capacity()) plan_.flows.reserve(std::max(needed, 2 * plan_.flows.capacity()));
}

flow::FlowIndex PlanWriter::add(flow::HostIndex src, flow::HostIndex dst, sim::ByteCount bytes, sim::SimTime start) {
    return add(flow::FlowSpec{src, dst, bytes, start, 0, common_.priority});
}

flow::FlowIndex PlanWriter::add(const flow::FlowSpec& flow) {
    SIM_CHECK(is_open_);
    SIM_CHECK(flow.src != flow.dst, flow.src);
    plan_.flows.push_back(flow);
    plan_.flows.back().group = group_;
    return static_cast<flow::FlowIndex>(plan_.flows.size() - 1);
}

void PlanWriter::add_dependency(flow::FlowIndex before, flow::FlowIndex after) {
    plan_.dependencies.push_back({before, after});
}

}  // namespace simverbs::scenarios::workloads
