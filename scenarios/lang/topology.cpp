#include "scenarios/lang/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr std::array<TopologyGenerator, 3> kLabGenerators{{
    {"single_switch", &kSingleSwitchSchema, &generate_single_switch},
    {"back_to_back", &kBackToBackSchema, &generate_back_to_back},
    {"explicit", &kExplicitSchema, nullptr},
}};

std::vector<TopologyGenerator> made_generator_list() {
    std::vector<TopologyGenerator> list(kLabGenerators.begin(), kLabGenerators.end());
    list.insert(list.end(), fabric_generators().begin(), fabric_generators().end());
    return list;
}

const TopologyGenerator* find_generator(std::string_view kind) noexcept {
    for (const TopologyGenerator& generator : topology_generators()) {
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
    for (const TopologyGenerator& generator : topology_generators()) {
        if (generator.is_fabric() && reading.level == LanguageLevel::Lab) continue;
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
    if (generator == nullptr || std::find(kinds.begin(), kinds.end(), generator->kind) == kinds.end()) {
        reading.sink.add(kind->position, is_map ? child_path(path, "kind") : path,
                         in_quotes(kind->text) + " is not a topology" + (generator != nullptr ? " of a lab" : ""), all,
                         did_you_mean(kind->text, kinds));
        return nullptr;
    }
    return generator;
}

/// `topology: x` stands for `topology: {kind: x}`.
YamlPtr map_with_kind(const YamlValue& node, const TopologyGenerator& generator) {
    auto map = std::make_shared<YamlValue>(node);
    if (map->kind == YamlKind::Map) return map;
    auto kind = std::make_shared<YamlValue>(node);
    kind->kind = YamlKind::Scalar;
    kind->text = generator.kind;
    map->kind = YamlKind::Map;
    map->entries.push_back({"kind", map->position, std::move(kind)});
    return map;
}

void read_fabric(LabReading& reading, const Section& section) {
    TopologySpec& topology = reading.topology;
    topology.is_fabric = true;
    topology.values = Values(section);
    topology.host_count = reading.generator->count_hosts(section, reading.sink);
    topology.switch_ = read_template_switch(reading);
    topology.link = reading.default_link;
    if (!section.schema().find("file") || !section.has("file")) return;
    CheckedValue file = *topology.values.find("file");
    file.value = read_file_name(section.text("file"), section.position("file"), section.path("file"), reading.sink);
    topology.values.set("file", std::move(file));
}

}  // namespace

std::span<const TopologyGenerator> topology_generators() noexcept {
    static const std::vector<TopologyGenerator> kList = made_generator_list();
    return kList;
}

std::span<const ComponentSchema* const> topology_schemas() noexcept {
    static const std::vector<const ComponentSchema*> kList = [] {
        std::vector<const ComponentSchema*> list;
        for (const TopologyGenerator& generator : topology_generators()) list.push_back(generator.schema);
        return list;
    }();
    return kList;
}

void choose_topology(LabReading& reading, const YamlValue* node, const std::string& path, bool has_links) {
    const std::string_view default_kind = has_links ? "explicit" : "single_switch";
    reading.generator = node != nullptr ? read_kind(reading, *node, path) : find_generator(default_kind);
    reading.topology_path = path;
    reading.topology_position = node != nullptr ? node->position : reading.position;
    reading.lab.topology = reading.generator != nullptr ? reading.generator->kind : default_kind;
    reading.topology.kind = reading.lab.topology;
    reading.topology.path = path;
    reading.topology.position = reading.topology_position;
    if (reading.generator == nullptr) {
        // The links would be compared with a wiring that nobody knows.
        reading.names_are_complete = false;
        return;
    }
    reading.topology_node = map_with_kind(node != nullptr ? *node : null_value(), *reading.generator);
}

bool generate_topology(LabReading& reading) {
    if (reading.generator == nullptr) return true;
    const Section section(*reading.generator->schema, *reading.topology_node, reading.topology_path, reading.sink);
    if (reading.generator->is_fabric()) {
        read_fabric(reading, section);
        return true;
    }
    reading.topology.values = Values(section);
    if (reading.generator->generate == nullptr) return false;
    // A host that is missing because it is wrong must not cause a second report.
    if (reading.names_are_complete) reading.generator->generate(reading, section);
    return true;
}

}  // namespace simverbs::scenarios
