// Finds what an expectation speaks of in a run's result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scenarios/lang/expectation_spec.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::expect {

/// Numbers of flows, ports, …; or why there are none.
struct Selection {
    std::vector<uint32_t> numbers;
    std::string problem;  ///< "there is no switch 'tor9'; did you mean 'tor0'?"
};

/// Refers to the result, which must outlive it. What is found does not change while the result's names, flows and
/// samples stay.
class ResultIndex {
  public:
    explicit ResultIndex(const run::RunResult& result);

    [[nodiscard]] const run::RunResult& result() const noexcept { return result_; }

    /// Measured flows of a Run, Group, Flow or Host (those from it and to it).
    [[nodiscard]] Selection flows(const Selector& selector) const;
    /// Ports of a Run, Host, Switch, Link (both ends), Port or Queue. A place may be a port, a host or a switch.
    [[nodiscard]] Selection ports(const Selector& selector) const;
    /// Links of a Host or Link ("tor0/1": by one of its ends; "tor0/1 - agg0/2": by both, in any order).
    [[nodiscard]] Selection links(const Selector& selector) const;
    /// PCIe links of a Run, Host or Slot ("h0/nic0").
    [[nodiscard]] Selection pcie_links(const Selector& selector) const;
    /// Switches of a Run or Switch.
    [[nodiscard]] Selection switches(const Selector& selector) const;
    /// Groups of a Run or Group.
    [[nodiscard]] Selection groups(const Selector& selector) const;

    /// The samples of a port, switch or flow; nullptr if it was not sampled.
    [[nodiscard]] const run::PortSamples* port_samples(uint32_t port) const;
    [[nodiscard]] const run::SwitchSamples* switch_samples(uint32_t node) const;
    [[nodiscard]] const run::FlowSamples* flow_samples(uint32_t flow) const;
    /// Which sample was taken at this very instant.
    [[nodiscard]] std::optional<std::size_t> sample_at(sim::SimTime time) const;

    /// "flow websearch[3], h3 → h77, 1.2 MB".
    [[nodiscard]] std::string flow_text(uint32_t flow) const;

  private:
    using Numbers = std::unordered_map<std::string_view, uint32_t>;

    [[nodiscard]] Selection place(std::string_view name) const;
    [[nodiscard]] Selection ports_of(uint32_t node, bool is_switch) const;
    [[nodiscard]] Selection one_flow(const Selector& selector) const;
    [[nodiscard]] Selection unknown(SelectorKind kind, std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> names_of(SelectorKind kind) const;

    const run::RunResult& result_;
    Numbers groups_, hosts_, switches_, ports_, pcie_links_;
    std::unordered_map<uint32_t, std::size_t> port_samples_, switch_samples_, flow_samples_;
};

}  // namespace simverbs::scenarios::expect
