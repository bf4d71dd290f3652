#include <array>

#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using W = FieldKind;

constexpr std::array kTests{"bandwidth"sv, "latency"sv};
constexpr std::string_view kHostsShape = "all, a number of hosts, or a list of hosts and ranges such as 'h0..h15'";
constexpr unsigned kHostsForms = kFormNumber | kFormText | kFormTexts;

constexpr Field kNameField{
    .key = "name", .kind = W::Name, .help = "What expectations call its flows.", .default_note = "the kind"};
constexpr Field kKindOfWorkload{.key = "kind", .kind = W::Text, .help = "Which workload this is.", .required = true};
constexpr Field kStartField{.key = "start", .kind = W::Time, .default_text = "0 s", .help = "When it begins."};
constexpr Field kPriorityField{.key = "priority",
                               .kind = W::Integer,
                               .default_text = "3",
                               .help = "802.1p priority or SL of its packets.",
                               .least = "0",
                               .most = "15"};
constexpr Field kDscpField{.key = "dscp",
                           .kind = W::Integer,
                           .help = "DSCP of its packets, instead of a priority (Ethernet).",
                           .least = "0",
                           .most = "63",
                           .default_note = "8 x priority"};
constexpr Field kHostsField{.key = "hosts",
                            .kind = W::Structure,
                            .help = "Who takes part.",
                            .shape = kHostsShape,
                            .default_note = "all",
                            .forms = kHostsForms};
constexpr Field kRanksField{.key = "ranks",
                            .kind = W::Structure,
                            .help = "Who takes part, in the order of the ranks.",
                            .shape = kHostsShape,
                            .default_note = "all",
                            .forms = kHostsForms};
constexpr Field kFileField{.key = "file", .kind = W::Text, .help = "The file, relative to this one.", .required = true};

constexpr Field kJitterField{.key = "jitter",
                             .kind = W::Time,
                             .default_text = "0 s",
                             .help = "Each flow starts later by a random time below this."};

constexpr Field bytes_field(std::string_view help) {
    return {.key = "bytes", .kind = W::Size, .help = help, .least = "1 B", .most = "1 TB", .required = true};
}
constexpr Field count_field(std::string_view key, std::string_view help) {
    return {.key = key, .kind = W::Integer, .default_text = "1", .help = help, .least = "1", .most = "1000000000"};
}
constexpr Field host_field(std::string_view key, std::string_view help) {
    return {.key = key, .kind = W::Text, .help = help, .required = true};
}

constexpr std::array kFlowEntryFields{
    host_field("src", "The host that sends."),
    host_field("dst", "The host that receives."),
    bytes_field("How much."),
    Field{.key = "start", .kind = W::Time, .default_text = "0 s", .help = "When, after the workload's start."},
    Field{.key = "priority",
          .kind = W::Integer,
          .help = "802.1p priority or SL.",
          .least = "0",
          .most = "15",
          .default_note = "the workload's"},
    Field{.key = "dscp",
          .kind = W::Integer,
          .help = "DSCP of its packets, instead of a priority (Ethernet).",
          .least = "0",
          .most = "63",
          .default_note = "the workload's"},
};

