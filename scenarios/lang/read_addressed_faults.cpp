#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

struct FaultKeyRow {
    std::string_view key;
    AddressedFaultKind kind;
    const ComponentSchema* schema;
    bool hits_packets;
};
const std::array<FaultKeyRow, 20> kFaultKeys{{
    {"drop", AddressedFaultKind::Drop, &kPacketFaultSchema, true},
    {"corrupt", AddressedFaultKind::Corrupt, &kPacketFaultSchema, true},
    {"duplicate", AddressedFaultKind::Duplicate, &kPacketFaultSchema, true},
    {"delay", AddressedFaultKind::Delay, &kPacketDelaySchema, true},
    {"reorder", AddressedFaultKind::Reorder, &kPacketReorderSchema, true},
    {"ecn_mark", AddressedFaultKind::EcnMark, &kPacketFaultSchema, true},
    {"down", AddressedFaultKind::Down, &kDownSchema, false},
    {"flap", AddressedFaultKind::Flap, &kFlapSchema, false},
    {"pause_storm", AddressedFaultKind::PauseStorm, &kPauseStormSchema, false},
    {"kill", AddressedFaultKind::Kill, &kKillSchema, false},
    {"freeze", AddressedFaultKind::Freeze, &kFreezeSchema, false},
    {"fail_call", AddressedFaultKind::FailCall, &kFailCallSchema, false},
    {"limit_cq", AddressedFaultKind::LimitCq, &kLimitCqSchema, false},
    {"place_cqe", AddressedFaultKind::PlaceCqe, &kPlaceCqeSchema, false},
    {"delay_receives", AddressedFaultKind::DelayReceives, &kDelayReceivesSchema, false},
    {"port_state", AddressedFaultKind::PortState, &kPortStateSchema, false},
    {"change_gid", AddressedFaultKind::ChangeGid, &kChangeGidSchema, false},
    {"change_pkey", AddressedFaultKind::ChangePkey, &kChangePkeySchema, false},
    {"port_event", AddressedFaultKind::PortEvent, &kPortEventSchema, false},
    {"degrade_slot", AddressedFaultKind::DegradeSlot, &kDegradeSlotSchema, false},
}};

constexpr std::string_view kExpectedFlow =
    "a workload's name, one of its flows such as 'incast[3]', or the number of a flow in the run";

std::string quoted_list(const std::vector<std::string_view>& keys) {
    std::string out;
    for (const std::string_view key : keys) out += (out.empty() ? "" : ", ") + fmt::format("'{}'", key);
    return out;
}

/// One entry of `faults` while it is read.
struct AddressedFaultReader {
    ScenarioReading& reading;
    const Section& section;
    AddressedFaultSpec& out;

    void wrong(const Section& where, std::string_view key, std::string problem, std::string expected) const {
        reading.sink.add(where.position(key), where.path(key), std::move(problem), std::move(expected));
    }

    /// The one key that says what goes wrong; nullptr after a report.
    [[nodiscard]] const FaultKeyRow* find_kind() const {
        std::vector<std::string_view> given;
        const FaultKeyRow* found = nullptr;
        std::vector<std::string_view> all;
        for (const FaultKeyRow& row : kFaultKeys) {
            all.push_back(row.key);
            if (!section.writes(row.key)) continue;
            given.push_back(row.key);
            found = &row;
        }
        if (given.size() == 1) return section.node(found->key) != nullptr ? found : nullptr;
        reading.sink.add(section.position(), section.path(),
                         given.empty() ? "names no fault" : quoted_list(given) + " are more than one fault",
                         "exactly one of " + quoted_list(all));
        return nullptr;
    }

