#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scenarios/lang/lab_reading.hpp"

namespace simverbs::scenarios {

namespace {

std::string_view layer_name(LinkLayer layer) noexcept {
    switch (layer) {
        case LinkLayer::Ethernet:
            return "Ethernet";
        case LinkLayer::InfiniBand:
            return "InfiniBand";
    }
    return "";
}

/// Hosts and switches share one space of names.
void check_names(const LabReading& reading) {
    std::unordered_map<std::string_view, const SourcePosition*> first;
    const auto check = [&](const std::string& name, const std::string& path, const SourcePosition& position) {
        const auto [found, is_new] = first.try_emplace(name, &position);
        if (is_new) return;
        const int line = found->second->line;
        reading.sink.add(position, path, fmt::format("the name '{}' is taken", name), "a name of its own",
                         line > 0 ? fmt::format("the first is in line {}", line) : "");
    };
    for (const HostSpec& host : reading.lab.hosts) check(host.name, host.path, host.position);
    for (const SwitchSpec& made : reading.lab.switches) check(made.name, made.path, made.position);
}

/// No two NICs of the lab may have the same value of one kind of identity; port p of a NIC counts on from port 1.
class IdentityCheck {
  public:
    IdentityCheck(const LabReading& reading, std::string_view what) : reading_(reading), what_(what) {}

    template <typename Value>
    void add(const NicSpec& nic, std::string_view key, const std::optional<Value>& value, int count) {
        if (!value) return;
        for (int i = 0; i < count; ++i) {
            const auto [found, is_new] =
                owners_.try_emplace(static_cast<uint64_t>(*value) + static_cast<uint64_t>(i), &nic);
            if (is_new) continue;
            reading_.sink.add(nic.position, child_path(nic.path, key),
                              fmt::format("the {} is taken by {}", what_, found->second->path));
            return;
        }
    }

  private:
    const LabReading& reading_;
    std::string_view what_;
    std::unordered_map<uint64_t, const NicSpec*> owners_;
};

void check_identities(const LabReading& reading) {
    IdentityCheck addresses(reading, "IPv4 address");
    IdentityCheck macs(reading, "MAC address");
    IdentityCheck guids(reading, "GUID");
    IdentityCheck lids(reading, "LID");
    std::map<GidBytes, const NicSpec*> gids;
    for (const HostSpec& host : reading.lab.hosts) {
        for (const NicSpec& nic : host.nics) {
            addresses.add(nic, "address", nic.address, nic.ports);
            macs.add(nic, "mac", nic.mac, nic.ports);
            guids.add(nic, "guid", nic.guid, 1);
            lids.add(nic, "lid", nic.lid, nic.ports);
            if (!nic.gid) continue;
            const auto [found, is_new] = gids.try_emplace(*nic.gid, &nic);
            if (!is_new) {
                reading.sink.add(nic.position, child_path(nic.path, "gid"),
                                 fmt::format("the GID is taken by {}", found->second->path));
            }
        }
    }
}

/// The device that an end belongs to, without its port.
using DeviceKey = std::tuple<bool, int, int>;
DeviceKey device_of(const LinkEnd& end) {
    return {end.is_switch, end.node, end.nic};
}

/// Gives each end that names no port the lowest free one; reports ports used twice and devices without enough ports.
class PortAssignment {
  public:
    explicit PortAssignment(LabReading& reading) : reading_(reading) {
        for (LinkSpec& link : reading_.lab.links) {
            for (const LinkEnd* end : {&link.a, &link.b}) reserve(link, *end);
        }
        for (LinkSpec& link : reading_.lab.links) {
            for (LinkEnd* end : {&link.a, &link.b}) assign(link, *end);
        }
        for (std::size_t i = 0; i < reading_.lab.switches.size(); ++i) finish_switch(i);
    }

  private:
    struct Ports {
        std::set<int> used;
        int next = 1;  ///< no port below is free
    };

    [[nodiscard]] int ports_of(const LinkEnd& end) const {
        const auto node = static_cast<std::size_t>(end.node);
        if (end.is_switch) return reading_.lab.switches[node].ports;
        return reading_.lab.hosts[node].nics[static_cast<std::size_t>(end.nic)].ports;
    }

