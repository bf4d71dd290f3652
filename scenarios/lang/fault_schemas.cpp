#include <array>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using F = FieldKind;

constexpr std::array kFaultDirections{"a_to_b"sv, "b_to_a"sv, "both"sv};
constexpr std::array kOpcodes{
    "RC_SEND_FIRST"sv,
    "RC_SEND_MIDDLE"sv,
    "RC_SEND_LAST"sv,
    "RC_SEND_LAST_WITH_IMMEDIATE"sv,
    "RC_SEND_ONLY"sv,
    "RC_SEND_ONLY_WITH_IMMEDIATE"sv,
    "RC_RDMA_WRITE_FIRST"sv,
    "RC_RDMA_WRITE_MIDDLE"sv,
    "RC_RDMA_WRITE_LAST"sv,
    "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"sv,
    "RC_RDMA_WRITE_ONLY"sv,
    "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"sv,
    "RC_RDMA_READ_REQUEST"sv,
    "RC_RDMA_READ_RESPONSE_FIRST"sv,
    "RC_RDMA_READ_RESPONSE_MIDDLE"sv,
    "RC_RDMA_READ_RESPONSE_LAST"sv,
    "RC_RDMA_READ_RESPONSE_ONLY"sv,
    "RC_ACKNOWLEDGE"sv,
    "RC_ATOMIC_ACKNOWLEDGE"sv,
    "RC_CMP_SWAP"sv,
    "RC_FETCH_ADD"sv,
    "RC_SEND_LAST_WITH_INVALIDATE"sv,
    "RC_SEND_ONLY_WITH_INVALIDATE"sv,
    "RC_FLUSH"sv,
    "RC_ATOMIC_WRITE"sv,
    "UC_SEND_FIRST"sv,
    "UC_SEND_MIDDLE"sv,
    "UC_SEND_LAST"sv,
    "UC_SEND_LAST_WITH_IMMEDIATE"sv,
    "UC_SEND_ONLY"sv,
    "UC_SEND_ONLY_WITH_IMMEDIATE"sv,
    "UC_RDMA_WRITE_FIRST"sv,
    "UC_RDMA_WRITE_MIDDLE"sv,
    "UC_RDMA_WRITE_LAST"sv,
    "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE"sv,
    "UC_RDMA_WRITE_ONLY"sv,
    "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"sv,
    "UD_SEND_ONLY"sv,
    "UD_SEND_ONLY_WITH_IMMEDIATE"sv,
    "CNP"sv,
    "XRC_SEND_FIRST"sv,
    "XRC_SEND_MIDDLE"sv,
    "XRC_SEND_LAST"sv,
    "XRC_SEND_LAST_WITH_IMMEDIATE"sv,
    "XRC_SEND_ONLY"sv,
    "XRC_SEND_ONLY_WITH_IMMEDIATE"sv,
    "XRC_RDMA_WRITE_FIRST"sv,
    "XRC_RDMA_WRITE_MIDDLE"sv,
    "XRC_RDMA_WRITE_LAST"sv,
    "XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE"sv,
    "XRC_RDMA_WRITE_ONLY"sv,
    "XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"sv,
    "XRC_RDMA_READ_REQUEST"sv,
    "XRC_RDMA_READ_RESPONSE_FIRST"sv,
    "XRC_RDMA_READ_RESPONSE_MIDDLE"sv,
    "XRC_RDMA_READ_RESPONSE_LAST"sv,
    "XRC_RDMA_READ_RESPONSE_ONLY"sv,
    "XRC_ACKNOWLEDGE"sv,
    "XRC_ATOMIC_ACKNOWLEDGE"sv,
    "XRC_CMP_SWAP"sv,
    "XRC_FETCH_ADD"sv,
    "XRC_SEND_LAST_WITH_INVALIDATE"sv,
    "XRC_SEND_ONLY_WITH_INVALIDATE"sv,
    "XRC_FLUSH"sv,
    "XRC_ATOMIC_WRITE"sv,
};
constexpr std::string_view kMostPackets = "1000000000000";

constexpr Field kPacketField{.key = "packet",
                             .kind = F::Integer,
                             .help = "Only the n-th packet, counting from 1.",
                             .least = "1",
                             .most = kMostPackets};
constexpr Field kEveryPacketField{
    .key = "every", .kind = F::Integer, .help = "Every n-th packet.", .least = "1", .most = kMostPackets};
