#include "scenarios/lang/lab_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/topology.hpp"

namespace simverbs::scenarios {

namespace {

/// A name made of a file's: "my lab.yaml" → "my_lab".
std::string name_of_file(std::string_view file_name) {
    std::string name = std::filesystem::path(file_name).stem().string();
    for (char& c : name) {
        if (!is_name(std::string("a") + c)) c = '_';
    }
    name.resize(std::min<std::size_t>(name.size(), 60));
    return is_name(name) ? name : "lab" + name;
}

/// The node of a template: `nic: cx5-100g` stands for `nic: {profile: cx5-100g}`.
YamlPtr nic_template_node(const YamlValue& written) {
    auto node = std::make_shared<YamlValue>(written);
    if (written.kind != YamlKind::Scalar) return node;
    node->kind = YamlKind::Map;
    node->entries.push_back({"profile", written.position, std::make_shared<YamlValue>(written)});
    return node;
}

/// A template describes many: what belongs to one alone has no place in it.
void check_template(const Section& section, std::initializer_list<std::string_view> own_keys, DiagnosticSink& sink) {
    for (const std::string_view key : own_keys) {
        if (!section.writes(key)) continue;
        sink.add(section.position(key), section.path(key), "belongs to one of them, not to all");
    }
}

/// Owns the templates while the lab is read.
struct Templates {
    std::size_t errors_before;
    YamlPtr nic_node;
    Section nic;
    Section switch_;
    Section link;
    bool are_wrong;

    Templates(const Section& lab, DiagnosticSink& sink)
        : errors_before(sink.count()),
          nic_node(nic_template_node(node_or_null(lab, "nic"))),
          nic(kNicSchema, *nic_node, lab.path("nic"), sink),
          switch_(kSwitchSchema, node_or_null(lab, "switch"), lab.path("switch"), sink),
          link(kLinkSchema, node_or_null(lab, "link"), lab.path("link"), sink) {
        check_template(nic, {"device", "slot", "address", "mac", "guid", "lid", "gid"}, sink);
        check_template(switch_, {"name"}, sink);
        check_template(link, {"a", "b"}, sink);
        are_wrong = sink.count() != errors_before;
    }

    static const YamlValue& node_or_null(const Section& lab, std::string_view key) {
        const YamlValue* node = lab.node(key);
        return node != nullptr ? *node : null_value();
    }
};

void read_head(const Section& section, LabSpec& lab) {
    lab.file = section.position().file_name();
    lab.name = section.has("name") ? section.text("name") : name_of_file(lab.file);
    lab.description = section.text("description");
    lab.seed = static_cast<uint64_t>(section.integer("seed"));
    lab.clock = section.text("clock") == "wall" ? ClockKind::Wall : ClockKind::Virtual;
}

void read_wiring(LabReading& reading, const Section& section) {
    const YamlValue* links = section.node("links");
    const bool is_generated = generate_topology(reading);
    reading.index_names();
    if (links == nullptr) return;
    if (reading.topology.is_fabric) {
        read_fabric_links(reading, *links, section.path("links"));
    } else if (is_generated) {
        adjust_generated_links(reading, *links, section.path("links"));
    } else {
        read_explicit_links(reading, *links, section.path("links"));
    }
}

}  // namespace

void refuse_in_lab(const LabReading& reading, const Section& section, std::initializer_list<std::string_view> keys) {
    if (reading.level != LanguageLevel::Lab) return;
    for (const std::string_view key : keys) {
        if (!section.has(key)) continue;
        reading.sink.add(section.position(key), section.path(key), fmt::format("'{}' has no meaning in a lab", key), {},
                         "remove it, or run the file as a scenario: simverbs run FILE");
    }
}

void read_lab_parts(LabReading& reading, const Section& section) {
    const Templates templates(section, reading.sink);
    reading.nic_template = &templates.nic;
    reading.switch_template = &templates.switch_;
    reading.link_template = &templates.link;
    reading.templates_are_wrong = templates.are_wrong;
    reading.position = section.position();
    reading.platform_node = section.node("platform");
    reading.platform_path = section.path("platform");
    reading.default_link = read_link_properties(reading, templates.link);
    read_head(section, reading.lab);
    choose_topology(reading, section.node("topology"), section.path("topology"), section.node("links") != nullptr);
    if (reading.generator != nullptr && reading.generator->is_fabric()) {
        read_fabric_host(reading, section);
    } else {
        read_hosts(reading, section.node("hosts"), section.path("hosts"));
    }
    if (const YamlValue* switches = section.node("switches")) {
        read_switches(reading, *switches, section.path("switches"));
    }
    if (!reading.topology.is_fabric && reading.level == LanguageLevel::Scenario)
        reading.topology.switch_ = read_template_switch(reading);
    read_wiring(reading, section);
    check_lab(reading);
    reading.nic_template = nullptr;
    reading.switch_template = nullptr;
    reading.link_template = nullptr;
}

std::optional<LabSpec> read_lab(const YamlValue& node, const std::string& path, const LabOptions& options,
                                DiagnosticSink& sink) {
    LabReading reading{options, sink};
    reading.path = path;
    reading.errors_before = sink.count();
    const Section section(kLabSchema, node, path, sink);
    if (node.kind != YamlKind::Map) {
        if (node.kind == YamlKind::Null) report_wrong_shape(node, path, "a map that describes a lab", sink);
        return std::nullopt;
    }
    read_lab_parts(reading, section);
    if (sink.count() != reading.errors_before) return std::nullopt;
    return std::move(reading.lab);
}

std::optional<LabSpec> parse_lab(std::string_view text, std::string_view file_name, const LabOptions& options,
                                 DiagnosticSink& sink) {
    const YamlPtr root = parse_yaml(text, file_name, sink);
    if (root == nullptr) return std::nullopt;
    return read_lab(*root, "", options, sink);
}

std::optional<LabSpec> load_lab_file(const std::string& path, const LabOptions& options, DiagnosticSink& sink) {
    std::string text;
    if (!read_text_file(path, text, sink)) return std::nullopt;
    return parse_lab(text, path, options, sink);
}

}  // namespace simverbs::scenarios
