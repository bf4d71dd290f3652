#include "scenarios/run/build_adapters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/build/complex_hosts.hpp"
#include "scenarios/build/lab_builder.hpp"

namespace simverbs::scenarios::run {

namespace {

/// A host of a fabric, which its topology names and one description stands for.
HostSpec fabric_host(const ScenarioSpec& spec, const std::string& name) {
    HostSpec host = spec.topology.host;
    host.name = name;
    if (host.nics.size() > 1) host.nics.resize(1);
    for (NicSpec& nic : host.nics) nic.ports = 1;
    return host;
}

/// Which host each program runs on; nothing for one that is not there.
std::vector<std::optional<uint32_t>> hosts_of_programs(const ScenarioSpec& spec, const BuiltTopology& topology,
                                                       DiagnosticSink& sink) {
    std::vector<std::optional<uint32_t>> hosts;
    for (const ProgramSpec& program : spec.programs) {
        std::optional<uint32_t> found;
        if (spec.topology.is_fabric) {
            found = topology.find_host(program.host.text);
        } else if (const int index = spec.lab.find_host(program.host.text); index >= 0) {
            found = static_cast<uint32_t>(index);
        }
        hosts.push_back(found);
        if (!found && !program.host.text.empty()) report_unknown_place(topology, program.host, "host", sink);
    }
    return hosts;
}

class AdapterMaker {
  public:
    AdapterMaker(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink)
        : spec_(spec), topology_(topology), sink_(sink) {}

    BuiltAdapters make() {
        const auto hosts = hosts_of_programs(spec_, topology_, sink_);
        const bool is_fabric = spec_.topology.is_fabric;
        const size_t count = is_fabric ? topology_.topology.hosts.size() : spec_.lab.hosts.size();
        if (count > kMostHostsOfPrograms)
            sink_.add(spec_.topology.position, spec_.topology.path,
                      fmt::format("{} hosts are more than programs can know", count),
                      fmt::format("at most {} hosts in a scenario with programs", kMostHostsOfPrograms));
        if (count > kMostHostsOfPrograms) return {};
        std::vector<bool> has_programs(count, false);
        for (const std::optional<uint32_t>& host : hosts) {
            built_.of_programs.push_back(host.value_or(0));
            if (host) has_programs[*host] = true;
        }
        for (uint32_t i = 0; i < count; ++i) {
            const HostSpec host = is_fabric ? fabric_host(spec_, topology_.topology.hosts[i].name) : spec_.lab.hosts[i];
            ProgramHost to{host.name, host_address(host, i), {}, {}};
            if (has_programs[i]) add_adapters_of(host, i, to);
            // One description stands for all hosts of a fabric: its mistakes are told once.
            if (!is_fabric || i == 0) check_inside(host, sink_);
            built_.hosts.push_back(std::move(to));
        }
        place_ports();
        return std::move(built_);
    }

  private:
    void add_adapters_of(const HostSpec& host, uint32_t index, ProgramHost& to) {
        std::vector<fabric::NicSpec> nics;
        const HostAddresses addresses = add_adapters(host, index, nics, built_.profiles, sink_);
        nics.resize(host.nics.size());  // of one whose profile is not known: so that its ports are counted
        first_adapter_.resize(index + 1);
        first_adapter_[index] = static_cast<uint32_t>(built_.adapters.size());
        if (host.inside != nullptr) {
            to.inside = host.inside;
            built_.complex_hosts.push_back(complex_host(host, first_adapter_[index]));
            built_.host_of_complex.push_back(index);
        }
        for (size_t n = 0; n < nics.size(); ++n) {
            to.nics.push_back({host.nics[n].device, addresses.netdevs[n], static_cast<uint32_t>(built_.adapters.size()),
                               host.nics[n].ports});
            built_.adapters.push_back(
                {std::move(nics[n]),
                 std::vector<flow::HostIndex>(static_cast<size_t>(host.nics[n].ports), FabricAdapter::kNoCable)});
        }
    }

    /// The topology's hosts are the adapters' ports that have cables.
    void place_ports() {
        for (flow::HostIndex i = 0; i < topology_.host_ports.size(); ++i) {
            const HostPort& at = topology_.host_ports[i];
            if (built_.hosts[at.host].nics.empty()) continue;
            built_.adapters[first_adapter_[at.host] + at.nic].hosts[static_cast<size_t>(at.port) - 1] = i;
        }
    }

    const ScenarioSpec& spec_;
    const BuiltTopology& topology_;
    DiagnosticSink& sink_;
    std::vector<uint32_t> first_adapter_;  ///< by host with programs
    BuiltAdapters built_;
};

}  // namespace

BuiltAdapters build_adapters(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink) {
    if (spec.programs.empty()) return {};
    return AdapterMaker(spec, topology, sink).make();
}

}  // namespace simverbs::scenarios::run
