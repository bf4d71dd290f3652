// From a scenario to a fabric that can run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "models/hca/host_sink.hpp"
#include "models/host/payload_mover.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_adapters.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/build_workloads.hpp"
#include "scenarios/run/faulty_port.hpp"
#include "scenarios/run/flow_capture.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/run/run_result.hpp"
#include "scenarios/run/slot_fault.hpp"

namespace simverbs::scenarios::run {

/// A port of an adapter whose frames are wanted.
struct CapturedAdapterPort {
    std::string host;
    std::string device;
    uint32_t adapter = 0;
    int port = 1;
};

/// Everything of one run.
struct BuiltScenario {
    BuiltTopology topology;
    std::vector<GroupRecord> groups;
    std::vector<FaultRecord> faults;
    std::vector<FaultyPort> faulty_ports;
    std::vector<SlotFault> slot_faults;
    ServiceCodes codes;  ///< for captures
    std::unique_ptr<cc::CongestionControl> cc;
    /// What programs see; adapters have moved on into `config`.
    BuiltAdapters adapters;
    std::vector<CapturedAdapterPort> captures;
    flow::FlowPlan plan;
    FlowFabricConfig config;
    std::unique_ptr<FlowFabric> fabric;  ///< null until make_fabric
};

/// The programs' side of the adapters: their memory, and who hears what the NIC of a host has done.
struct ProgramSide {
    host::HostMemory* memory = nullptr;
    std::function<hca::HostSink*(uint32_t host, uint32_t nic)> sink;
};

/// What of a scenario can be relied on, if something in its file is wrong.
struct KnownParts {
    bool has_network = true;  ///< hosts, switches and cables
    bool has_values = true;   ///< and what they are like, the transport and the workloads
};

/// All that must be there before the fabric. Everything that keeps the scenario from running goes to the sink, each
/// part being looked at whatever is wrong with the others. Spec and sink must outlive it.
class ScenarioPlan {
  public:
    ScenarioPlan(const ScenarioSpec& spec, const KnownParts& known, DiagnosticSink& sink);

    /// Null if the network is not known.
    [[nodiscard]] const BuiltTopology* topology() const { return topology_ ? &*topology_ : nullptr; }
    [[nodiscard]] const BuiltWorkloads& workloads() const { return workloads_; }
    [[nodiscard]] const BuiltAdapters& adapters() const { return built_.adapters; }
    /// nullopt if there was a problem.
    [[nodiscard]] std::optional<BuiltScenario> take();

  private:
    void check_hosts(DiagnosticSink& sink) const;
    void check_use_of_platforms(DiagnosticSink& sink) const;

    const ScenarioSpec& spec_;
    size_t reports_before_;
    DiagnosticSink& sink_;
    std::optional<BuiltTopology> topology_;
    BuiltWorkloads workloads_;
    BuiltScenario built_;
};

/// All but the fabric itself, where programs must be there before it. Every problem goes to `sink`; nullopt if
/// there was any. `spec` must outlive the result.
[[nodiscard]] std::optional<BuiltScenario> plan_scenario(const ScenarioSpec& spec, DiagnosticSink& sink);
/// Uses up plan and config.
void make_fabric(BuiltScenario& built, const ProgramSide& programs = {});
/// Both, for a scenario without programs.
[[nodiscard]] std::optional<BuiltScenario> build_scenario(const ScenarioSpec& spec, DiagnosticSink& sink);

/// What the language must know to read scenarios: profiles and congestion control algorithms.
[[nodiscard]] ScenarioOptions scenario_options();

}  // namespace simverbs::scenarios::run