    void reserve(const LinkSpec& link, const LinkEnd& end) {
        if (end.port == 0) return;
        if (ports_[device_of(end)].used.insert(end.port).second) return;
        reading_.sink.add(link.position, link.path, fmt::format("{} is wired twice", to_string(reading_.lab, end)));
    }

    void assign(const LinkSpec& link, LinkEnd& end) {
        const int most = ports_of(end);
        Ports& ports = ports_[device_of(end)];
        if (end.port == 0) {
            while (ports.used.contains(ports.next)) ++ports.next;
            end.port = ports.next;
            ports.used.insert(end.port);
        }
        if (most == 0 || end.port <= most) return;
        const std::string written = to_string(reading_.lab, end);
        reading_.sink.add(link.position, link.path,
                          fmt::format("{} has no free port", written.substr(0, written.rfind('/'))),
                          fmt::format("at most {} cable(s) to it", most));
    }

    void finish_switch(std::size_t index) {
        SwitchSpec& made = reading_.lab.switches[index];
        const auto found = ports_.find({true, static_cast<int>(index), 0});
        if (found == ports_.end()) {
            reading_.sink.add(made.position, made.path, fmt::format("no cable goes to the switch '{}'", made.name), {},
                              "remove it, or add a link to it");
            return;
        }
        if (made.ports == 0) made.ports = *found->second.used.rbegin();
    }

    LabReading& reading_;
    std::map<DeviceKey, Ports> ports_;
};

/// Spreads the link layer of the NICs over the cables and switches; reports cables between different ones.
class LayerCheck {
  public:
    explicit LayerCheck(LabReading& reading) : lab_(reading.lab), sink_(reading.sink) {
        layers_.resize(lab_.switches.size());
        cables_.resize(lab_.switches.size());
        for (const LinkSpec& link : lab_.links) {
            for (const auto& [end, other] : {std::pair{&link.a, &link.b}, std::pair{&link.b, &link.a}}) {
                if (end->is_switch) cables_[static_cast<std::size_t>(end->node)].push_back(other);
            }
        }
        for (const LinkSpec& link : lab_.links) {
            if (!link.a.is_switch) spread(link.b, nic_layer(link.a));
            if (!link.b.is_switch) spread(link.a, nic_layer(link.b));
        }
        for (const LinkSpec& link : lab_.links) check(link);
        for (std::size_t i = 0; i < layers_.size(); ++i) finish_switch(i);
    }

  private:
    [[nodiscard]] LinkLayer nic_layer(const LinkEnd& end) const {
        return lab_.hosts[static_cast<std::size_t>(end.node)].nics[static_cast<std::size_t>(end.nic)].link_layer;
    }

    void spread(const LinkEnd& from, LinkLayer layer) {
        std::vector<const LinkEnd*> open{&from};
        while (!open.empty()) {
            const LinkEnd& end = *open.back();
            open.pop_back();
            const auto node = static_cast<std::size_t>(end.node);
            if (!end.is_switch || layers_[node]) continue;
            layers_[node] = layer;
            open.insert(open.end(), cables_[node].begin(), cables_[node].end());
        }
    }

    [[nodiscard]] LinkLayer layer(const LinkEnd& end) const {
        if (!end.is_switch) return nic_layer(end);
        return layers_[static_cast<std::size_t>(end.node)].value_or(LinkLayer::Ethernet);
    }

    void check(const LinkSpec& link) {
        const LinkLayer a = layer(link.a);
        const LinkLayer b = layer(link.b);
        if (a == b) return;
        sink_.add(link.position, link.path,
                  fmt::format("joins {} ({}) and {} ({})", to_string(lab_, link.a), layer_name(a),
                              to_string(lab_, link.b), layer_name(b)),
                  "the same link layer at both ends (a switch has that of the first NIC wired to it)");
    }

    void finish_switch(std::size_t index) {
        SwitchSpec& made = lab_.switches[index];
        made.link_layer = layers_[index].value_or(LinkLayer::Ethernet);
        if (made.latency != sim::SimTime::zero()) return;
        made.latency = default_switch_latency(made.link_layer);
    }

