#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"

namespace simverbs::scenarios {

namespace {

/// A link as the file has it: what it joins (absent if that was wrong) and its properties.
struct WrittenLink {
    std::optional<LinkEnd> a;
    std::optional<LinkEnd> b;
    LinkSpec properties;
};

WrittenLink read_written_link(const LabReading& reading, const YamlValue& node, const std::string& path) {
    const Section section(kLinkSchema, node, path, reading.sink, reading.link_template);
    WrittenLink out;
    out.properties = read_link_properties(reading, section);
    if (node.kind != YamlKind::Map) {
        if (node.kind == YamlKind::Null) report_wrong_shape(node, path, "a map with 'a' and 'b'", reading.sink);
        return out;
    }
    for (const auto& [key, end] : {std::pair{"a", &out.a}, std::pair{"b", &out.b}}) {
        if (!section.writes(key)) {
            reading.sink.add(node.position, path, fmt::format("the key '{}' is missing", key),
                             "a host's or switch's port such as 'h0.mlx5_0' or 'sw0'");
        } else if (section.has(key)) {
            *end = read_link_end(reading, section.text(key), section.position(key), section.path(key));
        }
    }
    return out;
}

std::vector<WrittenLink> read_written_links(const LabReading& reading, const YamlValue& node, const std::string& path) {
    std::vector<WrittenLink> out;
    if (node.kind != YamlKind::Sequence) {
        report_wrong_shape(node, path, std::string(expected_shape(kLabSchema, "links")), reading.sink);
        return out;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        out.push_back(read_written_link(reading, *node.items[i], item_path(path, i)));
    }
    return out;
}

/// Does the end in the file, whose port may be left out, mean the end of a cable?
bool means(const LinkEnd& written, const LinkEnd& actual) noexcept {
    return written.is_switch == actual.is_switch && written.node == actual.node && written.nic == actual.nic &&
           (written.port == 0 || written.port == actual.port);
}

void turn_round(std::vector<FaultSpec>& faults) {
    for (FaultSpec& fault : faults) {
        switch (fault.direction) {
            case FaultDirection::AToB:
                fault.direction = FaultDirection::BToA;
                break;
            case FaultDirection::BToA:
                fault.direction = FaultDirection::AToB;
                break;
            case FaultDirection::Both:
                break;
        }
    }
}

/// The cables of a generated topology, found by the NIC or switch at their ends.
class CableIndex {
  public:
    explicit CableIndex(LabSpec& lab) {
        for (LinkSpec& link : lab.links) {
            for (const LinkEnd* end : {&link.a, &link.b}) cables_[key(*end)].push_back(&link);
        }
    }

    /// The cables that have both ends.
    [[nodiscard]] std::vector<LinkSpec*> between(const LinkEnd& a, const LinkEnd& b) const {
        const auto at_a = cables_.find(key(a));
        const auto at_b = cables_.find(key(b));
        if (at_a == cables_.end() || at_b == cables_.end()) return {};
        std::vector<LinkSpec*> found;
        for (LinkSpec* link : at_a->second.size() < at_b->second.size() ? at_a->second : at_b->second) {
            if ((means(a, link->a) && means(b, link->b)) || is_turned(a, b, *link)) found.push_back(link);
        }
        return found;
    }

    /// Does the file name the cable's end `b` first?
    [[nodiscard]] static bool is_turned(const LinkEnd& a, const LinkEnd& b, const LinkSpec& link) noexcept {
        return means(a, link.b) && means(b, link.a);
    }

  private:
    using Key = std::tuple<bool, int, int>;
    static Key key(const LinkEnd& end) { return {end.is_switch, end.node, end.nic}; }
    std::map<Key, std::vector<LinkSpec*>> cables_;
};

void adjust_link(LabReading& reading, const CableIndex& cables, WrittenLink& written) {
    const std::vector<LinkSpec*> meant = cables.between(*written.a, *written.b);
    if (meant.size() != 1) {
        reading.sink.add(
            written.properties.position, written.properties.path,
            meant.empty() ? fmt::format("the topology '{}' has no such cable", reading.lab.topology)
                          : fmt::format("{} cables join these two", meant.size()),
            meant.empty() ? "the two ends of one of its cables" : "an end with its port, such as 'h0.mlx5_0/1'",
            meant.empty() ? "to wire the lab yourself, say 'topology: explicit'" : "");
        return;
    }
    if (CableIndex::is_turned(*written.a, *written.b, *meant[0])) turn_round(written.properties.faults);
    written.properties.a = meant[0]->a;
    written.properties.b = meant[0]->b;
    *meant[0] = std::move(written.properties);
}

}  // namespace

LinkSpec read_link_properties(const LabReading& reading, const Section& section) {
    LinkSpec link;
    if (section.has("rate")) link.rate = section.rate("rate");
    link.length = section.length("length");
    section.refuse_both("length", "delay", reading.sink);
    if (section.has("delay") && section.prefers("delay", "length")) link.delay = section.time("delay");
    refuse_in_lab(reading, section, {"delay"});
    if (const YamlValue* faults = section.node("faults")) {
        link.faults = read_faults(*faults, section.path("faults"), reading.sink);
    }
    link.path = section.path();
    link.position = section.position();
    return link;
}

void LabReading::add_link(const LinkEnd& a, const LinkEnd& b) {
    LinkSpec link = default_link;
    link.a = a;
    link.b = b;
    link.path = topology_path;
    link.position = topology_position;
    lab.links.push_back(std::move(link));
}

void read_explicit_links(LabReading& reading, const YamlValue& node, const std::string& path) {
    for (WrittenLink& written : read_written_links(reading, node, path)) {
        if (!written.a || !written.b) continue;
        written.properties.a = *written.a;
        written.properties.b = *written.b;
        reading.lab.links.push_back(std::move(written.properties));
    }
}

void adjust_generated_links(LabReading& reading, const YamlValue& node, const std::string& path) {
    if (reading.lab.links.empty()) return;  // the generator has reported why
    const CableIndex cables(reading.lab);
    for (WrittenLink& written : read_written_links(reading, node, path)) {
        if (written.a && written.b) adjust_link(reading, cables, written);
    }
}

}  // namespace simverbs::scenarios