constexpr std::array kFlowsFields{
    kNameField,
    kKindOfWorkload,
    kStartField,
    kPriorityField,
    kDscpField,
    Field{.key = "flows",
          .kind = W::Structure,
          .help = "The flows, in the order of their numbers.",
          .component = &kFlowEntrySchema,
          .shape = "a list of maps with 'src', 'dst' and 'bytes'",
          .required = true,
          .forms = kFormList},
};
constexpr std::array kPerftestFields{
    kNameField,
    kKindOfWorkload,
    kStartField,
    kPriorityField,
    kDscpField,
    host_field("src", "The client."),
    host_field("dst", "The server."),
    Field{.key = "test",
          .kind = W::Choice,
          .default_text = "bandwidth",
          .help = "Messages back to back as ib_write_bw sends them, or to and fro as ib_write_lat.",
          .choices = kTests},
    Field{.key = "bytes",
          .kind = W::Size,
          .default_text = "64 KiB",
          .help = "Size of a message.",
          .least = "1 B",
          .most = "1 TB"},
    Field{.key = "iterations",
          .kind = W::Integer,
          .help = "Messages of each QP.",
          .least = "1",
          .most = "1000000000",
          .default_note = "5000 if no duration is given"},
    Field{.key = "duration", .kind = W::Time, .help = "As many as fit into this time.", .least = "1 ns"},
    Field{.key = "tx_depth",
          .kind = W::Integer,
          .default_text = "128",
          .help = "Messages in flight of each QP.",
          .least = "1",
          .most = "32768"},
    count_field("qps", "Queue pairs."),
    Field{.key = "bidirectional", .kind = W::Flag, .default_text = "false", .help = "Both ways at once."},
};
constexpr std::array kIncastFields{
    kNameField,
    kKindOfWorkload,
    kStartField,
    kPriorityField,
    kDscpField,
    Field{.key = "senders",
          .kind = W::Structure,
          .help = "Who sends: a number means the first hosts other than the receiver.",
          .shape = kHostsShape,
          .default_note = "all but the receiver",
          .forms = kHostsForms},
    host_field("receiver", "Who receives."),
    bytes_field("What each sends in a burst."),
    count_field("bursts", "How many bursts."),
    Field{.key = "period", .kind = W::Time, .help = "From burst to burst.", .least = "1 ps"},
    kJitterField,
};
constexpr std::array kPermutationFields{
    kNameField,
    kKindOfWorkload,
    kStartField,
    kPriorityField,
    kDscpField,
    kHostsField,
    bytes_field("What each host sends."),
    kJitterField,
};
constexpr std::array kPairsFileFields{kNameField, kKindOfWorkload, kStartField, kPriorityField, kDscpField, kFileField};
constexpr std::array kAllToAllFields{
    kNameField,
    kKindOfWorkload,
    kStartField,
    kPriorityField,
    kDscpField,
    kHostsField,
    bytes_field("What each host sends to each other one."),
};
constexpr std::array kPoissonFields{
    kNameField,
    kKindOfWorkload,
    kPriorityField,
    kDscpField,
    kHostsField,
    Field{.key = "cdf",
          .kind = W::Text,
          .help = "Sizes of the flows: websearch, fbhadoop, alistorage, or a file, relative to this one, with a size "
                  "in bytes and a percentage in each line.",
          .required = true},
    Field{.key = "load",
          .kind = W::Probability,
          .help = "Payload offered by each host, as a share of its link's rate.",
          .required = true},
    Field{.key = "from", .kind = W::Time, .default_text = "0 s", .help = "When the first flows start."},
    Field{.key = "until", .kind = W::Time, .help = "No flow starts at this time or later.", .required = true},
};

constexpr Field kCollectiveBytes = bytes_field("Size of each rank's buffer, as nccl-tests count it.");
constexpr Field kChannelsField{.key = "channels",
                               .kind = W::Integer,
                               .default_text = "1",
                               .help = "Rings, trees or exchanges side by side; each carries its share.",
                               .least = "1",
                               .most = "64"};
constexpr Field kChunkField{.key = "chunk",
                            .kind = W::Size,
                            .default_text = "512 KiB",
                            .help = "A step's data travel in chunks of this size, one after the other.",
                            .least = "1 B",
                            .most = "1 GiB"};
constexpr Field kIterationsField{.key = "iterations",
                                 .kind = W::Integer,
                                 .default_text = "1",
                                 .help = "How often; each waits for the one before.",
                                 .least = "1",
                                 .most = "1000000"};
constexpr Field kSlotsField{.key = "slots",
                            .kind = W::Integer,
                            .default_text = "8",
                            .help = "Chunks in flight on a connection (NCCL_STEPS).",
                            .least = "1",
                            .most = "1024"};
