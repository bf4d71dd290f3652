// Reads what a fabric has counted. Internal to scenarios/run.
#pragma once

#include "scenarios/run/build_fabric.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::run {

/// The names alone, of hosts, switches, ports and links.
void name_parts(const BuiltTopology& topology, RunResult& result);
/// Groups and flows as planned, by their numbers.
void name_flows(const ScenarioSpec& spec, const flow::FlowPlan& plan, RunResult& result);
/// Hosts, switches, ports, links and flows, all counts still zero.
void describe_parts(const ScenarioSpec& spec, const BuiltScenario& built, RunResult& result);
/// What a port has counted so far.
[[nodiscard]] PortCounts counts_of(const BuiltScenario& built, const PortRecord& port);
/// How long packets have waited at a port so far, by priority; empty if that is not measured.
[[nodiscard]] std::vector<sim::TimeHistogram> delays_of(const BuiltScenario& built, const PortRecord& port);
/// Everything that is known only at the end.
void collect_end(const ScenarioSpec& spec, BuiltScenario& built, RunResult& result);

}  // namespace simverbs::scenarios::run
