// Scenarios from text to verdicts, as `simverbs run` does it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/expect/evaluate.hpp"
#include "scenarios/expect/sampling_wanted.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/run/run_scenario.hpp"

namespace simverbs::scenarios::testing {

struct Outcome {
    std::string problems;  ///< of loading or building; the rest is empty then
    run::RunResult result;
    std::vector<expect::ExpectationVerdict> verdicts;

    /// The sentences of what was not met, one a line.
    [[nodiscard]] std::string failures() const {
        std::string out = problems;
        for (const expect::ExpectationVerdict& v : verdicts)
            if (v.outcome != expect::Outcome::Passed) out += v.sentence + "\n";
        return out;
    }
    [[nodiscard]] const run::FlowRecord& flow(size_t index) const { return result.flows.at(index); }
    [[nodiscard]] const run::PortRecord& port(std::string_view name) const {
        for (const run::PortRecord& p : result.ports)
            if (p.name == name) return p;
        ADD_FAILURE() << "no port " << name;
        return result.ports.front();
    }
};

inline Outcome run_spec(const ScenarioSpec& spec) {
    Outcome out;
    DiagnosticSink sink;
    auto built = run::build_scenario(spec, sink);
    if (!built) {
        out.problems = sink.to_string();
        return out;
    }
    auto described = run::describe(spec, *built);
    const expect::SamplingWanted wanted = expect::sampling_wanted(spec.expectations);
    const expect::SampledParts parts = expect::sampled_parts(wanted, described);
    run::Sampling sampling;
    sampling.instants = wanted.instants;
    sampling.ports = parts.ports;
    sampling.switches = parts.switches;
    sampling.flows = parts.flows;
    if (wanted.needs_interval) sampling.interval = wanted.interval.value_or(run::kSampleInterval);
    out.result = run::run_scenario(spec, *built, std::move(described), sampling);
    out.verdicts = expect::evaluate(spec.expectations, out.result);
    return out;
}

/// The only run of a scenario.
inline Outcome run_text(std::string_view text, std::vector<std::string> settings = {}) {
    ScenarioOptions options = run::scenario_options();
    options.settings = std::move(settings);
    DiagnosticSink sink;
    const auto runs = parse_scenario(text, "s.yaml", options, sink);
    if (runs && runs->size() == 1) return run_spec(runs->front());
    Outcome out;
    out.problems = sink.to_string();
    return out;
}

}  // namespace simverbs::scenarios::testing
