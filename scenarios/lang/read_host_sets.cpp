#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_reading.hpp"

namespace simverbs::scenarios {

namespace {

/// "h12" as "h" and 12.
struct NumberedName {
    std::string stem;
    int64_t number = 0;
};
std::optional<NumberedName> numbered(std::string_view name) {
    std::size_t at = name.size();
    while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])) != 0) --at;
    const auto number = parse_integer(name.substr(at));
    if (!is_name(name) || at == name.size() || !std::holds_alternative<int64_t>(number)) return std::nullopt;
    return NumberedName{std::string(name.substr(0, at)), std::get<int64_t>(number)};
}

/// Adds the hosts that one text stands for.
void add_hosts(const ScenarioReading& reading, const YamlValue& item, const std::string& path, HostSet& set) {
    constexpr std::string_view kTo = "..";
    const std::string_view text = item.text;
    const std::size_t to = text.find(kTo);
    if (to == std::string_view::npos) {
        PlaceRef host{item.text, path, item.position};
        if (check_host(reading, host)) set.hosts.push_back(std::move(host));
        return;
    }
    const auto first = numbered(text.substr(0, to));
    const auto last = numbered(text.substr(to + kTo.size()));
    if (!first || !last || first->stem != last->stem || last->number < first->number ||
        last->number - first->number >= kMaxHosts) {
        reading.sink.add(item.position, path, in_quotes(text) + " is not a range of hosts",
                         "one such as 'h0..h15', upwards");
        return;
    }
    for (int64_t number = first->number; number <= last->number; ++number) {
        PlaceRef host{first->stem + std::to_string(number), path, item.position};
        if (!check_host(reading, host)) return;  // once is enough
        set.hosts.push_back(std::move(host));
    }
}

void add_number(const ScenarioReading& reading, const YamlValue& value, const std::string& path, HostSet& set) {
    const int64_t count = std::get<int64_t>(parse_integer(value.text));
    const auto most = host_count(reading);
    if (count < 1 || (most && count > *most)) {
        reading.sink.add(value.position, path,
                         in_quotes(value.text) + (count < 1 ? " is too small" : " is more than there are"),
                         most ? fmt::format("1 to {} hosts", *most) : "at least 1");
        return;
    }
    set.count = count;
}

}  // namespace

std::optional<int64_t> host_count(const ScenarioReading& reading) {
    const LabReading& network = reading.network;
    if (network.topology.is_fabric) return network.topology.host_count;
    if (!network.names_are_complete) return std::nullopt;
    return static_cast<int64_t>(network.lab.hosts.size());
}

bool check_host(const ScenarioReading& reading, const PlaceRef& host) {
    const LabReading& network = reading.network;
    if (!is_name(host.text)) {
        reading.sink.add(host.position, host.path, in_quotes(host.text) + " is not a host", "a host such as 'h0'");
        return false;
    }
    if (network.topology.is_fabric) return check_place(network, host);
    if (network.lab.find_host(host.text) >= 0) return true;
    if (!network.names_are_complete) return false;
    constexpr std::size_t kMostShown = 12;
    std::vector<std::string_view> names;
    std::string shown;
    for (const HostSpec& known : network.lab.hosts) {
        names.push_back(known.name);
        if (names.size() <= kMostShown) shown += (shown.empty() ? "one of " : ", ") + known.name;
        if (names.size() == kMostShown + 1) shown += ", …";
    }
    reading.sink.add(host.position, host.path, fmt::format("there is no host {}", in_quotes(host.text)), shown,
                     did_you_mean(host.text, names));
    return false;
}

std::optional<PlaceRef> read_host_ref(const ScenarioReading& reading, const Section& section, std::string_view key) {
    if (!section.has(key)) return std::nullopt;
    PlaceRef host{section.text(key), section.path(key), section.position(key)};
    if (!check_host(reading, host)) return std::nullopt;
    return host;
}

std::optional<PlaceRef> read_place(const ScenarioReading& reading, const Section& section, std::string_view key) {
    if (!section.has(key)) return std::nullopt;
    PlaceRef place{section.text(key), section.path(key), section.position(key)};
    if (!check_place(reading.network, place)) return std::nullopt;
    return place;
}

std::vector<PlaceRef> read_places(const ScenarioReading& reading, const Section& section, std::string_view key) {
    std::vector<PlaceRef> out;
    const YamlValue* node = section.node(key);
    if (node == nullptr) return out;
    const std::string path = section.path(key);
    const auto add = [&](const YamlValue& item, const std::string& item_at) {
        if (item.kind != YamlKind::Scalar) {
            report_wrong_shape(item, item_at, expected_value(*section.schema().find(key)), reading.sink);
            return;
        }
        PlaceRef place{item.text, item_at, item.position};
        if (check_place(reading.network, place)) out.push_back(std::move(place));
    };
    if (node->kind != YamlKind::Sequence) {
        add(*node, path);
        return out;
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) add(*node->items[i], item_path(path, i));
    return out;
}

HostSet read_host_set(const ScenarioReading& reading, const Section& section, std::string_view key) {
    HostSet set;
    set.path = section.path(key);
    set.position = section.position(key);
    const YamlValue* node = section.node(key);
    if (node == nullptr || (node->kind == YamlKind::Scalar && node->text == "all")) return set;
    set.is_all = false;
    const std::string expected = expected_value(*section.schema().find(key));
    if (node->kind == YamlKind::Scalar) {
        const bool is_number = std::holds_alternative<int64_t>(parse_integer(node->text));
        is_number ? add_number(reading, *node, set.path, set) : add_hosts(reading, *node, set.path, set);
        return set;
    }
    if (node->kind != YamlKind::Sequence || node->items.empty()) {
        report_wrong_shape(*node, set.path, expected, reading.sink);
        return set;
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) {
        const YamlValue& item = *node->items[i];
        if (item.kind == YamlKind::Scalar) {
            add_hosts(reading, item, item_path(set.path, i), set);
        } else {
            report_wrong_shape(item, item_path(set.path, i), expected, reading.sink);
        }
    }
    return set;
}

std::vector<YamlPtr> read_list(const Section& section, std::string_view key, DiagnosticSink& sink) {
    const YamlValue* node = section.node(key);
    if (node == nullptr) return {};
    if (node->kind == YamlKind::Sequence) return node->items;
    report_wrong_shape(*node, section.path(key), expected_value(*section.schema().find(key)), sink);
    return {};
}

}  // namespace simverbs::scenarios