    void read() {
        const FaultKeyRow* row = find_kind();
        read_link(row);
        const std::string direction = section.text("direction");
        out.direction = direction == "a_to_b"   ? FaultDirection::AToB
                        : direction == "b_to_a" ? FaultDirection::BToA
                                                : FaultDirection::Both;
        if (row == nullptr) return;
        out.kind = row->kind;
        const Section inner(*row->schema, *section.node(row->key), section.path(row->key), reading.sink);
        if (row->hits_packets) {
            read_times(section);
            read_trigger(inner);
        } else {
            refuse_times(row->key);
        }
        read_kind(inner);
    }

    void read_link(const FaultKeyRow* row) {
        const bool needs_none = row != nullptr && place_of(row->kind) != FaultPlace::Link;
        if (section.has("link")) {
            out.link =
                read_link_ref(reading.network, section.text("link"), section.position("link"), section.path("link"));
            if (needs_none)
                wrong(section, "link", fmt::format("'{}' names what it is about itself", row->key), "no 'link'");
        } else if (!section.writes("link") && !needs_none && row != nullptr) {
            reading.sink.add(section.position(), section.path(), "the key 'link' is missing",
                             "one end of the link or both, such as 'tor0/1 - agg0/2' or 'h0'");
        }
    }

    void read_times(const Section& where) {
        out.from = where.time("from");
        if (!where.has("until")) return;
        out.until = where.time("until");
        if (out.until <= out.from) wrong(where, "until", "ends before it begins", "a time after 'from'");
    }

    void refuse_times(std::string_view key) const {
        for (const std::string_view time : {"from", "until"}) {
            if (section.writes(time)) {
                wrong(section, time, fmt::format("'{}' has its own times", key), "it inside the fault's map");
            }
        }
    }

    void read_trigger(const Section& inner) {
        PacketTrigger& trigger = out.trigger;
        int given = 0;
        for (const std::string_view key : {"packet", "every", "probability", "match"}) {
            given += static_cast<int>(inner.writes(key));
        }
        if (given != 1) {
            reading.sink.add(inner.position(), inner.path(),
                             given == 0 ? "which packets is not said" : "which packets is said more than once",
                             "one of 'packet', 'every', 'probability' and 'match'");
        }
        if (inner.has("packet")) trigger.packet = inner.integer("packet");
        if (inner.has("every")) trigger.every = inner.integer("every");
        if (inner.has("probability")) trigger.probability = inner.probability("probability");
        if (inner.has("most")) trigger.most = inner.integer("most");
        const YamlValue* match = inner.node("match");
        if (match != nullptr)
            read_match(Section(kPacketMatchSchema, *match, inner.path("match"), reading.sink), *match);
    }

    void read_match(const Section& section_of_match, const YamlValue& node) {
        PacketMatch match;
        for (const auto& [key, member] :
             {std::pair{"qpn", &match.qpn}, std::pair{"psn", &match.psn}, std::pair{"iteration", &match.iteration}}) {
            if (section_of_match.has(key)) *member = section_of_match.integer(key);
        }
        if (section_of_match.has("flow")) match.flow = read_flow(section_of_match);
        match.opcode = section_of_match.text("opcode");
        match.qpn_path = section_of_match.path("qpn");
        match.qpn_position = section_of_match.position("qpn");
        if (node.entries.empty()) {
            reading.sink.add(node.position, section_of_match.path(), "matches everything",
                             "at least one of qpn, psn, flow, opcode, iteration");
        }
        out.trigger.match = std::move(match);
    }

    /// "websearch", "websearch[3]" or "3".
    [[nodiscard]] std::optional<FlowRef> read_flow(const Section& match) const {
        FlowRef flow;
        flow.text = match.text("flow");
        flow.path = match.path("flow");
        flow.position = match.position("flow");
        const std::size_t bracket = flow.text.find('[');
        const bool is_indexed = bracket != std::string::npos && flow.text.back() == ']';
        const std::string digits =
            is_indexed ? flow.text.substr(bracket + 1, flow.text.size() - bracket - 2) : flow.text;
        const auto parsed = parse_integer(digits);
        if (const auto* number = std::get_if<int64_t>(&parsed); number != nullptr && *number >= 0)
            flow.number = *number;
        if (is_indexed ? !flow.number : !flow.number && !is_name(flow.text)) {
            wrong(match, "flow", in_quotes(flow.text) + " is not a flow", std::string(kExpectedFlow));
            return std::nullopt;
        }
        if (is_indexed) flow.workload = flow.text.substr(0, bracket);
        if (!flow.number) flow.workload = flow.text;
        if (flow.workload.empty() && !is_indexed) return flow;
        return is_known(match, flow) ? std::optional(std::move(flow)) : std::nullopt;
    }

