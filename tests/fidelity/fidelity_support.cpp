#include "tests/fidelity/fidelity_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/run/build_fabric.hpp"

namespace simverbs::fidelity {

using scenarios::ScenarioSpec;
using scenarios::run::RunResult;

namespace {

/// First and last sample of a window.
struct SampleRange {
    size_t first = 0;
    size_t last = 0;
};

SampleRange samples_in(const RunResult& result, Window window) {
    SampleRange range;
    const auto& times = result.sample_times;
    range.first = static_cast<size_t>(std::ranges::lower_bound(times, window.from) - times.begin());
    range.last = static_cast<size_t>(std::ranges::upper_bound(times, window.until) - times.begin());
    if (range.last > 0) --range.last;
    EXPECT_LT(range.first, range.last) << "nothing was sampled in the window";
    return range;
}

double seconds_of(const RunResult& result, SampleRange range) {
    return (result.sample_times[range.last] - result.sample_times[range.first]).in_s();
}

const scenarios::run::PortSamples* samples_of_port(const RunResult& result, std::string_view name) {
    const uint32_t port = port_named(result, name);
    for (const auto& s : result.port_samples)
        if (s.port == port) return &s;
    ADD_FAILURE() << name << " was not sampled";
    return nullptr;
}

const scenarios::run::FlowSamples* samples_of_flow(const RunResult& result, uint32_t flow) {
    for (const auto& s : result.flow_samples)
        if (s.flow == flow) return &s;
    ADD_FAILURE() << "flow " << flow << " was not sampled";
    return nullptr;
}

std::vector<ScenarioSpec> runs_or_failure(std::optional<std::vector<ScenarioSpec>> runs,
                                          const scenarios::DiagnosticSink& sink) {
    EXPECT_EQ(sink.to_string(), "");
    return runs ? std::move(*runs) : std::vector<ScenarioSpec>();
}

}  // namespace

std::vector<ScenarioSpec> load_text(std::string_view text, std::vector<std::string> settings) {
    scenarios::ScenarioOptions options = scenarios::run::scenario_options();
    options.settings = std::move(settings);
    scenarios::DiagnosticSink sink;
    auto runs = scenarios::parse_scenario(text, "test.yaml", options, sink);
    return runs_or_failure(std::move(runs), sink);
}

std::vector<ScenarioSpec> load_library(const std::string& file, std::vector<std::string> settings) {
    scenarios::ScenarioOptions options = scenarios::run::scenario_options();
    options.settings = std::move(settings);
    scenarios::DiagnosticSink sink;
    auto runs = scenarios::load_scenario(SIMVERBS_SCENARIO_LIBRARY "/" + file, options, sink);
    return runs_or_failure(std::move(runs), sink);
}

RunResult run(const ScenarioSpec& spec, const Watched& watched) {
    scenarios::DiagnosticSink sink;
    auto built = scenarios::run::build_scenario(spec, sink);
    EXPECT_EQ(sink.to_string(), "");
    if (!built) return {};
    RunResult parts = scenarios::run::describe(spec, *built);
    scenarios::run::Sampling sampling;
    sampling.interval = watched.interval;
    for (const std::string& name : watched.ports) {
        const auto& link = parts.links[parts.ports[port_named(parts, name)].link];
        sampling.ports.insert(sampling.ports.end(), {link.a, link.b});
    }
    for (uint32_t i = 0; watched.all_flows && i < parts.flows.size(); ++i) sampling.flows.push_back(i);
    return scenarios::run::run_scenario(spec, *built, std::move(parts), sampling);
}

uint32_t port_named(const RunResult& result, std::string_view name) {
    for (uint32_t i = 0; i < result.ports.size(); ++i)
        if (result.ports[i].name == name) return i;
    ADD_FAILURE() << "no port " << name;
    return 0;
}

std::string port_towards(const RunResult& result, std::string_view host) {
    for (const auto& h : result.hosts) {
        if (h.name != host) continue;
        const auto& link = result.links[result.ports[h.port].link];
        return result.ports[link.a == h.port ? link.b : link.a].name;
    }
    ADD_FAILURE() << "no host " << host;
    return "";
}

double mean_queue_bytes(const RunResult& result, std::string_view port, Window window) {
    const auto* samples = samples_of_port(result, port);
    if (samples == nullptr) return 0;
    const SampleRange range = samples_in(result, window);
    double sum = 0;
    for (size_t i = range.first; i < range.last; ++i)
        for (const sim::ByteCount bytes : samples->counts[i].queue) sum += static_cast<double>(bytes);
    return sum / static_cast<double>(range.last - range.first);
}

double utilisation(const RunResult& result, std::string_view port, Window window) {
    const auto* samples = samples_of_port(result, port);
    if (samples == nullptr) return 0;
    const SampleRange range = samples_in(result, window);
    const auto bytes =
        static_cast<double>(samples->counts[range.last].tx_bytes - samples->counts[range.first].tx_bytes);
    return bytes * 8 / seconds_of(result, range) / static_cast<double>(result.ports[samples->port].rate.in_bps());
}

double goodput_gbps(const RunResult& result, uint32_t flow, Window window) {
    const auto* samples = samples_of_flow(result, flow);
    if (samples == nullptr) return 0;
    const SampleRange range = samples_in(result, window);
    const auto bytes = static_cast<double>(samples->delivered[range.last] - samples->delivered[range.first]);
    return bytes * 8e-9 / seconds_of(result, range);
}

double mean_rate_gbps(const RunResult& result, uint32_t flow, Window window) {
    const auto* samples = samples_of_flow(result, flow);
    if (samples == nullptr) return 0;
    const SampleRange range = samples_in(result, window);
    double sum = 0;
    for (size_t i = range.first; i < range.last; ++i) sum += static_cast<double>(samples->rate[i].in_bps());
    return sum * 1e-9 / static_cast<double>(range.last - range.first);
}

uint64_t drops(const RunResult& result) {
    uint64_t sum = 0;
    for (const auto& p : result.ports) sum += p.end.drops;
    return sum;
}

uint64_t pauses(const RunResult& result) {
    uint64_t sum = 0;
    for (const auto& p : result.ports) sum += p.end.pauses_sent;
    return sum;
}

double slowdown(const scenarios::run::FlowRecord& flow) {
    return static_cast<double>((flow.acknowledged - flow.started).in_ps()) / static_cast<double>(flow.ideal.in_ps());
}

double percentile(const std::vector<double>& values, double percent) {
    const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
    return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

double jain_index(const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (const double v : values) {
        sum += v;
        squares += v * v;
    }
    return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 0;
}

}  // namespace simverbs::fidelity
