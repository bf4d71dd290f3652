// A host's inside as data: what a platform file says. Names are for people, indices are places in these lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/pcie/link_spec.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::host {

/// A piece of main memory with the cores next to it. MemoryId n is node n.
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
    sim::BitRate rate = sim::BitRate::gbps(320);  ///< per direction
    sim::SimTime latency = sim::SimTime::ns(110);
};

/// A root complex as PCI sees it: a host bridge with root ports, next to a NUMA node.
struct HostBridgeSpec {
    std::string name;
    uint16_t numa_node = 0;
    sim::SimTime latency = sim::SimTime::ns(70);  ///< through it, one way
    /// TLPs from one of its root ports to another, or to another bridge's: what peers get without a common switch.
    sim::BitRate peer_write_rate = sim::BitRate::gbps(128);
    sim::BitRate peer_read_rate = sim::BitRate::gbps(88);
    bool peer_to_peer = true;  ///< false: it drops them, as some do between their root ports
};

/// Where the upper end of a link is: a root port of a host bridge, or a downstream port of a switch.
struct UpstreamSpec {
    enum class Kind : uint8_t { HostBridge, Switch } kind = Kind::HostBridge;
    uint16_t index = 0;
};

/// What a slot allows: the link trains to the smaller of this and what is in it.
using SlotSpec = pcie::LinkSpec;

/// A PCIe switch. Its upstream is listed before it.
struct SwitchSpec {
    std::string name;
    UpstreamSpec upstream;
    SlotSpec slot;
    sim::SimTime latency = sim::SimTime::ns(110);  ///< through it, one way
    bool acs = false;  ///< redirects requests of peers below it to the root (ACS P2P Request Redirect)
};

/// A place for a device.
struct DeviceSlotSpec {
    std::string name;
    UpstreamSpec upstream;
    SlotSpec slot;          ///< what the slot gives: degraded ones less than `device`
    pcie::LinkSpec device;  ///< what the device can do: the nominal case of its profile
    uint16_t max_read_request = 512;
    sim::SimTime link_latency = sim::SimTime::ns(110);  ///< PHY, data link and transaction layers of both ends
    bool ats = false;                                   ///< translates by itself, with a cache (needs an IOMMU)
};

/// An adapter's slot, in the order of the host's adapters. AgentId n is nics[n].
struct NicSlotSpec : DeviceSlotSpec {};

/// A GPU. AgentId of gpus[n] is nics.size() + n; MemoryId is numa_nodes.size() + n.
struct GpuSpec : DeviceSlotSpec {
    std::string model = "H100";
    uint64_t hbm_bytes = 80ULL << 30;
    sim::BitRate hbm_rate = sim::BitRate::gbps(24000);
    sim::SimTime hbm_latency = sim::SimTime::ns(350);  ///< from its PCIe end to memory and back
    uint64_t bar1_bytes = 128ULL << 30;
    sim::BitRate bar_read_rate = sim::BitRate::gbps(400);  ///< at which it answers peers' reads of its BAR
    uint8_t copy_engines = 2;
    /// A copy of few bytes takes this from the call to its end: launch, engine, notice.
    sim::SimTime copy_overhead = sim::SimTime::ns(6500);
    sim::SimTime copy_gap = sim::SimTime::ns(1200);  ///< between two copies of one engine
    uint16_t numa_node = 0;                          ///< its CPU affinity, for programs that ask
};

/// NVLinks between two GPUs, directly.
struct NvLinkSpec {
    uint16_t a = 0, b = 0;
    uint8_t links = 1;
};

/// How all NVLinks of a host run, and whether NVSwitches join all GPUs.
struct NvLinkFabricSpec {
    std::vector<NvLinkSpec> links;                        ///< between pairs
    uint8_t switched_links = 0;                           ///< of each GPU to the NVSwitches; 0: there are none
    sim::BitRate link_rate = sim::BitRate::mbps(164800);  ///< usable of one link in one direction
    sim::SimTime latency = sim::SimTime::ns(700);         ///< of a store to a peer's memory
    sim::SimTime switch_latency = sim::SimTime::ns(200);  ///< more through an NVSwitch
};

/// Address translation between PCIe and memory.
struct IommuSpec {
    bool enabled = false;
    uint32_t entries = 64;        ///< of a host bridge's translation cache
    uint32_t ats_entries = 1024;  ///< of a device's own, if it has ATS
    uint64_t page_bytes = 4096;
    sim::SimTime miss = sim::SimTime::ns(330);  ///< a walk
};

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
    sim::SimTime store_latency = sim::SimTime::ns(60);  ///< a CPU's store to the root complex
};

}  // namespace simverbs::host