    [[nodiscard]] bool is_known(const Section& match, const FlowRef& flow) const {
        std::vector<std::string_view> names;
        for (const WorkloadSpec& workload : reading.spec.workloads) {
            names.push_back(workload.name);
            if (workload.name != flow.workload) continue;
            const auto count = static_cast<int64_t>(workload.flows.size());
            if (workload.kind != "flows" || !flow.number || *flow.number < count || count == 0) return true;
            wrong(match, "flow", fmt::format("'{}' has no flow {}", flow.workload, *flow.number),
                  fmt::format("0 to {}", count - 1));
            return false;
        }
        if (reading.workload_names_are_complete) {
            reading.sink.add(match.position("flow"), match.path("flow"),
                             fmt::format("there is no workload {}", in_quotes(flow.workload)),
                             std::string(kExpectedFlow), did_you_mean(flow.workload, names));
        }
        return false;
    }

    void read_kind(const Section& inner) {
        if (place_of(out.kind) != FaultPlace::Link) return read_fault_without_link(reading, inner, out);
        if (out.kind == AddressedFaultKind::Delay) out.by = inner.time("by");
        if (out.kind == AddressedFaultKind::Reorder) out.behind = static_cast<int>(inner.integer("behind"));
        if (out.kind == AddressedFaultKind::Down) read_times(inner);
        if (out.kind == AddressedFaultKind::Flap) read_flap(inner);
        if (out.kind == AddressedFaultKind::PauseStorm) {
            read_times(inner);
            out.priority = static_cast<int>(inner.integer("priority"));
        }
    }

    void read_flap(const Section& inner) {
        out.from = inner.time("from");
        out.period = inner.time("period");
        out.down_time = inner.time("down");
        if (inner.has("count")) out.count = inner.integer("count");
        if (inner.has("down") && inner.has("period") && out.down_time >= out.period) {
            wrong(inner, "down", "it is never up", "less than 'period'");
        }
    }
};

}  // namespace

void read_addressed_faults(ScenarioReading& reading, const Section& scenario) {
    const std::vector<YamlPtr> items = read_list(scenario, "faults", reading.sink);
    std::vector<AddressedFaultSpec>& faults = reading.spec.faults;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string path = item_path(scenario.path("faults"), i);
        if (items[i]->kind == YamlKind::Null) {
            report_wrong_shape(*items[i], path, "a map with a fault", reading.sink);
        }
        const Section section(kAddressedFaultSchema, *items[i], path, reading.sink);
        if (items[i]->kind != YamlKind::Map) {
            reading.fault_names_are_complete = false;
            continue;
        }
        AddressedFaultSpec fault;
        fault.path = path;
        fault.position = section.position();
        if (section.writes("name") && !section.has("name")) reading.fault_names_are_complete = false;
        fault.name = section.has("name") ? section.text("name") : fmt::format("fault{}", i);
        const bool is_taken = std::any_of(faults.begin(), faults.end(),
                                          [&](const AddressedFaultSpec& other) { return other.name == fault.name; });
        if (is_taken) {
            reading.sink.add(section.position("name"), section.path("name"),
                             fmt::format("the name '{}' is taken", fault.name), "a name of its own");
        }
        AddressedFaultReader{reading, section, fault}.read();
        faults.push_back(std::move(fault));
    }
}

}  // namespace simverbs::scenarios
