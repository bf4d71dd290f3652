#include <fmt/format.h>

#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::string_view kExpectedEnd = "HOST, HOST.DEVICE, HOST.DEVICE/PORT, SWITCH or SWITCH/PORT";

/// Names for a message; long lists are cut.
template <typename Parts, typename NameOf>
std::pair<std::vector<std::string_view>, std::string> listed(const Parts& parts, NameOf name_of) {
    constexpr std::size_t kMostShown = 12;
    std::vector<std::string_view> names;
    std::string shown;
    for (const auto& part : parts) {
        names.push_back(name_of(part));
        if (names.size() <= kMostShown) shown += (shown.empty() ? "" : ", ") + std::string(names.back());
        if (names.size() == kMostShown + 1) shown += ", …";
    }
    return {names, shown};
}

/// Resolves one end; every step reports its own mistake.
struct EndReader {
    const LabReading& reading;
    const SourcePosition& position;
    const std::string& path;

    std::nullopt_t wrong(std::string problem, std::string expected = {}, std::string hint = {}) const {
        reading.sink.add(position, path, std::move(problem), std::move(expected), std::move(hint));
        return std::nullopt;
    }

    std::optional<int> port(std::string_view text, int ports) const {
        const auto parsed = parse_integer(text);
        const auto* number = std::get_if<int64_t>(&parsed);
        const int64_t most = ports == 0 ? 65000 : ports;
        if (number == nullptr || *number < 1 || *number > most) {
            return wrong(fmt::format("there is no port {}", in_quotes(text)),
                         ports == 1 ? std::string("port 1") : fmt::format("a port from 1 to {}", most));
        }
        return static_cast<int>(*number);
    }

    std::optional<LinkEnd> host_end(int node, std::string_view device, bool has_device) const {
        const HostSpec& host = reading.lab.hosts[static_cast<std::size_t>(node)];
        const auto [names, shown] = listed(host.nics, [](const NicSpec& nic) { return std::string_view(nic.device); });
        if (!has_device) {
            if (names.size() == 1) return LinkEnd{false, node, 0, 0};
            if (names.empty()) return std::nullopt;
            return wrong(fmt::format("host '{}' has {} NICs", host.name, names.size()),
                         fmt::format("one of them, such as '{}.{}'", host.name, names.front()));
        }
        for (std::size_t nic = 0; nic < names.size(); ++nic) {
            if (names[nic] == device) return LinkEnd{false, node, static_cast<int>(nic), 0};
        }
        if (!reading.names_are_complete) return std::nullopt;
        return wrong(fmt::format("host '{}' has no NIC {}", host.name, in_quotes(device)), "one of " + shown,
                     did_you_mean(device, names));
    }

    std::optional<LinkEnd> node_end(std::string_view name, std::string_view device, bool has_device) const {
        const auto found = reading.nodes_by_name.find(std::string(name));
        if (found != reading.nodes_by_name.end()) {
            const LinkEnd& end = found->second;
            if (!end.is_switch) return host_end(end.node, device, has_device);
            if (has_device)
                return wrong(fmt::format("'{}' is a switch and has no devices", name), "SWITCH or SWITCH/PORT");
            return end;
        }
        if (reading.sink.is_full()) return wrong("is neither a host nor a switch");
        if (!reading.names_are_complete) return std::nullopt;
        auto [names, shown] =
            listed(reading.lab.hosts, [](const HostSpec& part) { return std::string_view(part.name); });
        const auto [switch_names, shown_switches] =
            listed(reading.lab.switches, [](const SwitchSpec& part) { return std::string_view(part.name); });
        names.insert(names.end(), switch_names.begin(), switch_names.end());
        shown += (shown.empty() || shown_switches.empty() ? "" : ", ") + shown_switches;
        return wrong(in_quotes(name) + " is neither a host nor a switch", "one of " + shown, did_you_mean(name, names));
    }
};

}  // namespace

std::optional<LinkEnd> read_link_end(const LabReading& reading, std::string_view text, const SourcePosition& position,
                                     const std::string& path) {
    const EndReader reader{reading, position, path};
    const std::size_t slash = text.find('/');
    const std::string_view before = text.substr(0, slash);
    const std::size_t dot = before.find('.');
    const std::string_view node = before.substr(0, dot);
    const bool has_device = dot != std::string_view::npos;
    const std::string_view device = has_device ? before.substr(dot + 1) : std::string_view();
    if (!is_name(node) || (has_device && !is_name(device))) {
        return reader.wrong(in_quotes(text) + " is not a port", std::string(kExpectedEnd));
    }
    std::optional<LinkEnd> end = reader.node_end(node, device, has_device);
    if (!end || slash == std::string_view::npos) return end;
    const auto index = static_cast<std::size_t>(end->node);
    const int ports = end->is_switch ? reading.lab.switches[index].ports
                                     : reading.lab.hosts[index].nics[static_cast<std::size_t>(end->nic)].ports;
    const std::optional<int> port = reader.port(text.substr(slash + 1), ports);
    if (!port) return std::nullopt;
    end->port = *port;
    return end;
}

void LabReading::index_names() {
    for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
        nodes_by_name.try_emplace(lab.hosts[i].name, LinkEnd{false, static_cast<int>(i), 0, 0});
    }
    for (std::size_t i = 0; i < lab.switches.size(); ++i) {
        nodes_by_name.try_emplace(lab.switches[i].name, LinkEnd{true, static_cast<int>(i), 0, 0});
    }
}

int LabSpec::find_host(std::string_view host_name) const noexcept {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        if (hosts[i].name == host_name) return static_cast<int>(i);
    }
    return -1;
}

std::string to_string(const LabSpec& lab, const LinkEnd& end) {
    const auto node = static_cast<std::size_t>(end.node);
    if (end.is_switch) return fmt::format("{}/{}", lab.switches[node].name, end.port);
    const HostSpec& host = lab.hosts[node];
    return fmt::format("{}.{}/{}", host.name, host.nics[static_cast<std::size_t>(end.nic)].device, end.port);
}

}  // namespace simverbs::scenarios
