// From a scenario's faults to what the links and the adapters' ports do.
#pragma once

#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_adapters.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/build_workloads.hpp"
#include "scenarios/run/faulty_port.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/run/run_result.hpp"
#include "scenarios/run/slot_fault.hpp"

namespace simverbs::scenarios::run {

struct BuiltFaults {
    std::vector<FabricFault> links;
    std::vector<FaultyPort> ports;
    std::vector<FabricStorm> storms;
    std::vector<SlotFault> slots;
    std::vector<FaultRecord> records;  ///< as the scenario lists them; LinkFault::path is the name
};

/// Problems go to `sink`. What a fault that is not complete leaves open is not reported again.
[[nodiscard]] BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology,
                                       const BuiltAdapters& adapters, const BuiltWorkloads& workloads,
                                       DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
