#include "scenarios/lang/lab_schemas.hpp"

#include <array>

#include "scenarios/lang/lab_fields.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using K = FieldKind;

constexpr std::array kLinkLayers{"Ethernet"sv, "InfiniBand"sv};
constexpr std::array kRoceVersions{"v1"sv, "v2"sv};
constexpr std::array kForwardings{"cut-through"sv, "store-and-forward"sv};
constexpr std::array kLoadBalancings{"ecmp"sv, "packet_spray"sv, "flowlet"sv, "adaptive"sv};
constexpr std::array kPathPolicies{"min_hop"sv, "up_down"sv};
constexpr std::array kDirections{"a_to_b"sv, "b_to_a"sv, "both"sv};

constexpr std::array kHostFields{
    Field{.key = "name", .kind = K::Name, .help = "The host's name (in a list of hosts)."},
    Field{.key = "count",
          .kind = K::Integer,
          .default_text = "1",
          .help = "That many like it: name0, name1, … (in a list of hosts).",
          .least = "1",
          .most = "65000"},
    Field{.key = "nics",
          .kind = K::Structure,
          .help = "Its NICs: how many, their device names, or each by itself.",
          .component = &kNicSchema,
          .shape = "a number of NICs, a list of names or NICs, or a map of NICs",
          .default_note = "1",
          .forms = kFormNumber | kFormTexts | kFormList | kFormNamedMap},
    Field{.key = "platform",
          .kind = K::Structure,
          .help = "Its inside: PCIe, memories, GPUs.",
          .component = &kPlatformSchema,
          .shape = "a platform's name, a file or a map",
          .default_note = "the lab's `platform`",
          .forms = kFormText | kFormMap},
};

constexpr Field kSlotField{.key = "slot",
                           .kind = K::Name,
                           .help = "The slot of the host's platform that it sits in.",
                           .default_note = "the first that is free"};

constexpr std::array kNicFields{
    Field{.key = "device",
          .kind = K::Name,
          .help = "The device's name (in a list of NICs).",
          .default_note = "mlx5_0, mlx5_1, … or as the profile says"},
    Field{.key = "profile", .kind = K::Text, .help = "The hardware that it behaves like.", .default_note = "cx7-400g"},
    kSlotField,
    Field{.key = "link_layer",
          .kind = K::Choice,
          .help = "What its ports speak.",
          .choices = kLinkLayers,
          .default_note = "as the profile"},
    Field{.key = "ports",
          .kind = K::Integer,
          .default_text = "1",
          .help = "How many ports it has.",
          .least = "1",
          .most = "8"},
    Field{.key = "mtu",
          .kind = K::Size,
          .help = "Ethernet: the interface's MTU. InfiniBand: 256, 512, 1024, 2048 or 4096 B.",
          .least = "256 B",
          .most = "9978 B",
          .default_note = "4200 B on Ethernet, 4096 B on InfiniBand"},
    Field{.key = "roce_versions",
          .kind = K::Choices,
          .help = "RoCE versions that have a GID (Ethernet).",
          .choices = kRoceVersions,
          .default_note = "[v1, v2]"},
    Field{.key = "vlan",
          .kind = K::Integer,
          .help = "802.1Q VLAN of its frames (Ethernet).",
          .least = "1",
          .most = "4094",
          .default_note = "untagged"},
    Field{.key = "priority",
          .kind = K::Integer,
          .default_text = "0",
          .help = "802.1p priority of what programs send without SL and DSCP (workloads have their own).",
          .least = "0",
          .most = "7"},
    Field{.key = "dscp_map",
          .kind = K::Structure,
          .help = "Priority that it gives to packets by their DSCP (scenarios).",
          .shape = "a map from DSCPs (0 to 63) to priorities (0 to 7)",
          .default_note = "DSCP / 8",
          .forms = kFormValuesMap},
    Field{.key = "ipv6",
          .kind = K::Flag,
          .default_text = "false",
          .help = "A global IPv6 address beside the link-local one (Ethernet)."},
    Field{.key = "address", .kind = K::Ipv4, .help = "IPv4 address of port 1.", .default_note = "10.0.hi.lo"},
    Field{.key = "mac", .kind = K::Mac, .help = "MAC address of port 1 (Ethernet).", .default_note = "from the lab"},
    Field{.key = "guid", .kind = K::Guid, .help = "Node GUID.", .default_note = "from the lab"},
    Field{.key = "lid",
          .kind = K::Integer,
          .help = "LID of port 1 (InfiniBand).",
          .least = "1",
          .most = "49151",
          .default_note = "from the lab"},
    Field{.key = "gid", .kind = K::Gid, .help = "An additional GID of port 1."},
    Field{.key = "parameters",
          .kind = K::Structure,
          .help = "Parameters of the profile that have another value here.",
          .shape = "a map of the profile's parameters and their values",
          .forms = kFormValuesMap},
};