constexpr std::array kCollectiveFields{kNameField,  kKindOfWorkload, kStartField,      kPriorityField,
                                       kDscpField,  kRanksField,     kCollectiveBytes, kChannelsField,
                                       kChunkField, kSlotsField,     kIterationsField};
constexpr std::array kExchangeFields{kNameField,
                                     kKindOfWorkload,
                                     kStartField,
                                     kPriorityField,
                                     kDscpField,
                                     kRanksField,
                                     kCollectiveBytes,
                                     kChannelsField,
                                     kChunkField,
                                     kSlotsField,
                                     kIterationsField,
                                     Field{.key = "peers_at_once",
                                           .kind = W::Integer,
                                           .default_text = "8",
                                           .help = "Peers to which a rank sends at the same time; 0: all.",
                                           .least = "0",
                                           .most = "65000"}};

constexpr ComponentSchema kFlowsSchema{"workload flows", "Single flows.", kFlowsFields};
constexpr ComponentSchema kPerftestSchema{"workload perftest", "What ib_write_bw and its like do.", kPerftestFields};
constexpr ComponentSchema kIncastSchema{"workload incast", "Many hosts send to one at the same time.", kIncastFields};
constexpr ComponentSchema kPermutationSchema{
    "workload permutation", "Every host sends to one other host and receives from one.", kPermutationFields};
constexpr ComponentSchema kPairsFileSchema{
    "workload pairs_file", "Flows of a file with a line `source destination bytes` for each; hosts are numbers.",
    kPairsFileFields};
constexpr ComponentSchema kAllToAllSchema{"workload all_to_all", "Every host sends to every other, all at once.",
                                          kAllToAllFields};
constexpr ComponentSchema kPoissonSchema{
    "workload poisson", "Flows that start at random times with random sizes, from every host to random others.",
    kPoissonFields};
constexpr ComponentSchema kRingSchema{"workload ring_all_reduce",
                                      "All-reduce over rings: 2(n-1) steps of a share of 1/n.", kCollectiveFields};
constexpr ComponentSchema kTreeSchema{"workload tree_all_reduce", "All-reduce up and down a binary tree.",
                                      kCollectiveFields};
constexpr ComponentSchema kHalvingSchema{"workload halving_doubling_all_reduce",
                                         "All-reduce by recursive halving and doubling; 2^k ranks.", kCollectiveFields};
constexpr ComponentSchema kAllGatherSchema{"workload all_gather", "All-gather over rings.", kCollectiveFields};
constexpr ComponentSchema kReduceScatterSchema{"workload reduce_scatter", "Reduce-scatter over rings.",
                                               kCollectiveFields};
constexpr ComponentSchema kCollectiveAllToAllSchema{
    "workload collective_all_to_all", "All-to-all as NCCL does it: in step i, rank r sends to rank r + i.",
    kExchangeFields};
constexpr ComponentSchema kHpccFlowFileSchema{"workload hpcc_flow_file",
                                              "Flows of a flow file of the HPCC ns-3 simulator.", kPairsFileFields};

constexpr std::array<const ComponentSchema*, 14> kWorkloads{&kFlowsSchema,
                                                            &kPerftestSchema,
                                                            &kIncastSchema,
                                                            &kPermutationSchema,
                                                            &kPairsFileSchema,
                                                            &kAllToAllSchema,
                                                            &kPoissonSchema,
                                                            &kRingSchema,
                                                            &kTreeSchema,
                                                            &kHalvingSchema,
                                                            &kAllGatherSchema,
                                                            &kReduceScatterSchema,
                                                            &kCollectiveAllToAllSchema,
                                                            &kHpccFlowFileSchema};

}  // namespace

constexpr ComponentSchema kFlowEntrySchema{"flow", "One flow of a workload of kind `flows`.", kFlowEntryFields};

std::span<const ComponentSchema* const> workload_schemas() noexcept {
    return kWorkloads;
}

}  // namespace simverbs::scenarios
