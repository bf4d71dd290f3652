// Statements as a scenario has them, evaluated on hand-made results.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/expect/evaluate.hpp"
#include "tests/unit/scenarios/expect/run_result_samples.hpp"
#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios::testing {

/// The statements as the expectations of a scenario whose workloads are those of sample_result, on a generated fabric
/// (whose names the language does not know).
inline std::vector<ExpectationSpec> expectations_of(const std::vector<std::string>& statements) {
    std::string text =
        "name: star\n"
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
        "nic: ideal\n"
        "link: {rate: 100 Gb/s, delay: 1 us}\n"
        "workloads:\n"
        "  - {name: web, kind: poisson, cdf: websearch, load: 30 %, until: 1 ms}\n"
        "  - {name: inc, kind: incast, senders: 2, receiver: h3, bytes: 1 MB}\n"
        "  - {name: ring, kind: ring_all_reduce, bytes: 1 MB}\n"
        "faults:\n"
        "  - {name: flap, link: h0, down: {from: 1 ms, until: 2 ms}}\n"
        "  - {name: ghost, link: h1, down: {from: 1 ms, until: 2 ms}}\n"
        "run: {until: 10 ms}\n"
        "expectations:\n";
    for (const std::string& statement : statements) text += "  - \"" + statement + "\"\n";
    return load_one(text).expectations;
}

inline expect::ExpectationVerdict verdict_on(const run::RunResult& result, const std::string& statement) {
    const auto expectations = expectations_of({statement});
    if (expectations.empty()) return {};
    return expect::evaluate(expectations, result).front();
}

}  // namespace simverbs::scenarios::testing
