// A simulated host's PCI functions and NUMA nodes, as its commands (lspci, setpci, numactl) get them from the server: a
// file of records, which GpuCall::PciFunctions and GpuCall::NumaNodes hand over.
#pragma once

#include <cstdint>

namespace simverbs::protocol {

enum class PciKind : uint32_t { RootPort, UpstreamPort, DownstreamPort, Nic, Gpu };

/// Bits of the register ACS Control (PCIe base specification, "ACS Control Register").
enum AcsControl : uint32_t {
    kAcsSourceValidation = 0x01,
    kAcsTranslationBlocking = 0x02,
    kAcsRequestRedirect = 0x04,
    kAcsCompletionRedirect = 0x08,
    kAcsUpstreamForwarding = 0x10,
    kAcsEgressControl = 0x20,
    kAcsDirectTranslated = 0x40,
};
/// What switches' downstream ports can do, and what a kernel turns on of it.
inline constexpr uint32_t kAcsCapable = kAcsSourceValidation | kAcsTranslationBlocking | kAcsRequestRedirect |
                                        kAcsCompletionRedirect | kAcsUpstreamForwarding | kAcsDirectTranslated;
inline constexpr uint32_t kAcsUsual =
    kAcsSourceValidation | kAcsRequestRedirect | kAcsCompletionRedirect | kAcsUpstreamForwarding;

struct PciInfo {
    PciKind kind = PciKind::RootPort;
    uint32_t above = UINT32_MAX;  ///< the port that it is below, by its place in the file; root ports have none
    uint32_t index = 0;           ///< of its host bridge, its switch, or among the adapters or GPUs
    uint32_t domain = 0, bus = 0, device = 0, function = 0;
    uint32_t first_bus = 0, last_bus = 0;  ///< ports: what is below
    int32_t numa_node = -1;
    uint32_t max_payload = 0, max_read_request = 0;
    uint32_t acs_control = 0;  ///< downstream ports: the register
    char slot[32] = {};        ///< the platform's name: of the device's slot, the switch, the bridge
    char product[64] = {};
    char device_name[32] = {};  ///< adapters: of the RDMA device
    char link[160] = {};        ///< lines "LnkCap: …" and "LnkSta: …"
};

struct NumaInfo {
    uint32_t socket = 0, pad = 0;
    uint64_t bytes = 0;
};

/// Environment of programs that numactl starts: "CPU,MEMORY", each a node or '-'.
inline constexpr char kEnvNuma[] = "SIMVERBS_NUMA";

}  // namespace simverbs::protocol