    LabSpec& lab_;
    DiagnosticSink& sink_;
    std::vector<std::optional<LinkLayer>> layers_;
    std::vector<std::vector<const LinkEnd*>> cables_;  ///< by switch: the other ends
};

/// The switches of a fabric have the link layer of its NICs.
void complete_fabric(LabReading& reading) {
    const LinkLayer layer = reading.topology.host.nics.front().link_layer;
    const auto complete = [&](SwitchSpec& made) {
        made.link_layer = layer;
        if (made.latency == sim::SimTime::zero()) made.latency = default_switch_latency(layer);
    };
    complete(reading.topology.switch_);
    for (SwitchSpec& made : reading.lab.switches) complete(made);
}

/// Keys whose mistakes leave it clear which parts there are and how they are joined.
constexpr std::array<std::string_view, 38> kKeysBesideWiring{"address",       "mac",
                                                             "guid",          "lid",
                                                             "gid",           "mtu",
                                                             "ipv6",          "parameters",
                                                             "roce_versions", "vlan",
                                                             "rate",          "length",
                                                             "delay",         "faults",
                                                             "forwarding",    "buffer",
                                                             "latency",       "seed",
                                                             "clock",         "description",
                                                             "cell",          "alpha",
                                                             "a_shift",       "pfc",
                                                             "ecn",           "scheduler",
                                                             "dscp_map",      "pcp_map",
                                                             "trimming",      "int",
                                                             "fecn",          "sl2vl",
                                                             "vl_buffer",     "load_balancing",
                                                             "flowlet_gap",   "priority",
                                                             "path_policy",   "vl_arbitration"};
/// At the top, a key that is misspelt may be one of these.
constexpr std::array<std::string_view, 8> kKeysOfWiring{"'hosts'",    "'nic'",  "'nics'",  "'switch'",
                                                        "'switches'", "'link'", "'links'", "'topology'"};

bool is_beside_wiring(std::string_view path) {
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        const std::string_view key = path.substr(0, std::min(dot, path.find('[')));
        if (std::find(kKeysBesideWiring.begin(), kKeysBesideWiring.end(), key) != kKeysBesideWiring.end()) return true;
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return false;
}

bool touches_wiring(const LabReading& reading, const Diagnostic& error) {
    if (error.path == reading.path) {
        return std::any_of(kKeysOfWiring.begin(), kKeysOfWiring.end(),
                           [&](auto key) { return error.hint.find(key) != std::string::npos; });
    }
    if (reading.topology.is_fabric) return error.path.starts_with(reading.topology_path);
    return !is_beside_wiring(error.path);
}

bool is_wiring_understood(const LabReading& reading) {
    if (!reading.names_are_complete || reading.generator == nullptr || reading.sink.is_full()) return false;
    const std::vector<Diagnostic>& errors = reading.sink.kept();
    const std::size_t first = std::min(reading.errors_before, errors.size());
    return std::none_of(errors.begin() + static_cast<std::ptrdiff_t>(first), errors.end(),
                        [&](const Diagnostic& error) { return touches_wiring(reading, error); });
}

}  // namespace

sim::SimTime default_switch_latency(LinkLayer layer) noexcept {
    switch (layer) {
        case LinkLayer::Ethernet:
            return sim::SimTime::ns(300);  // Spectrum-2
        case LinkLayer::InfiniBand:
            return sim::SimTime::ns(130);  // Quantum
    }
    return {};
}

void check_lab(LabReading& reading) {
    check_names(reading);
    reading.has_wiring = is_wiring_understood(reading);
    if (reading.topology.is_fabric) return complete_fabric(reading);
    // An identity in a template is one mistake, not one for every NIC.
    if (!reading.templates_are_wrong) check_identities(reading);
    // What is wired wrongly can only be told when everything that could be wired has been understood.
    if (!reading.has_wiring) return;
    const std::size_t before = reading.sink.reports();
    const PortAssignment ports(reading);
    reading.has_wiring = reading.sink.reports() == before;
    if (reading.has_wiring) const LayerCheck layers(reading);
}

}  // namespace simverbs::scenarios
