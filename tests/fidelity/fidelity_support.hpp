// What the fidelity tests share: load a scenario, run it, measure over a window of time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/run_result.hpp"
#include "scenarios/run/run_scenario.hpp"

namespace simverbs::fidelity {

/// The runs that a scenario describes; none, and a failure of the test, if it is wrong.
[[nodiscard]] std::vector<scenarios::ScenarioSpec> load_text(std::string_view text,
                                                             std::vector<std::string> settings = {});
/// The same from scenarios/library/scenarios/.
[[nodiscard]] std::vector<scenarios::ScenarioSpec> load_library(const std::string& file,
                                                                std::vector<std::string> settings = {});

/// What is looked at while a run goes on, by name.
struct Watched {
    sim::SimTime interval;
    std::vector<std::string> ports;  ///< with the other ends of their links
    bool all_flows = false;
};

/// Builds and runs one of them.
[[nodiscard]] scenarios::run::RunResult run(const scenarios::ScenarioSpec& spec, const Watched& watched = {});

/// The index in RunResult::ports; a failure of the test if there is none.
[[nodiscard]] uint32_t port_named(const scenarios::run::RunResult& result, std::string_view name);

/// The name of the switch port that a host is plugged into: its egress is the last hop towards the host.
[[nodiscard]] std::string port_towards(const scenarios::run::RunResult& result, std::string_view host);

/// Of what was sampled, over [from, until): bounds are taken at the nearest samples.
struct Window {
    sim::SimTime from;
    sim::SimTime until;
};

/// Mean of the bytes that wait at an egress, over the samples.
[[nodiscard]] double mean_queue_bytes(const scenarios::run::RunResult& result, std::string_view port, Window window);
/// Share of the time in which a port sent.
[[nodiscard]] double utilisation(const scenarios::run::RunResult& result, std::string_view port, Window window);
/// Payload of a flow that was acknowledged, in Gb/s.
[[nodiscard]] double goodput_gbps(const scenarios::run::RunResult& result, uint32_t flow, Window window);
/// Mean of the rate that congestion control allows a flow, in Gb/s.
[[nodiscard]] double mean_rate_gbps(const scenarios::run::RunResult& result, uint32_t flow, Window window);

/// Of everything: what no buffer had room for.
[[nodiscard]] uint64_t drops(const scenarios::run::RunResult& result);
[[nodiscard]] uint64_t pauses(const scenarios::run::RunResult& result);

/// FCT over the FCT in the empty network.
[[nodiscard]] double slowdown(const scenarios::run::FlowRecord& flow);
/// The smallest value with at least `percent` of the values at or below it; `values` must be sorted and not empty.
[[nodiscard]] double percentile(const std::vector<double>& values, double percent);
/// Jain's index: 1 if all are equal, 1/n if one has everything.
[[nodiscard]] double jain_index(const std::vector<double>& values);

}  // namespace simverbs::fidelity