constexpr Field kPacketProbabilityField{
    .key = "probability", .kind = F::Probability, .help = "Each packet with this probability."};
constexpr Field kMatchField{
    .key = "match", .kind = F::Section, .help = "Packets with these headers.", .component = &kPacketMatchSchema};
constexpr Field kMostField{.key = "most",
                           .kind = F::Integer,
                           .help = "At most that many packets.",
                           .least = "1",
                           .most = kMostPackets,
                           .default_note = "no limit"};

constexpr std::array kPacketFaultFields{kPacketField, kEveryPacketField, kPacketProbabilityField, kMatchField,
                                        kMostField};
constexpr std::array kPacketDelayFields{
    kPacketField,
    kEveryPacketField,
    kPacketProbabilityField,
    kMatchField,
    kMostField,
    Field{.key = "by", .kind = F::Time, .help = "How much later.", .least = "1 ps", .most = "100 s", .required = true},
};
constexpr std::array kPacketReorderFields{
    kPacketField,
    kEveryPacketField,
    kPacketProbabilityField,
    kMatchField,
    kMostField,
    Field{.key = "behind",
          .kind = F::Integer,
          .default_text = "1",
          .help = "How many later packets go before it.",
          .least = "1",
          .most = "1000"},
};
constexpr std::array kPacketMatchFields{
    Field{.key = "qpn", .kind = F::Integer, .help = "Destination QP number.", .least = "0", .most = "0xffffff"},
    Field{.key = "psn", .kind = F::Integer, .help = "Packet sequence number.", .least = "0", .most = "0xffffff"},
    Field{.key = "flow",
          .kind = F::Text,
          .help =
              "Data, acknowledgements and CNPs of a workload's flows ('incast'), of one of them ('incast[3]'), or of "
              "a flow by its number in the run."},
    Field{.key = "opcode", .kind = F::Choice, .help = "The BTH's opcode.", .choices = kOpcodes},
    Field{.key = "iteration",
          .kind = F::Integer,
          .help = "Only the n-th packet that all this is true of: 2 is the first retransmission.",
          .least = "1",
          .default_note = "every one"},
};

constexpr std::array kFlapFields{
    Field{.key = "from", .kind = F::Time, .default_text = "0 s", .help = "When it goes down first."},
    Field{.key = "period",
          .kind = F::Time,
          .help = "From one going down to the next.",
          .least = "1 ns",
          .required = true},
    Field{.key = "down", .kind = F::Time, .help = "How long it is down.", .least = "1 ps", .required = true},
    Field{.key = "count",
          .kind = F::Integer,
          .help = "How often.",
          .least = "1",
          .most = "1000000000",
          .default_note = "without end"},
};
constexpr std::array kPauseStormFields{
    Field{.key = "from", .kind = F::Time, .default_text = "0 s", .help = "When it begins."},
    Field{.key = "until", .kind = F::Time, .help = "When it ends.", .default_note = "never"},
    Field{.key = "priority",
          .kind = F::Integer,
          .default_text = "3",
          .help = "Which priority is paused.",
          .least = "0",
          .most = "7"},
};
constexpr std::array kKillFields{
    Field{.key = "host", .kind = F::Text, .help = "A host that dies."},
    Field{.key = "nic", .kind = F::Text, .help = "A NIC that dies: HOST or HOST.DEVICE."},
    Field{.key = "switch", .kind = F::Text, .help = "A switch that dies."},
    Field{.key = "port", .kind = F::Text, .help = "A port that dies."},
    Field{.key = "program", .kind = F::Text, .help = "A program that is ended by SIGKILL (exit code 137)."},
    Field{.key = "at", .kind = F::Time, .help = "When.", .required = true},
};

