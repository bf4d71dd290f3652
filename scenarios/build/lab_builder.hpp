// From a checked LabSpec to what the models and the server are built from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/fabric_spec.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_spec.hpp"

namespace simverbs::scenarios {

/// Addresses of one host, as programs see them.
struct HostAddresses {
    uint32_t ipv4 = 0;                 ///< of its first port, host byte order
    std::vector<std::string> netdevs;  ///< one for each NIC: "eth0", "ib0"
    uint32_t first_nic = 0;            ///< where its adapters begin among all
};

struct BuiltLab {
    fabric::FabricSpec fabric;
    std::vector<HostAddresses> hosts;
    /// Profiles with the lab's parameters; the fabric points to them.
    std::vector<std::unique_ptr<hca::DeviceProfile>> profiles;
};

/// IPv4 address of a host's first port, host byte order. `index`: of the host among all.
[[nodiscard]] uint32_t host_address(const HostSpec& host, uint32_t index);

/// Adds a host's adapters, without LIDs and with the rates of their profiles, and their profiles, to which they point.
/// `index`: of the host among all; addresses follow from it as build_lab says.
HostAddresses add_adapters(const HostSpec& host, uint32_t index, std::vector<fabric::NicSpec>& nics,
                           std::vector<std::unique_ptr<hca::DeviceProfile>>& profiles, DiagnosticSink& sink);

/// Host i is 10.0.hi.lo with hi.lo = i + 1; the k-th port of a host (from 0) is 10.k.hi.lo. nullopt after a diagnostic:
/// a wrong profile parameter, an address outside 10.0.0.0/8.
[[nodiscard]] std::optional<BuiltLab> build_lab(const LabSpec& lab, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
