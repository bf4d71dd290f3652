// The host as PCI software sees it: addresses of ports and devices, buses, links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/host/host_complex.hpp"
#include "models/host/platform_spec.hpp"

namespace simverbs::host {

struct PciAddress {
    uint16_t domain = 0;
    uint8_t bus = 0, device = 0, function = 0;
    [[nodiscard]] bool operator==(const PciAddress&) const noexcept = default;
};

/// "0000:17:00.0".
[[nodiscard]] std::string to_string(const PciAddress& a);

/// A PCI function: a port of a bridge or switch, or a device.
struct PciFunction {
    enum class Kind : uint8_t { RootPort, UpstreamPort, DownstreamPort, Nic, Gpu };
    Kind kind = Kind::RootPort;
    PciAddress address;
    std::optional<uint32_t> above;        ///< the port that it is below, by its place in the list; root ports have none
    uint16_t index = 0;                   ///< of its host bridge, its switch, or among the adapters or GPUs
    uint8_t first_bus = 0, last_bus = 0;  ///< ports: what is below them (secondary and subordinate bus)
    /// The link above it; for root and downstream ports the link below. What it can do, and what it has trained to.
    pcie::LinkSpec capable, trained;
};

/// All functions, in the order of a depth-first enumeration as firmware does it: each before what is below it. The host
/// bridges share the 256 buses of domain 0 evenly; where that is not enough, each has a domain of its own.
[[nodiscard]] std::vector<PciFunction> pci_functions(const PlatformSpec& platform);

/// The address of an adapter or a GPU.
[[nodiscard]] PciAddress address_of(const std::vector<PciFunction>& functions, const PlatformSpec& platform,
                                    AgentId agent);

/// What lspci -vv says of a function's link: "LnkCap: …" and "LnkSta: …", with what is downgraded.
[[nodiscard]] std::string link_text(const PciFunction& f);

}  // namespace simverbs::host