constexpr std::array kAddressedFaultFields{
    Field{.key = "name", .kind = F::Name, .help = "What expectations call it.", .default_note = "fault0, fault1, …"},
    Field{.key = "link",
          .kind = F::Text,
          .help = "The link: one of its ends or both, such as 'tor0/1 - agg0/2' or 'h0'."},
    Field{.key = "direction",
          .kind = F::Choice,
          .default_text = "both",
          .help = "Which way it looks; `a` is the end that is named first. Each way counts for itself.",
          .choices = kFaultDirections},
    Field{.key = "from", .kind = F::Time, .default_text = "0 s", .help = "Packets before this are let alone."},
    Field{.key = "until", .kind = F::Time, .help = "Packets after this are let alone.", .default_note = "the end"},
    Field{.key = "drop", .kind = F::Section, .help = "Packets are lost.", .component = &kPacketFaultSchema},
    Field{.key = "corrupt",
          .kind = F::Section,
          .help = "Packets arrive with a wrong bit.",
          .component = &kPacketFaultSchema},
    Field{.key = "duplicate", .kind = F::Section, .help = "Packets arrive twice.", .component = &kPacketFaultSchema},
    Field{.key = "delay", .kind = F::Section, .help = "Packets arrive late.", .component = &kPacketDelaySchema},
    Field{.key = "reorder",
          .kind = F::Section,
          .help = "Packets arrive after later ones.",
          .component = &kPacketReorderSchema},
    Field{.key = "ecn_mark", .kind = F::Section, .help = "Packets are marked CE.", .component = &kPacketFaultSchema},
    Field{.key = "down", .kind = F::Section, .help = "The link is down for a while.", .component = &kDownSchema},
    Field{.key = "flap", .kind = F::Section, .help = "The link goes down again and again.", .component = &kFlapSchema},
    Field{.key = "pause_storm",
          .kind = F::Section,
          .help = "End `a` sends pause frames without end.",
          .component = &kPauseStormSchema},
    Field{.key = "kill", .kind = F::Section, .help = "Something dies; needs no `link`.", .component = &kKillSchema},
    Field{.key = "freeze",
          .kind = F::Section,
          .help = "Something stands still for a while; needs no `link`, as all that follow.",
          .component = &kFreezeSchema},
    Field{.key = "fail_call",
          .kind = F::Section,
          .help = "A verbs call of a program fails.",
          .component = &kFailCallSchema},
    Field{.key = "limit_cq",
          .kind = F::Section,
          .help = "A program's CQ holds fewer completions than it was promised.",
          .component = &kLimitCqSchema},
    Field{.key = "place_cqe",
          .kind = F::Section,
          .help = "A completion comes between a program's last poll and its arming of the CQ.",
          .component = &kPlaceCqeSchema},
    Field{.key = "delay_receives",
          .kind = F::Section,
          .help = "The receives that a program posts reach its adapter late.",
          .component = &kDelayReceivesSchema},
    Field{.key = "port_state",
          .kind = F::Section,
          .help = "An adapter's port changes its state.",
          .component = &kPortStateSchema},
    Field{.key = "change_gid",
          .kind = F::Section,
          .help = "An entry of a port's GID table changes or goes.",
          .component = &kChangeGidSchema},
    Field{.key = "change_pkey",
          .kind = F::Section,
          .help = "An entry of a port's P_Key table changes.",
          .component = &kChangePkeySchema},
    Field{.key = "port_event",
          .kind = F::Section,
          .help = "The subnet manager tells a port of InfiniBand something.",
          .component = &kPortEventSchema},
    Field{.key = "degrade_slot",
          .kind = F::Section,
          .help = "A slot of a host's platform gives fewer lanes or a lower generation.",
          .component = &kDegradeSlotSchema},
};

}  // namespace

constexpr ComponentSchema kAddressedFaultSchema{
    "fault",
    "Something that goes wrong at a known place. Exactly one of the keys from `drop` on says what. A fault "
    "that never fires fails the scenario.",
    kAddressedFaultFields};
constexpr ComponentSchema kPacketFaultSchema{
    "packet fault", "Which packets: one of `packet`, `every`, `probability` and `match`.", kPacketFaultFields};
constexpr ComponentSchema kPacketMatchSchema{"match", "Packets by their headers.", kPacketMatchFields};
constexpr ComponentSchema kPacketDelaySchema{
    "packet delay", "Late packets: one of `packet`, `every`, `probability` and `match` says which.",
    kPacketDelayFields};
constexpr ComponentSchema kPacketReorderSchema{
    "packet reorder", "Overtaken packets: one of `packet`, `every`, `probability` and `match` says which.",
    kPacketReorderFields};
constexpr ComponentSchema kFlapSchema{"flap", "A link that comes and goes.", kFlapFields};
constexpr ComponentSchema kPauseStormSchema{"pause_storm", "A port that pauses its neighbour without end.",
                                            kPauseStormFields};
constexpr ComponentSchema kKillSchema{"kill", "The end of a host, NIC, switch, port or program: exactly one of them.",
                                      kKillFields};

}  // namespace simverbs::scenarios
