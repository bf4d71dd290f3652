// What every workload has, and how its flows get into a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "sim/rng.hpp"

namespace simverbs::scenarios::workloads {

/// Everything that is wrong with a workload's parameters; empty: its flows are in the plan. `Diagnostic::path` is the
/// parameter's name ("senders[3]"); file and place are the caller's to add.
using Problems = std::vector<Diagnostic>;

/// Most flows in one plan: 2 GiB of FlowSpec.
constexpr uint64_t kMaxFlows = uint64_t{1} << 26;
/// Most dependencies in one plan: 2 GiB.
constexpr uint64_t kMaxDependencies = uint64_t{1} << 28;

/// The last of 16 services: SLs, or numbers for DSCPs.
constexpr uint8_t kMaxPriority = 15;
/// Of files that know Ethernet alone: 802.1p priorities.
constexpr uint8_t kMaxEthernetPriority = 7;

/// Parameters of every workload.
struct WorkloadCommon {
    std::string name;         ///< its group in the plan; unique, because it keys the random draws
    uint32_t host_count = 0;  ///< hosts of the fabric
    uint64_t seed = 0;        ///< the scenario's
    sim::SimTime start;       ///< nothing starts earlier
    uint8_t priority = 3;     ///< 802.1p priority or SL
};

/// Draws of one part of one workload. A workload's draws depend on the seed and its own name alone.
[[nodiscard]] sim::Draws workload_draws(const WorkloadCommon& common, std::string_view part);

/// `count` hosts from `first` on.
[[nodiscard]] std::vector<flow::HostIndex> host_range(flow::HostIndex first, uint32_t count);

/// Checks parameters, collecting every problem, and then adds flows. Nothing may be added while there are problems.
class PlanWriter {
  public:
    /// Checks what is common.
    PlanWriter(flow::FlowPlan& plan, const WorkloadCommon& common);

    void add_problem(std::string parameter, std::string problem, std::string expected = {}, std::string hint = {});
    void check_host(std::string_view parameter, flow::HostIndex host);
    /// Each exists and none occurs twice; at least `at_least`.
    void check_hosts(std::string_view parameter, const std::vector<flow::HostIndex>& hosts, std::size_t at_least);
    /// At least 1.
    void check_positive(std::string_view parameter, int64_t value);
    void check_not_negative(std::string_view parameter, sim::SimTime value);
    /// Room for so many more flows and dependencies in the plan. `flows` may be an estimate beyond 2^64.
    void check_size(std::string_view parameter, double flows, double dependencies = 0);

    [[nodiscard]] bool has_problems() const noexcept { return !sink_.empty(); }
    [[nodiscard]] Problems problems() const { return sink_.sorted(); }

    /// Adds the group; then flows may be added.
    void begin(std::size_t expected_flows);
    flow::FlowIndex add(flow::HostIndex src, flow::HostIndex dst, sim::ByteCount bytes, sim::SimTime start);
    flow::FlowIndex add(const flow::FlowSpec& flow);
    void add_dependency(flow::FlowIndex before, flow::FlowIndex after);

  private:
    flow::FlowPlan& plan_;
    const WorkloadCommon& common_;
    DiagnosticSink sink_;
    uint32_t group_ = 0;
    bool is_open_ = false;
};

}  // namespace simverbs::scenarios::workloads
