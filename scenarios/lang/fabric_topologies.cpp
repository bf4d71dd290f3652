#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/topology.hpp"

namespace simverbs::scenarios {

namespace {

using T = FieldKind;
using Count = std::optional<int64_t>;

constexpr Field kKindOfFabric{.key = "kind", .kind = T::Text, .help = "Which topology this is.", .required = true};
constexpr Field kFileOfFabric{
    .key = "file", .kind = T::Text, .help = "The file, relative to this one.", .required = true};

constexpr Field number_field(std::string_view key, std::string_view default_text, std::string_view help,
                             std::string_view least = "1") {
    return {
        .key = key, .kind = T::Integer, .default_text = default_text, .help = help, .least = least, .most = "65000"};
}
constexpr Field rate_field(std::string_view key, std::string_view help, std::string_view default_text = "") {
    return {.key = key,
            .kind = T::Rate,
            .default_text = default_text,
            .help = help,
            .least = "1 Mb/s",
            .most = "10 Tb/s",
            .default_note = default_text.empty() ? "as every link" : ""};
}
constexpr Field delay_field(std::string_view key, std::string_view help, std::string_view default_text = "") {
    return {.key = key,
            .kind = T::Time,
            .default_text = default_text,
            .help = help,
            .least = "1 ps",
            .most = "1 s",
            .default_note = default_text.empty() ? "as every link" : ""};
}

constexpr std::array kDumbbellFields{
    kKindOfFabric,
    number_field("left_hosts", "2", "Hosts at the left switch: h0, h1, …"),
    number_field("right_hosts", "2", "Hosts at the right switch: the numbers go on."),
    rate_field("bottleneck_rate", "Rate of the link between the two switches."),
    delay_field("bottleneck_delay", "Latency of the link between the two switches."),
};
constexpr std::array kParkingLotFields{
    kKindOfFabric,
    number_field("switches", "3", "Switches in a row.", "2"),
    number_field("hosts_per_switch", "1", "Hosts at each switch."),
    rate_field("bottleneck_rate", "Rate of the links between switches."),
    delay_field("bottleneck_delay", "Latency of the links between switches."),
};
constexpr std::array kLeafSpineFields{
    kKindOfFabric,
    number_field("leaves", "4", "Leaf switches."),
    number_field("spines", "2", "Spine switches."),
    number_field("hosts_per_leaf", "4", "Hosts at each leaf."),
    number_field("links_per_pair", "1", "Parallel links from each leaf to each spine."),
    rate_field("uplink_rate", "Rate of the links to spines."),
    delay_field("uplink_delay", "Latency of the links to spines."),
};
constexpr std::array kFatTreeFields{
    kKindOfFabric,
    Field{.key = "k",
          .kind = T::Integer,
          .help = "Ports of each switch: k pods of k/2 ToRs and k/2 aggregation switches, (k/2)^2 cores.",
          .least = "2",
          .most = "128"},
    Field{.key = "oversubscription",
          .kind = T::Number,
          .default_text = "1",
          .help = "With k: that many times k/2 hosts at each ToR.",
          .least = "1",
          .most = "64"},
    number_field("pods", "", "Without k: pods."),
    number_field("tors_per_pod", "", "Without k: ToRs in a pod."),
    number_field("aggs_per_pod", "", "Without k: aggregation switches in a pod."),
    number_field("cores", "", "Without k: core switches; a multiple of aggs_per_pod. 0 with one pod.", "0"),
    number_field("hosts_per_tor", "", "Without k: hosts at each ToR."),
    rate_field("uplink_rate", "Rate of the links from ToRs to aggregation switches."),
    rate_field("core_rate", "Rate of the links to cores."),
    delay_field("uplink_delay", "Latency of the links from ToRs to aggregation switches."),
    delay_field("core_delay", "Latency of the links to cores."),
};
constexpr std::array kHpcc320Fields{
    kKindOfFabric,
    rate_field("host_rate", "Rate of the hosts' links.", "100 Gb/s"),
    rate_field("uplink_rate", "Rate of all other links.", "400 Gb/s"),
    delay_field("delay", "Latency of each link.", "1 us"),
};
constexpr std::array kRailFields{
    kKindOfFabric,
    number_field(
        "servers", "8",
        "Servers; each NIC of a server is a host of its own: NIC n of server s is host s × nics_per_server + n."),
    number_field("nics_per_server", "8", "NICs of each server; the n-th of every server is wired to the n-th leaf."),
    number_field("servers_per_unit", "8", "Servers that share their leaves."),
    number_field("spines", "4", "Spine switches, which join the leaves.", "0"),
    number_field("links_per_pair", "1", "Parallel links from each leaf to each spine."),
    rate_field("uplink_rate", "Rate of the links to spines."),
    delay_field("uplink_delay", "Latency of the links to spines."),
};
constexpr std::array kDragonflyFields{
    kKindOfFabric,
    number_field("groups", "", "Groups of routers; every two are joined; by default as many as can be."),
    number_field("routers_per_group", "4", "Routers in a group; every two are joined."),
    number_field("hosts_per_router", "2", "Hosts at each router."),
    number_field("global_links_per_router", "2", "Links of each router to other groups."),
    rate_field("local_rate", "Rate of the links within a group."),
    rate_field("global_rate", "Rate of the links between groups."),
    delay_field("local_delay", "Latency of the links within a group."),
    delay_field("global_delay", "Latency of the links between groups."),
};
constexpr std::array kImportFields{kKindOfFabric, kFileOfFabric};

constexpr ComponentSchema kDumbbellSchema{"topology dumbbell", "Two switches with hosts, joined by one link.",
                                          kDumbbellFields};
constexpr ComponentSchema kParkingLotSchema{
    "topology parking_lot", "Switches in a row, each with hosts: flows join the row one after the other.",
    kParkingLotFields};
constexpr ComponentSchema kLeafSpineSchema{"topology leaf_spine", "Every leaf is joined to every spine.",
                                           kLeafSpineFields};
constexpr ComponentSchema kFatTreeSchema{
    "topology fat_tree", "A folded Clos network: by `k` alone, or tier by tier. Host h is at ToR h / hosts-per-ToR.",
    kFatTreeFields};
constexpr ComponentSchema kHpcc320Schema{
    "topology hpcc_320", "The fabric of the HPCC paper: 320 hosts, 20 ToRs, 20 aggregation switches, 16 cores.",
    kHpcc320Fields};
constexpr ComponentSchema kRailSchema{"topology rail_optimised", "Servers with a NIC for each rail, a switch a rail.",
                                      kRailFields};
constexpr ComponentSchema kDragonflySchema{"topology dragonfly", "Groups, all joined to each other.", kDragonflyFields};
constexpr ComponentSchema kHpccFileSchema{"topology hpcc_file", "A topology file of the HPCC ns-3 simulator.",
                                          kImportFields};
constexpr ComponentSchema kIbnetdiscoverSchema{"topology ibnetdiscover", "What ibnetdiscover printed.", kImportFields};

/// More would need more memory than machines have.
constexpr int64_t kMaxFabricHosts = int64_t{1} << 20;

/// Reports too many hosts.
Count checked_count(const Section& section, int64_t hosts, DiagnosticSink& sink) {
    if (hosts <= kMaxFabricHosts) return hosts;
    sink.add(section.position(), section.path(), fmt::format("makes {} hosts", hosts),
             fmt::format("at most {}", kMaxFabricHosts));
    return std::nullopt;
}

/// Each limit is below 2^16, so that a product of three fits.
Count product(const Section& section, std::initializer_list<std::string_view> keys, DiagnosticSink& sink) {
    int64_t hosts = 1;
    for (const std::string_view key : keys) hosts *= section.integer(key);
    return checked_count(section, hosts, sink);
}

Count count_dumbbell(const Section& section, DiagnosticSink& sink) {
    return checked_count(section, section.integer("left_hosts") + section.integer("right_hosts"), sink);
}
Count count_parking_lot(const Section& section, DiagnosticSink& sink) {
    return product(section, {"switches", "hosts_per_switch"}, sink);
}
Count count_leaf_spine(const Section& section, DiagnosticSink& sink) {
    return product(section, {"leaves", "hosts_per_leaf"}, sink);
}

constexpr std::array<std::string_view, 5> kTierKeys{"pods", "tors_per_pod", "aggs_per_pod", "cores", "hosts_per_tor"};

Count count_fat_tree_by_k(const Section& section, DiagnosticSink& sink) {
    for (const std::string_view key : kTierKeys) {
        if (section.has(key)) {
            sink.add(section.position(key), section.path(key), fmt::format("both 'k' and '{}' are given", key),
                     "either 'k' or the tiers one by one");
        }
    }
    const int64_t k = section.integer("k");
    if (k % 2 != 0) {
        sink.add(section.position("k"), section.path("k"), fmt::format("{} is odd", k), "an even number");
        return std::nullopt;
    }
    const double per_tor = static_cast<double>(k) / 2 * section.number("oversubscription");
    if (per_tor != static_cast<double>(static_cast<int64_t>(per_tor))) {
        sink.add(section.position("oversubscription"), section.path("oversubscription"),
                 fmt::format("makes {} hosts at a ToR", per_tor), "a factor that makes whole hosts of k/2");
        return std::nullopt;
    }
    return checked_count(section, k * k / 2 * static_cast<int64_t>(per_tor), sink);
}

Count count_fat_tree(const Section& section, DiagnosticSink& sink) {
    if (section.writes("k")) return section.has("k") ? count_fat_tree_by_k(section, sink) : std::nullopt;
    bool is_complete = true;
    for (const std::string_view key : kTierKeys) {
        if (section.writes(key)) {
            is_complete = is_complete && section.has(key);
            continue;
        }
        is_complete = false;
        sink.add(section.position(), section.path(), fmt::format("neither 'k' nor '{}' is given", key),
                 "'k', or pods, tors_per_pod, aggs_per_pod, cores and hosts_per_tor");
    }
    if (!is_complete) return std::nullopt;
    if (section.integer("cores") % section.integer("aggs_per_pod") != 0) {
        sink.add(section.position("cores"), section.path("cores"), "cannot be shared out evenly",
                 "a multiple of 'aggs_per_pod'");
    }
    if (section.integer("cores") == 0 && section.integer("pods") != 1) {
        sink.add(section.position("cores"), section.path("cores"), "nothing joins the pods", "cores, or one pod");
    }
    return product(section, {"pods", "tors_per_pod", "hosts_per_tor"}, sink);
}

Count count_hpcc_320(const Section&, DiagnosticSink&) {
    return 320;
}
Count count_rails(const Section& section, DiagnosticSink& sink) {
    return product(section, {"servers", "nics_per_server"}, sink);
}

Count count_dragonfly(const Section& section, DiagnosticSink& sink) {
    const int64_t most = section.integer("routers_per_group") * section.integer("global_links_per_router") + 1;
    const int64_t groups = section.has("groups") ? section.integer("groups") : most;
    if (groups > most) {
        sink.add(section.position("groups"), section.path("groups"),
                 fmt::format("{} groups are more than a group's global links reach", groups),
                 fmt::format("at most {}: routers_per_group × global_links_per_router + 1", most));
    }
    const int64_t group_hosts = section.integer("routers_per_group") * section.integer("hosts_per_router");
    return checked_count(section, std::min(groups, kMaxFabricHosts + 1) * group_hosts, sink);
}

Count count_in_file(const Section&, DiagnosticSink&) {
    return std::nullopt;
}

constexpr std::array<TopologyGenerator, 9> kFabrics{{
    {"dumbbell", &kDumbbellSchema, nullptr, &count_dumbbell},
    {"parking_lot", &kParkingLotSchema, nullptr, &count_parking_lot},
    {"leaf_spine", &kLeafSpineSchema, nullptr, &count_leaf_spine},
    {"fat_tree", &kFatTreeSchema, nullptr, &count_fat_tree},
    {"hpcc_320", &kHpcc320Schema, nullptr, &count_hpcc_320},
    {"rail_optimised", &kRailSchema, nullptr, &count_rails},
    {"dragonfly", &kDragonflySchema, nullptr, &count_dragonfly},
    {"hpcc_file", &kHpccFileSchema, nullptr, &count_in_file},
    {"ibnetdiscover", &kIbnetdiscoverSchema, nullptr, &count_in_file},
}};

}  // namespace

std::span<const TopologyGenerator> fabric_generators() noexcept {
    return kFabrics;
}

}  // namespace simverbs::scenarios
