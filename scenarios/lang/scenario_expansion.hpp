// From the text of a scenario to one tree for each of its runs: includes, settings from outside, sweeps, parameters.
// Internal to scenarios/lang.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/yaml_tree.hpp"

namespace simverbs::scenarios {

struct ExpandedRun {
    YamlPtr root;
    std::vector<std::pair<std::string, std::string>> settings;  ///< what the sweep sets
};

/// `root` (includes already merged) as its runs; empty after a report.
[[nodiscard]] std::vector<ExpandedRun> expand_scenario(const YamlPtr& root, const std::vector<std::string>& settings,
                                                       DiagnosticSink& sink);

}  // namespace simverbs::scenarios
