// Where the simulated adapters sit on PCI.
#pragma once

namespace simverbs::protocol {

/// "SV": a domain that no real machine's devices are in, so that what a program finds below /sys/devices and
/// /sys/bus/pci/devices by an adapter's address is the adapter.
#define SIMVERBS_PCI_DOMAIN "5356"
inline constexpr char kPciDomain[] = SIMVERBS_PCI_DOMAIN;

}  // namespace simverbs::protocol
