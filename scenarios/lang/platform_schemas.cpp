#include "scenarios/lang/platform_schemas.hpp"

#include <array>

namespace simverbs::scenarios {

namespace {

using K = FieldKind;

constexpr std::string_view kLeastRate = "1 Mb/s", kMostRate = "1000 Tb/s";
constexpr std::string_view kMostLatency = "1 ms";

constexpr Field rate_of_part(std::string_view key, std::string_view usual, std::string_view help) {
    return {.key = key, .kind = K::Rate, .default_text = usual, .help = help, .least = kLeastRate, .most = kMostRate};
}
constexpr Field latency_of_part(std::string_view key, std::string_view usual, std::string_view help) {
    return {.key = key, .kind = K::Time, .default_text = usual, .help = help, .least = "1 ns", .most = kMostLatency};
}
constexpr Field generation_field(std::string_view usual, std::string_view help) {
    return {.key = "gen", .kind = K::Integer, .default_text = usual, .help = help, .least = "1", .most = "5"};
}
constexpr Field lanes_field(std::string_view help) {
    return {.key = "width", .kind = K::Integer, .default_text = "16", .help = help, .least = "1", .most = "16"};
}
constexpr Field kMpsField{.key = "mps",
                          .kind = K::Size,
                          .default_text = "256 B",
                          .help = "Largest payload of a TLP (Max_Payload_Size): 128, 256, 512, 1024, 2048 or 4096 B.",
                          .least = "128 B",
                          .most = "4096 B"};
constexpr Field kUnderField{.key = "under",
                            .kind = K::Name,
                            .help = "What its upper end is connected to: a host bridge or a PCIe switch.",
                            .required = true};

constexpr std::array kPlatformFields{
    Field{.key = "name", .kind = K::Name, .help = "What it is called.", .default_note = "the file's name"},
    Field{.key = "description", .kind = K::Text, .help = "A sentence for people."},
    Field{.key = "like",
          .kind = K::Text,
          .help = "Another platform, a built-in one or a file, that holds where this one says nothing."},
    Field{.key = "numa_nodes",
          .kind = K::Structure,
          .help = "The NUMA nodes: how many (then node0, node1, …), their names, or each by itself.",
          .component = &kNumaNodeSchema,
          .shape = "a number of NUMA nodes, a list of names or nodes, or a map of nodes",
          .default_note = "1",
          .forms = kFormNumber | kFormTexts | kFormList | kFormNamedMap},
    Field{.key = "numa_links",
          .kind = K::Structure,
          .help = "What joins the NUMA nodes.",
          .component = &kNumaLinkSchema,
          .shape = "a list of maps with 'a' and 'b'",
          .default_note = "one between each two nodes",
          .forms = kFormList},
    Field{.key = "bridges",
          .kind = K::Structure,
          .help = "The host bridges (root complexes): how many (then root0, root1, …), their names, or each by itself.",
          .component = &kHostBridgeSchema,
          .shape = "a number of host bridges, a list of names or bridges, or a map of bridges",
          .default_note = "one for each NUMA node",
          .forms = kFormNumber | kFormTexts | kFormList | kFormNamedMap},
    Field{.key = "switches",
          .kind = K::Structure,
          .help = "The PCIe switches.",
          .component = &kPcieSwitchSchema,
          .shape = "a map of switches, or a list of switches with names",
          .forms = kFormList | kFormNamedMap},
    Field{.key = "slot",
          .kind = K::Section,
          .help = "What every slot has unless it says otherwise.",
          .component = &kSlotSchema},
    Field{.key = "slots",
          .kind = K::Structure,
          .help = "The slots for adapters. Adapters that name none take free ones, in this order.",
          .component = &kSlotSchema,
          .shape = "a map of slots, or a list of slots with names",
          .forms = kFormList | kFormNamedMap},
    Field{.key = "gpu",
          .kind = K::Section,
          .help = "What every GPU has unless it says otherwise.",
          .component = &kGpuSchema},
    Field{.key = "gpus",
          .kind = K::Structure,
          .help = "The GPUs.",
          .component = &kGpuSchema,
          .shape = "a map of GPUs, or a list of GPUs with names",
          .forms = kFormList | kFormNamedMap},
    Field{.key = "nvlink", .kind = K::Section, .help = "NVLinks between the GPUs.", .component = &kNvLinkSchema},
    Field{.key = "iommu",
          .kind = K::Section,
          .help = "Translation of the devices' addresses; without it they use physical ones.",
          .component = &kIommuSchema},
    Field{.key = "acs",
          .kind = K::Flag,
          .default_text = "false",
          .help = "Access control services of every switch that does not say: requests of peers are redirected to the "
                  "root (ACS P2P Request Redirect)."},
    Field{.key = "ats",
          .kind = K::Flag,
          .default_text = "false",
          .help = "Address translation services of every slot that does not say: the device translates by itself, with "
                  "a cache. Needs an IOMMU."},
    Field{.key = "ddio",
          .kind = K::Flag,
          .default_text = "true",
          .help = "Of every NUMA node that does not say: DMA writes end in the last-level cache, and do not wait for "
                  "DRAM."},
    Field{.key = "gpu_driver",
          .kind = K::Section,
          .help = "What the kernel has loaded for the GPUs.",
          .component = &kGpuDriverSchema},
    Field{.key = "cpu",
          .kind = K::Section,
          .help = "What its cores' accesses to devices take.",
          .component = &kCpuSchema},
};

constexpr std::array kNumaNodeFields{
    Field{.key = "name", .kind = K::Name, .help = "The node's name (in a list)."},
    Field{.key = "socket",
          .kind = K::Integer,
          .help = "The socket that it belongs to.",
          .least = "0",
          .most = "63",
          .default_note = "one of its own"},
    Field{.key = "memory",
          .kind = K::Size,
          .default_text = "64 GiB",
          .help = "Main memory.",
          .least = "1 MiB",
          .most = "65536 GiB"},
    rate_of_part("rate", "1200 Gb/s", "What its memory channels carry together, reading or writing."),
    Field{.key = "llc",
          .kind = K::Size,
          .default_text = "32 MiB",
          .help = "Last-level cache, where DMA finds what was touched lately.",
          .least = "64 KiB",
          .most = "16 GiB"},
    Field{.key = "ddio",
          .kind = K::Flag,
          .help = "DMA writes end in the last-level cache.",
          .default_note = "as the platform"},
    latency_of_part("llc_latency", "80 ns", "Of a DMA read that finds its data in the cache, of the memory alone."),
    latency_of_part("dram_latency", "150 ns", "Of a DMA read that does not."),
};

constexpr std::array kNumaLinkFields{
    Field{.key = "a", .kind = K::Name, .help = "A NUMA node.", .required = true},
    Field{.key = "b", .kind = K::Name, .help = "Another.", .required = true},
    rate_of_part("rate", "320 Gb/s", "In each direction."),
    rate_of_part("peer_rate", "72 Gb/s", "Of that for requests from device to device."),
    latency_of_part("latency", "70 ns", "From the one to the other."),
};

constexpr std::array kHostBridgeFields{
    Field{.key = "name", .kind = K::Name, .help = "The bridge's name (in a list)."},
    Field{.key = "numa_node",
          .kind = K::Name,
          .help = "The NUMA node next to it.",
          .default_note = "the first bridge at the first node, and so on"},
    latency_of_part("latency", "80 ns", "Through it, one way."),
    Field{.key = "completion",
          .kind = K::Size,
          .default_text = "256 B",
          .help = "Data in a completion at most, as far as the payload of a TLP lets it: 64 to 4096 B, a power of two.",
          .least = "64 B",
          .most = "4096 B"},
    rate_of_part(
        "peer_write_rate", "128 Gb/s",
        "Writes from one of its root ports to another, or to another bridge's: all that peers without a common "
        "switch get."),
    rate_of_part("peer_read_rate", "88 Gb/s", "Reads, likewise."),
    Field{.key = "peer_to_peer",
          .kind = K::Flag,
          .default_text = "true",
          .help = "Requests from one root port to another pass at all."},
};

constexpr std::array kPcieSwitchFields{
    Field{.key = "name", .kind = K::Name, .help = "The switch's name (in a list)."},
    kUnderField,
    generation_field("4", "PCIe generation of the link to what is above it."),
    lanes_field("Lanes of that link."),
    kMpsField,
    latency_of_part("latency", "110 ns", "Through it and the link above it, one way."),
    Field{.key = "acs",
          .kind = K::Flag,
          .help = "Requests of peers below it are redirected to the root.",
          .default_note = "as the platform"},
};

constexpr Field kSlotUnderField{.key = "under",
                                .kind = K::Name,
                                .help = "What it is connected to: a host bridge or a PCIe switch.",
                                .default_note = "required of each of them"};
constexpr Field kMrrsField{
    .key = "mrrs",
    .kind = K::Size,
    .default_text = "512 B",
    .help = "Largest read request of the device in it (Max_Read_Request_Size): 128 to 4096 B, a power of two.",
    .least = "128 B",
    .most = "4096 B"};
constexpr Field kLinkLatencyField =
    latency_of_part("latency", "115 ns", "PHY, data link and transaction layers of both ends.");
constexpr Field kAtsField{.key = "ats",
                          .kind = K::Flag,
                          .help = "The device in it translates addresses by itself.",
                          .default_note = "as the platform"};

constexpr std::array kSlotFields{
    Field{.key = "name", .kind = K::Name, .help = "The slot's name (in a list)."},
    kSlotUnderField,
    generation_field("4", "PCIe generation that it allows; the link trains to the lower one of slot and device."),
    lanes_field("Lanes that are connected."),
    kMpsField,
    kMrrsField,
    kLinkLatencyField,
    kAtsField,
};

constexpr std::array kGpuFields{
    Field{.key = "name", .kind = K::Name, .help = "The GPU's name (in a list)."},
    Field{.key = "model", .kind = K::Text, .default_text = "H100", .help = "What it calls itself."},
    kSlotUnderField,
    generation_field("4", "PCIe generation that its slot allows."),
    lanes_field("Lanes of its slot that are connected."),
    kMpsField,
    kMrrsField,
    kLinkLatencyField,
    kAtsField,
    Field{.key = "max_gen",
          .kind = K::Integer,
          .default_text = "4",
          .help = "PCIe generation that it can do itself.",
          .least = "1",
          .most = "5"},
    Field{.key = "memory",
          .kind = K::Size,
          .default_text = "80 GiB",
          .help = "Its own memory.",
          .least = "1 MiB",
          .most = "4096 GiB"},
    rate_of_part("memory_rate", "24 Tb/s", "Of its memory."),
    latency_of_part("memory_latency", "170 ns", "Of a read, from its PCIe end to its memory and back."),
    Field{.key = "bar1",
          .kind = K::Size,
          .default_text = "128 GiB",
          .help = "Its memory as seen from PCIe (BAR1): what GPUDirect RDMA and GDRCopy can map at a time.",
          .least = "1 MiB",
          .most = "8192 GiB"},
    rate_of_part("bar_read_rate", "400 Gb/s", "At which it answers peers' reads of that window."),
    Field{.key = "copy_engines",
          .kind = K::Integer,
          .default_text = "3",
          .help = "Copies that it can do at a time.",
          .least = "1",
          .most = "16"},
    latency_of_part("copy_overhead", "6500 ns", "A copy of few bytes, from the call to its end."),
    latency_of_part("copy_gap", "1200 ns", "Between two copies of one engine."),
};

constexpr std::array kNvLinkFields{
    Field{.key = "switched_links",
          .kind = K::Integer,
          .default_text = "0",
          .help = "NVLinks of each GPU to NVSwitches that join all of them; 0: there are none.",
          .least = "0",
          .most = "64"},
    Field{.key = "pairs",
          .kind = K::Structure,
          .help = "NVLinks from GPU to GPU.",
          .component = &kNvLinkPairSchema,
          .shape = "a list of maps with 'a' and 'b'",
          .forms = kFormList},
    rate_of_part("link_rate", "164800 Mb/s", "Usable of one NVLink, in one direction."),
    latency_of_part("latency", "700 ns", "Of a store to a peer's memory."),
    latency_of_part("switch_latency", "200 ns", "More through an NVSwitch."),
};

constexpr std::array kNvLinkPairFields{
    Field{.key = "a", .kind = K::Name, .help = "A GPU.", .required = true},
    Field{.key = "b", .kind = K::Name, .help = "Another.", .required = true},
    Field{.key = "links",
          .kind = K::Integer,
          .default_text = "1",
          .help = "NVLinks between them.",
          .least = "1",
          .most = "64"},
};

constexpr std::array kIommuFields{
    Field{.key = "enabled", .kind = K::Flag, .default_text = "true", .help = "It translates."},
    Field{.key = "entries",
          .kind = K::Integer,
          .default_text = "64",
          .help = "Translations that a host bridge keeps.",
          .least = "1",
          .most = "1000000"},
    Field{.key = "ats_entries",
          .kind = K::Integer,
          .default_text = "1024",
          .help = "Translations that a device with ATS keeps.",
          .least = "1",
          .most = "1000000"},
    Field{.key = "page",
          .kind = K::Size,
          .default_text = "4 KiB",
          .help = "Bytes that one translation covers.",
          .least = "4 KiB",
          .most = "1 GiB"},
    Field{.key = "walkers",
          .kind = K::Integer,
          .default_text = "4",
          .help = "Searches for translations at a time.",
          .least = "1",
          .most = "1024"},
    latency_of_part("miss", "330 ns", "To find a translation that is not kept."),
};

constexpr std::array kGpuDriverFields{
    Field{.key = "peermem",
          .kind = K::Flag,
          .default_text = "true",
          .help = "nvidia_peermem: `ibv_reg_mr` takes GPU memory."},
    Field{.key = "gdrdrv", .kind = K::Flag, .default_text = "true", .help = "The module of GDRCopy."},
    Field{.key = "dma_buf",
          .kind = K::Flag,
          .default_text = "true",
          .help = "The driver exports GPU memory as dma-bufs (`ibv_reg_dmabuf_mr`)."},
};

constexpr std::array kCpuFields{
    latency_of_part("bridge_latency", "40 ns", "From the core to the host bridge."),
    latency_of_part("store_issue", "85 ns", "Call and fence of a copy by write-combining stores."),
    rate_of_part("store_rate", "160 Gb/s", "At which a core fills its write-combining buffers."),
    Field{.key = "write_combining",
          .kind = K::Size,
          .default_text = "256 B",
          .help = "Bytes in these buffers, for which the core does not wait.",
          .least = "0 B",
          .most = "64 KiB"},
};

}  // namespace

constexpr ComponentSchema kPlatformSchema{
    "platform",
    "The inside of a host: memories, host bridges, PCIe switches, slots, GPUs. Its name alone stands for a built-in "
    "platform, a path for a file that holds such a map.",
    kPlatformFields};
constexpr ComponentSchema kNumaNodeSchema{"numa node", "A piece of main memory with the cores next to it.",
                                          kNumaNodeFields};
constexpr ComponentSchema kNumaLinkSchema{"numa link", "What joins two NUMA nodes: an on-die fabric, UPI or xGMI.",
                                          kNumaLinkFields};
constexpr ComponentSchema kHostBridgeSchema{"host bridge", "A root complex: root ports next to a NUMA node.",
                                            kHostBridgeFields};
constexpr ComponentSchema kPcieSwitchSchema{"pcie switch", "A PCIe switch.", kPcieSwitchFields};
constexpr ComponentSchema kSlotSchema{"slot", "A place for an adapter or a GPU.", kSlotFields};
constexpr ComponentSchema kGpuSchema{"gpu", "A GPU.", kGpuFields};
constexpr ComponentSchema kNvLinkSchema{"nvlink", "The NVLinks of a host.", kNvLinkFields};
constexpr ComponentSchema kNvLinkPairSchema{"nvlink pair", "NVLinks between two GPUs.", kNvLinkPairFields};
constexpr ComponentSchema kIommuSchema{"iommu", "The IOMMU of a host: without this section it is off.", kIommuFields};
constexpr ComponentSchema kGpuDriverSchema{"gpu driver", "Modules of a host's kernel, when its programs begin.",
                                           kGpuDriverFields};
constexpr ComponentSchema kCpuSchema{"cpu", "Stores and loads of a host's cores to devices.", kCpuFields};

}  // namespace simverbs::scenarios