constexpr std::array kSwitchFields{
    Field{.key = "name", .kind = K::Name, .help = "The switch's name (in a list of switches)."},
    Field{.key = "ports",
          .kind = K::Integer,
          .help = "How many ports it has.",
          .least = "1",
          .most = "65000",
          .default_note = "as many as are wired"},
    Field{.key = "latency",
          .kind = K::Time,
          .help = "From the first bit in to the first bit out, when nothing is in the way.",
          .least = "1 ns",
          .most = "1 s",
          .default_note = "300 ns on Ethernet, 130 ns on InfiniBand"},
    Field{.key = "forwarding",
          .kind = K::Choice,
          .default_text = "cut-through",
          .help = "When a packet may leave.",
          .choices = kForwardings},
    Field{.key = "buffer",
          .kind = K::Size,
          .default_text = "16 MiB",
          .help = "Packet memory, shared by all ports.",
          .least = "16 KiB",
          .most = "64 GiB"},
    Field{.key = "cell",
          .kind = K::Size,
          .default_text = "96 B",
          .help = "The buffer is counted in cells of this size (scenarios, as all that follow).",
          .least = "1 B",
          .most = "64 KiB"},
    Field{.key = "alpha",
          .kind = K::Number,
          .default_text = "1/8",
          .help = "Dynamic threshold: a queue may hold alpha times the free shared buffer.",
          .least = "1/1024",
          .most = "1024"},
    Field{.key = "a_shift",
          .kind = K::Integer,
          .help = "HPCC's rule instead of alpha: the free shared buffer, shifted right by this.",
          .least = "0",
          .most = "16"},
    Field{.key = "pfc", .kind = K::Section, .help = "Priority flow control.", .component = &kPfcSchema},
    Field{.key = "ecn", .kind = K::Section, .help = "Marking of packets in long queues.", .component = &kEcnSchema},
    Field{.key = "scheduler",
          .kind = K::Section,
          .help = "Which priority's queue is served next.",
          .component = &kSchedulerSchema},
    Field{.key = "dscp_map",
          .kind = K::Structure,
          .help = "Priority of untagged packets by their DSCP. Those of priority P have DSCP 8 P.",
          .shape = "a map from DSCPs (0 to 63) to priorities (0 to 7)",
          .default_note = "DSCP / 8",
          .forms = kFormValuesMap},
    Field{.key = "pcp_map",
          .kind = K::Structure,
          .help = "Priority of tagged packets (`nic.vlan`) by their PCP.",
          .shape = "a map from PCPs (0 to 7) to priorities (0 to 7)",
          .default_note = "the PCP",
          .forms = kFormValuesMap},
    Field{.key = "load_balancing",
          .kind = K::Choice,
          .default_text = "ecmp",
          .help = "How one of several equal paths is chosen (Ethernet).",
          .choices = kLoadBalancings},
    Field{.key = "flowlet_gap",
          .kind = K::Time,
          .default_text = "50 us",
          .help = "With flowlet: after such a pause a flow may take another path.",
          .least = "1 ns",
          .most = "1 s"},
    Field{.key = "trimming",
          .kind = K::Flag,
          .default_text = "false",
          .help = "A packet for which there is no room loses its payload, not itself."},
    Field{.key = "int",
          .kind = K::Flag,
          .help = "In-band network telemetry in every data packet.",
          .default_note = "true if congestion control needs it"},
    Field{.key = "vl_buffer",
          .kind = K::Size,
          .default_text = "64 KiB",
          .help = "InfiniBand: receive buffer of each port and VL, for which credits are given.",
          .least = "4 KiB",
          .most = "128 KiB"},
    Field{.key = "vl_arbitration",
          .kind = K::Section,
          .help = "InfiniBand: which VL sends next.",
          .component = &kVlArbitrationSchema},
    Field{.key = "sl2vl",
          .kind = K::Structure,
          .help = "InfiniBand: the virtual lane of each service level; in the `switch` section for adapters too.",
          .shape = "a map from SLs (0 to 15) to VLs (0 to 14)",
          .default_note = "VL = SL (of SL 15: VL 7); SLs that a map does not name: VL 0",
          .forms = kFormValuesMap},
    Field{.key = "fecn", .kind = K::Section, .help = "InfiniBand: marking of packets.", .component = &kFecnSchema},
    Field{.key = "path_policy",
          .kind = K::Choice,
          .default_text = "min_hop",
          .help = "InfiniBand: the paths in the forwarding tables; up_down has no credit loops.",
          .choices = kPathPolicies},
};

