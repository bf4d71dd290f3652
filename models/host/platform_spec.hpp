// A host's inside as data: what a platform file says. Names are for people, indices are places in these lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/pcie/link_spec.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::host {

/// A piece of main memory with the cores next to it. MemoryId n is node n. Latencies: a 64 B DMA read through one link
/// and a bridge takes 550 ns, 70 ns less from the cache (pcie-bench on a Haswell).
struct NumaNodeSpec {
    std::string name;
    uint16_t socket = 0;
    uint64_t bytes = 64ULL << 30;
    sim::BitRate rate = sim::BitRate::gbps(1200);  ///< of its channels together, reading or writing
    uint64_t llc_bytes = 32ULL << 20;              ///< last-level cache, where DMA finds what was touched lately
    bool ddio = true;                              ///< DMA writes end in the cache, and do not wait for DRAM
    sim::SimTime llc_latency = sim::SimTime::ns(80);
    sim::SimTime dram_latency = sim::SimTime::ns(150);
};

/// What joins two NUMA nodes: an on-die fabric within a socket, UPI or xGMI between sockets. Where there is none
/// between two nodes, the way leads over others.
struct NumaLinkSpec {
    uint16_t a = 0, b = 0;
    sim::BitRate rate = sim::BitRate::gbps(320);      ///< in each direction
    sim::BitRate peer_rate = sim::BitRate::gbps(72);  ///< of that for TLPs from device to device
    sim::SimTime latency = sim::SimTime::ns(70);      ///< one way
};

/// A root complex as PCI sees it: a host bridge with root ports, next to a NUMA node.
struct HostBridgeSpec {
    std::string name;
    uint16_t numa_node = 0;
    sim::SimTime latency = sim::SimTime::ns(80);  ///< through it, one way
    uint16_t completion = 256;                    ///< bytes of data in a completion at most (as far as MPS lets it)
    /// TLPs from one of its root ports to another, or to another bridge's: what peers get without a common switch.
    sim::BitRate peer_write_rate = sim::BitRate::gbps(128);
    sim::BitRate peer_read_rate = sim::BitRate::gbps(88);
    bool peer_to_peer = true;  ///< false: it refuses them
};

/// Where the upper end of a link is: a root port of a host bridge, or a downstream port of a switch.
struct UpstreamSpec {
    enum class Kind : uint8_t { HostBridge, Switch } kind = Kind::HostBridge;
    uint16_t index = 0;
};

/// A PCIe switch. The switch above it is listed before it.
struct SwitchSpec {
    std::string name;
    UpstreamSpec upstream;
    pcie::LinkSpec slot;                           ///< its upstream link
    sim::SimTime latency = sim::SimTime::ns(110);  ///< through it and the link above it, one way
    bool acs = false;  ///< redirects requests between peers below it to the root (ACS P2P Request Redirect)
};

/// A place for a device, and the device as far as PCIe is concerned.
struct DeviceSlotSpec {
    std::string name;
    UpstreamSpec upstream;
    pcie::LinkSpec slot;                                ///< what the slot gives; the link trains to the smaller of both
    pcie::LinkSpec device;                              ///< what the device can do: the nominal case of its profile
    uint16_t max_read_request = 512;                    ///< MRRS
    sim::SimTime link_latency = sim::SimTime::ns(115);  ///< PHY, data link and transaction layers of both ends
    bool ats = false;                                   ///< asks the IOMMU itself and remembers (ATS)
};

/// An adapter's slot, in the order of the host's adapters: AgentId n is nics[n].
struct NicSlotSpec : DeviceSlotSpec {};

/// A GPU. AgentId of gpus[n] is nics.size() + n; MemoryId is numa_nodes.size() + n.
struct GpuSpec : DeviceSlotSpec {
    std::string model = "H100";
    uint64_t hbm_bytes = 80ULL << 30;
    sim::BitRate hbm_rate = sim::BitRate::gbps(24000);
    sim::SimTime hbm_latency = sim::SimTime::ns(170);  ///< of a read, from its PCIe end to memory and back
    uint64_t bar1_bytes = 128ULL << 30;
    sim::BitRate bar_read_rate = sim::BitRate::gbps(400);  ///< at which it answers peers' reads
    uint8_t copy_engines = 3;                              ///< host to device, device to host, peers
    /// What a copy of a few bytes takes from the call to its known end: 6…7 us (NVIDIA/gdrcopy README).
    sim::SimTime copy_overhead = sim::SimTime::ns(6500);
    sim::SimTime copy_gap = sim::SimTime::ns(1200);  ///< between two copies of one engine, in a row
};

/// NVLinks between two GPUs, without a switch.
struct NvLinkSpec {
    uint16_t a = 0, b = 0;
    uint8_t links = 1;
};

/// The NVLinks of a host.
struct NvLinkFabricSpec {
    std::vector<NvLinkSpec> links;                         ///< between pairs
    uint8_t switched_links = 0;                            ///< of each GPU to NVSwitches that join all; 0: none
    sim::BitRate link_rate = sim::BitRate::mbps(164'800);  ///< usable of one link in one direction
    sim::SimTime latency = sim::SimTime::ns(700);          ///< of a store to a peer's memory
    sim::SimTime switch_latency = sim::SimTime::ns(200);   ///< more through an NVSwitch
};

/// Address translation between PCIe and memory.
struct IommuSpec {
    bool enabled = false;
    uint32_t entries = 64;        ///< of a host bridge's translation cache
    uint32_t ats_entries = 1024;  ///< of a device's own, if it has ATS
    uint64_t page_bytes = 4096;
    uint32_t walkers = 4;                       ///< walks at a time
    sim::SimTime miss = sim::SimTime::ns(330);  ///< a walk
};

/// A CPU's stores and loads to devices.
struct CpuSpec {
    sim::SimTime bridge_latency = sim::SimTime::ns(40);  ///< from the core to the host bridge
    sim::SimTime store_issue = sim::SimTime::ns(85);     ///< call and fence of a copy through write-combining stores
    sim::BitRate store_rate = sim::BitRate::gbps(160);   ///< at which a core fills its write-combining buffers
    uint32_t write_combining = 256;                      ///< bytes in them that the core does not wait for
};

/// Length of one of a platform's lists, which check_platform limits: places in them have 16 bits.
template <class List>
[[nodiscard]] uint16_t count_of(const List& list) noexcept {
    return static_cast<uint16_t>(list.size());
}
inline constexpr uint16_t kMostInAList = 256;

/// One host.
struct PlatformSpec {
    std::string name;
    std::string description;
    std::vector<NumaNodeSpec> numa_nodes;
    std::vector<NumaLinkSpec> numa_links;
    std::vector<HostBridgeSpec> bridges;
    std::vector<SwitchSpec> switches;
    std::vector<NicSlotSpec> nics;
    std::vector<GpuSpec> gpus;
    NvLinkFabricSpec nvlink;
    IommuSpec iommu;
    CpuSpec cpu;
};

}  // namespace simverbs::host
