// From a scenario's programs to the adapters of their hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/hca/device_profile.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/flow_fabric.hpp"

namespace simverbs::scenarios::run {

/// A host as programs see it.
struct ProgramHost {
    std::string name;
    uint32_t address = 0;  ///< IPv4, host byte order
    struct Nic {
        std::string device;    ///< "mlx5_0"
        std::string netdev;    ///< "eth0"
        uint32_t adapter = 0;  ///< in FlowFabricConfig::adapters
        int ports = 1;
    };
    std::vector<Nic> nics;                     ///< empty: its ports have flows, no programs
    std::shared_ptr<const HostInside> inside;  ///< null: it is ideal
};

struct BuiltAdapters {
    std::vector<ProgramHost> hosts;     ///< all of the scenario; empty if it has no programs
    std::vector<uint32_t> of_programs;  ///< by program: its host
    std::vector<FabricAdapter> adapters;
    std::vector<std::unique_ptr<hca::DeviceProfile>> profiles;  ///< the adapters'
    /// Hosts with programs whose inside is simulated, and which of `hosts` each is.
    std::vector<fabric::HostSpec> complex_hosts;
    std::vector<uint32_t> host_of_complex;
};

/// Programs know at most that many hosts.
inline constexpr size_t kMostHostsOfPrograms = 4096;

/// Every host that has a program gets its adapters. Problems go to `sink`; names of hosts that are there can be relied
/// on all the same.
[[nodiscard]] BuiltAdapters build_adapters(const ScenarioSpec& spec, const BuiltTopology& topology,
                                           DiagnosticSink& sink);

}  // namespace simverbs::scenarios::run