constexpr std::array kLinkFields{
    Field{.key = "a", .kind = K::Text, .help = "One end: HOST, HOST.DEVICE, HOST.DEVICE/PORT, SWITCH or SWITCH/PORT."},
    Field{.key = "b", .kind = K::Text, .help = "The other end."},
    Field{.key = "rate",
          .kind = K::Rate,
          .help = "Bits a second, each way.",
          .least = "1 Mb/s",
          .most = "10 Tb/s",
          .default_note = "the lower of what both ends can do"},
    Field{.key = "length",
          .kind = K::Length,
          .default_text = "2 m",
          .help = "Length of the cable.",
          .least = "10 cm",
          .most = "10000 km"},
    Field{.key = "delay",
          .kind = K::Time,
          .help = "Latency of the cable, instead of one that follows from its length (scenarios).",
          .least = "1 ps",
          .most = "1 s"},
    Field{.key = "faults",
          .kind = K::Structure,
          .help = "What goes wrong on it.",
          .component = &kFaultSchema,
          .shape = "a map of faults or a list of such maps",
          .forms = kFormMap | kFormList},
};

constexpr std::string_view kEveryShape = "1";
constexpr std::string_view kMostEvery = "1000000000000";

constexpr std::array kFaultFields{
    Field{.key = "direction",
          .kind = K::Choice,
          .default_text = "both",
          .help = "Which way these faults look; each way counts for itself.",
          .choices = kDirections},
    Field{.key = "drop_every",
          .kind = K::Integer,
          .help = "Every n-th packet is lost.",
          .least = kEveryShape,
          .most = kMostEvery},
    Field{.key = "drop_probability", .kind = K::Probability, .help = "A packet is lost with this probability."},
    Field{.key = "corrupt_every",
          .kind = K::Integer,
          .help = "Every n-th packet arrives with a wrong bit.",
          .least = kEveryShape,
          .most = kMostEvery},
    Field{.key = "corrupt_probability",
          .kind = K::Probability,
          .help = "A packet arrives with a wrong bit with this probability."},
    Field{.key = "duplicate_every",
          .kind = K::Integer,
          .help = "Every n-th packet arrives twice.",
          .least = kEveryShape,
          .most = kMostEvery},
    Field{.key = "duplicate_probability",
          .kind = K::Probability,
          .help = "A packet arrives twice with this probability."},
    Field{.key = "delay", .kind = K::Section, .help = "Packets arrive late.", .component = &kDelaySchema},
    Field{
        .key = "reorder", .kind = K::Section, .help = "Packets arrive after later ones.", .component = &kReorderSchema},
    Field{.key = "down", .kind = K::Section, .help = "The link is down for a while.", .component = &kDownSchema},
};

constexpr Field kEveryField{
    .key = "every", .kind = K::Integer, .help = "Every n-th packet.", .least = kEveryShape, .most = kMostEvery};
constexpr Field kProbabilityField{
    .key = "probability", .kind = K::Probability, .help = "A packet with this probability."};

constexpr std::array kDelayFields{
    kEveryField,
    kProbabilityField,
    Field{.key = "by", .kind = K::Time, .help = "How much later.", .least = "1 ps", .most = "100 s", .required = true},
};

constexpr std::array kReorderFields{
    kEveryField,
    kProbabilityField,
    Field{.key = "behind",
          .kind = K::Integer,
          .default_text = "1",
          .help = "How many later packets go before it.",
          .least = "1",
          .most = "1000"},
};

constexpr std::array kDownFields{
    Field{.key = "from", .kind = K::Time, .default_text = "0 s", .help = "When it goes down."},
    Field{.key = "until", .kind = K::Time, .help = "When it is up again.", .default_note = "never"},
};

}  // namespace

constexpr ComponentSchema kLabSchema{"lab", "The file as a whole: a small network of hosts, NICs, switches and links.",
                                     kLabFields};
constexpr ComponentSchema kHostSchema{"host", "A simulated host.", kHostFields};
constexpr ComponentSchema kNicSchema{"nic",
                                     "A host channel adapter of a host. Its name alone stands for its profile "
                                     "in the lab's `nic`, for its device in a list of NICs.",
                                     kNicFields};
constexpr ComponentSchema kSwitchSchema{"switch", "A switch.", kSwitchFields};
constexpr ComponentSchema kLinkSchema{"link", "A cable between two ports.", kLinkFields};
constexpr ComponentSchema kFaultSchema{"faults", "Faults of a link, all of one direction.", kFaultFields};
constexpr ComponentSchema kDelaySchema{"delay", "Late packets: `every` or `probability` says which.", kDelayFields};
constexpr ComponentSchema kReorderSchema{"reorder", "Overtaken packets: `every` or `probability` says which.",
                                         kReorderFields};
constexpr ComponentSchema kDownSchema{"down", "A time without the link.", kDownFields};

}  // namespace simverbs::scenarios
