#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr int64_t kMaxSwitches = 65000;

SwitchSpec read_switch(const LabReading& reading, const NamedPart& part) {
    const Section section(kSwitchSchema, *part.node, part.path, reading.sink, reading.switch_template);
    SwitchSpec out;
    out.name = part.name;
    out.ports = static_cast<int>(section.integer("ports"));
    out.latency = section.time("latency");
    out.forwarding = section.text("forwarding") == "cut-through" ? Forwarding::CutThrough : Forwarding::StoreAndForward;
    out.buffer = section.size("buffer");
    out.buffer_place = place_of(section, "buffer");
    out.queueing = read_queueing(section, reading.sink);
    refuse_in_lab(reading, section,
                  {"cell", "alpha", "a_shift", "pfc", "ecn", "scheduler", "dscp_map", "pcp_map", "load_balancing",
                   "flowlet_gap", "trimming", "int", "vl_buffer", "vl_arbitration", "sl2vl", "fecn", "path_policy"});
    out.path = part.path;
    out.position = part.name_position;
    return out;
}

}  // namespace

void read_switches(LabReading& reading, const YamlValue& node, const std::string& path) {
    const PartsRule rule{expected_shape(kLabSchema, "switches"), "name", kMaxSwitches, false};
    const std::size_t errors_before = reading.sink.count();
    for (NamedPart& part : read_named_parts(rule, node, path, reading.sink)) {
        if (part.name.empty()) part.name = "sw" + std::to_string(reading.lab.switches.size());
        SwitchSpec made = read_switch(reading, part);
        if (is_name(made.name)) reading.lab.switches.push_back(std::move(made));
    }
    if (reading.sink.count() != errors_before) reading.names_are_complete = false;
}

SwitchSpec read_template_switch(const LabReading& reading) {
    return read_switch(reading, {"", reading.position, &null_value(), child_path(reading.path, "switch")});
}

int LabReading::add_switch(std::string_view name) {
    for (std::size_t i = 0; i < lab.switches.size(); ++i) {
        if (lab.switches[i].name == name) return static_cast<int>(i);
    }
    const NamedPart part{std::string(name), topology_position, &null_value(),
                         child_path(child_path(path, "switches"), name)};
    lab.switches.push_back(read_switch(*this, part));
    return static_cast<int>(lab.switches.size()) - 1;
}

}  // namespace simverbs::scenarios
