#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr int64_t kDefaultHosts = 2;

void read_host(LabReading& reading, const NamedPart& part) {
    const Section section(kHostSchema, *part.node, part.path, reading.sink);
    const int64_t count = section.integer("count");
    if (static_cast<int64_t>(reading.lab.hosts.size()) + count > kMaxHosts) {
        reading.sink.add(section.position("count"), part.path, "too many hosts",
                         fmt::format("at most {} in all", kMaxHosts));
        return;
    }
    if (!part.name.empty() && !is_name(part.name)) {
        reading.names_are_complete = false;
        return;
    }
    HostSpec host;
    const std::string number = std::to_string(reading.lab.hosts.size());
    host.name = !part.name.empty() ? part.name : "h" + number;
    // Hosts of `hosts: 4` have no place of their own in the file's tree.
    host.path = part.node->position.line == 0 && part.name.empty() ? child_path(part.path, host.name) : part.path;
    host.position = part.name_position;
    read_nics(reading, host, section.node("nics"), child_path(host.path, "nics"));
    read_inside(reading, host, section.node("platform"), child_path(host.path, "platform"));
    if (!section.has("count")) {
        reading.lab.hosts.push_back(std::move(host));
        return;
    }
    const std::string stem = part.name.empty() ? "h" : part.name;
    const std::size_t first = part.name.empty() ? reading.lab.hosts.size() : 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        HostSpec copy = host;
        copy.name = stem + std::to_string(first + i);
        reading.lab.hosts.push_back(std::move(copy));
    }
}

}  // namespace

void read_fabric_host(LabReading& reading, const Section& section) {
    if (section.writes("hosts")) {
        reading.sink.add(section.position("hosts"), section.path("hosts"),
                         fmt::format("the topology '{}' brings its own hosts", reading.lab.topology), {},
                         "remove it; `nic` says what their NICs are");
    }
    HostSpec& host = reading.topology.host;
    host.name = "h";
    host.path = section.path("hosts");
    host.position = reading.topology_position;
    read_nics(reading, host, nullptr, section.path("nic"));
    read_inside(reading, host, nullptr, {});
}

void read_hosts(LabReading& reading, const YamlValue* node, const std::string& path) {
    const PartsRule rule{expected_shape(kLabSchema, "hosts"), "name", kMaxHosts};
    std::vector<NamedPart> parts;
    if (node != nullptr) {
        const std::size_t errors_before = reading.sink.count();
        parts = read_named_parts(rule, *node, path, reading.sink);
        if (reading.sink.count() != errors_before) reading.names_are_complete = false;
    } else {
        parts.assign(kDefaultHosts, NamedPart{"", reading.position, &null_value(), path});
    }
    for (const NamedPart& part : parts) read_host(reading, part);
}

}  // namespace simverbs::scenarios
