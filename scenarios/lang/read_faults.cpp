#include <fmt/format.h>

#include <array>
#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"

namespace simverbs::scenarios {

namespace {

/// The keys that name a fault and say which packets it hits in one go.
struct PacketFaultRow {
    FaultKind kind;
    std::string_view every_key;
    std::string_view probability_key;
};
constexpr std::array<PacketFaultRow, 3> kPacketFaults{{
    {FaultKind::Drop, "drop_every", "drop_probability"},
    {FaultKind::Corrupt, "corrupt_every", "corrupt_probability"},
    {FaultKind::Duplicate, "duplicate_every", "duplicate_probability"},
}};

FaultDirection read_direction(const Section& section) {
    const std::string text = section.text("direction");
    if (text == "a_to_b") return FaultDirection::AToB;
    if (text == "b_to_a") return FaultDirection::BToA;
    return FaultDirection::Both;
}

/// The faults of one map, made and collected with what they share.
struct FaultMap {
    const Section& section;
    DiagnosticSink& sink;
    std::vector<FaultSpec> faults;

    FaultSpec& add(FaultKind kind, std::string_view key) {
        FaultSpec fault;
        fault.kind = kind;
        fault.direction = read_direction(section);
        fault.path = section.path(key);
        fault.position = section.position(key);
        faults.push_back(std::move(fault));
        return faults.back();
    }

    /// Which packets: exactly one of `every` and `probability` in `inner`.
    void read_trigger(const Section& inner, FaultSpec& fault) {
        if (inner.has("every")) fault.every = inner.integer("every");
        if (inner.has("probability")) fault.probability = inner.probability("probability");
        if (inner.writes("every") == inner.writes("probability")) {
            sink.add(inner.position(), inner.path(),
                     inner.writes("every") ? "both 'every' and 'probability' are given" : "which packets is not said",
                     "either 'every' or 'probability'");
        }
    }

    void read_packet_faults() {
        for (const PacketFaultRow& row : kPacketFaults) {
            if (section.has(row.every_key)) {
                add(row.kind, row.every_key).every = section.integer(row.every_key);
            }
            if (section.has(row.probability_key)) {
                add(row.kind, row.probability_key).probability = section.probability(row.probability_key);
            }
        }
    }

    void read_delay(const YamlValue& node) {
        const Section inner(kDelaySchema, node, section.path("delay"), sink);
        FaultSpec& fault = add(FaultKind::Delay, "delay");
        fault.by = inner.time("by");
        read_trigger(inner, fault);
    }

    void read_reorder(const YamlValue& node) {
        const Section inner(kReorderSchema, node, section.path("reorder"), sink);
        FaultSpec& fault = add(FaultKind::Reorder, "reorder");
        fault.behind = static_cast<int>(inner.integer("behind"));
        read_trigger(inner, fault);
    }

    void read_down(const YamlValue& node) {
        const Section inner(kDownSchema, node, section.path("down"), sink);
        FaultSpec& fault = add(FaultKind::Down, "down");
        fault.from = inner.time("from");
        if (!inner.has("until")) return;
        fault.until = inner.time("until");
        if (fault.until <= fault.from) {
            sink.add(inner.position("until"), inner.path("until"), "the link is up again before it goes down",
                     "a time after 'from'");
        }
    }
};

void read_fault_map(const YamlValue& node, const std::string& path, DiagnosticSink& sink,
                    std::vector<FaultSpec>& faults) {
    const Section section(kFaultSchema, node, path, sink);
    FaultMap map{section, sink, {}};
    map.read_packet_faults();
    if (const YamlValue* delay = section.node("delay")) map.read_delay(*delay);
    if (const YamlValue* reorder = section.node("reorder")) map.read_reorder(*reorder);
    if (const YamlValue* down = section.node("down")) map.read_down(*down);
    const bool says_nothing =
        node.kind == YamlKind::Map && node.entries.size() == (section.writes("direction") ? 1 : 0);
    if (says_nothing || node.kind == YamlKind::Null) {
        sink.add(node.position, path, "names no fault", "a fault such as 'drop_every: 1000'");
    }
    for (FaultSpec& fault : map.faults) faults.push_back(std::move(fault));
}

}  // namespace

std::vector<FaultSpec> read_faults(const YamlValue& node, const std::string& path, DiagnosticSink& sink) {
    std::vector<FaultSpec> faults;
    switch (node.kind) {
        case YamlKind::Null:
        case YamlKind::Scalar:
            report_wrong_shape(node, path, std::string(expected_shape(kLinkSchema, "faults")), sink);
            break;
        case YamlKind::Map:
            read_fault_map(node, path, sink, faults);
            break;
        case YamlKind::Sequence:
            for (std::size_t i = 0; i < node.items.size(); ++i) {
                read_fault_map(*node.items[i], item_path(path, i), sink, faults);
            }
            break;
    }
    return faults;
}

}  // namespace simverbs::scenarios
