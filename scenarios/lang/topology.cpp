#include "scenarios/lang/topology.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios {

namespace {

constexpr Field kKindField{.key = "kind", .kind = FieldKind::Text, .help = "Which topology this is.", .required = true};

constexpr std::array kExplicitFields{kKindField};
constexpr std::array kBackToBackFields{kKindField};
constexpr std::array kSingleSwitchFields{
    kKindField,
    Field{.key = "switch", .kind = FieldKind::Name, .default_text = "sw0", .help = "The switch's name."},
};

constexpr ComponentSchema kExplicitSchema{"topology explicit", "Wired as `switches` and `links` say, and only so.",
                                          kExplicitFields};
constexpr ComponentSchema kBackToBackSchema{
    "topology back_to_back", "Two hosts without a switch: each port of the one to the same port of the other.",
    kBackToBackFields};
constexpr ComponentSchema kSingleSwitchSchema{"topology single_switch",
                                              "Every port of every host is wired to one switch.", kSingleSwitchFields};

/// Calls `wire(end)` for every port of a host, NIC by NIC.
template <typename Wire>
void for_each_port(const LabSpec& lab, std::size_t host, Wire wire) {
    for (std::size_t nic = 0; nic < lab.hosts[host].nics.size(); ++nic) {
        for (int port = 1; port <= lab.hosts[host].nics[nic].ports; ++port) {
            wire(LinkEnd{false, static_cast<int>(host), static_cast<int>(nic), port});
        }
    }
}

std::vector<LinkEnd> ports_of(const LabSpec& lab, std::size_t host) {
    std::vector<LinkEnd> ports;
    for_each_port(lab, host, [&](const LinkEnd& end) { ports.push_back(end); });
    return ports;
}

void generate_back_to_back(LabReading& reading, const Section&) {
    const LabSpec& lab = reading.lab;
    if (lab.hosts.size() != 2) {
        reading.sink.add(reading.topology_position, reading.topology_path,
                         fmt::format("back_to_back does not fit {} host(s)", lab.hosts.size()), "2 hosts");
        return;
    }
    const std::vector<LinkEnd> a = ports_of(lab, 0);
    const std::vector<LinkEnd> b = ports_of(lab, 1);
    if (a.size() != b.size()) {
        reading.sink.add(reading.topology_position, reading.topology_path,
                         fmt::format("'{}' has {} port(s) and '{}' has {}", lab.hosts[0].name, a.size(),
                                     lab.hosts[1].name, b.size()),
                         "as many ports at both hosts");
        return;
    }
    for (std::size_t i = 0; i < a.size(); ++i) reading.add_link(a[i], b[i]);
}

void generate_single_switch(LabReading& reading, const Section& section) {
    const int switch_index = reading.add_switch(section.text("switch"));
    int next_port = 1;
    for (std::size_t host = 0; host < reading.lab.hosts.size(); ++host) {
        for_each_port(reading.lab, host, [&](const LinkEnd& end) {
            reading.add_link(end, LinkEnd{true, switch_index, 0, next_port++});
        });
    }
}

constexpr std::array<TopologyGenerator, 3> kGenerators{{
    {"single_switch", &kSingleSwitchSchema, &generate_single_switch},
    {"back_to_back", &kBackToBackSchema, &generate_back_to_back},
    {"explicit", &kExplicitSchema, nullptr},
}};

const TopologyGenerator* find_generator(std::string_view kind) noexcept {
    for (const TopologyGenerator& generator : kGenerators) {
        if (generator.kind == kind) return &generator;
    }
    return nullptr;
}

/// `node` as a map with `kind`; nullptr after a report.
const TopologyGenerator* read_kind(const LabReading& reading, const YamlValue& node, const std::string& path) {
    const bool is_map = node.kind == YamlKind::Map;
    const YamlValue* kind = is_map ? node.find("kind") : &node;
    std::string all;
    std::vector<std::string_view> kinds;
    for (const TopologyGenerator& generator : kGenerators) {
        kinds.push_back(generator.kind);
        all += (all.empty() ? "one of " : ", ") + std::string(generator.kind);
    }
    if (kind == nullptr) {
        reading.sink.add(node.position, path, "the key 'kind' is missing", all);
        return nullptr;
    }
    if (kind->kind != YamlKind::Scalar) {
        report_wrong_shape(*kind, is_map ? child_path(path, "kind") : path, all, reading.sink);
        return nullptr;
    }
    const TopologyGenerator* generator = find_generator(kind->text);
    if (generator == nullptr) {
        reading.sink.add(kind->position, is_map ? child_path(path, "kind") : path,
                         in_quotes(kind->text) + " is not a topology", all, did_you_mean(kind->text, kinds));
    }
    return generator;
}

}  // namespace

std::span<const TopologyGenerator> topology_generators() noexcept {
    return kGenerators;
}

bool generate_topology(LabReading& reading, const YamlValue* node, const std::string& path, bool has_links) {
    const std::string_view default_kind = has_links ? "explicit" : "single_switch";
    const TopologyGenerator* generator =
        node != nullptr ? read_kind(reading, *node, path) : find_generator(default_kind);
    reading.topology_path = path;
    reading.topology_position = node != nullptr ? node->position : reading.position;
    reading.lab.topology = generator != nullptr ? generator->kind : default_kind;
    if (generator == nullptr) {
        // The links would be compared with a wiring that nobody knows.
        reading.names_are_complete = false;
        return true;
    }
    // `topology: x` stands for `topology: {kind: x}`.
    YamlValue kind_only = node != nullptr ? *node : null_value();
    if (kind_only.kind != YamlKind::Map) {
        auto kind = std::make_shared<YamlValue>(kind_only);
        kind->kind = YamlKind::Scalar;
        kind->text = generator->kind;
        kind_only.kind = YamlKind::Map;
        kind_only.entries.push_back({"kind", kind_only.position, std::move(kind)});
    }
    const Section section(*generator->schema, kind_only, path, reading.sink);
    if (generator->generate == nullptr) return false;
    // A host that is missing because it is wrong must not cause a second report.
    if (reading.names_are_complete) generator->generate(reading, section);
    return true;
}

}  // namespace simverbs::scenarios
