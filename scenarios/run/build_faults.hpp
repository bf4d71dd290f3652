// From a scenario's faults to what the links do.
#pragma once

#include <vector>

#include "models/link/link_faults.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::run {

/// Faults of one link, by direction.
struct LinkFaultSet {
    std::vector<link::LinkFault> a_to_b;
    std::vector<link::LinkFault> b_to_a;
};

struct BuiltFaults {
    std::vector<LinkFaultSet> links;   ///< by link
    std::vector<FaultRecord> records;  ///< as the scenario lists them; LinkFault::path is the name
};

/// Problems go to `sink`.
[[nodiscard]] BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
