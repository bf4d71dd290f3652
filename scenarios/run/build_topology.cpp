#include "scenarios/run/build_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>

#include "models/hca/device_profile.hpp"
#include "models/link/link_params.hpp"
#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/import/hpcc_topology.hpp"
#include "scenarios/import/ib_netlist.hpp"
#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/dragonfly.hpp"
#include "scenarios/topologies/levels.hpp"
#include "scenarios/topologies/small_topologies.hpp"

namespace simverbs::scenarios::run {

namespace {

using topologies::LinkParameters;
using topologies::Problems;
using topologies::Topology;

uint32_t number_of(const Values& values, std::string_view key) {
    return static_cast<uint32_t>(values.integer(key));
}

sim::BitRate profile_rate(const HostSpec& host) {
    const hca::DeviceProfile* profile = host.nics.empty() ? nullptr : hca::find_profile(host.nics.front().profile);
    return profile != nullptr ? profile->default_rate : sim::BitRate::gbps(100);
}

sim::SimTime delay_of(const LinkSpec& link) {
    return link.delay ? *link.delay : topologies::cable_delay(link.length);
}

link::LinkLayer layer_of(LinkLayer layer) {
    return layer == LinkLayer::InfiniBand ? link::LinkLayer::InfiniBand : link::LinkLayer::Ethernet;
}

/// A generated fabric.
class FabricMaker {
  public:
    FabricMaker(const ScenarioSpec& spec, BuiltTopology& built, DiagnosticSink& sink)
        : t_(spec.topology), v_(spec.topology.values), built_(built), sink_(sink) {}

    void make() {
        Topology& to = built_.topology;
        const LinkParameters host = every_link();
        Problems problems;
        if (t_.kind == "dumbbell")
            problems = topologies::make_dumbbell(to, {number_of(v_, "left_hosts"), number_of(v_, "right_hosts"), host,
                                                      other("bottleneck_rate", "bottleneck_delay")});
        else if (t_.kind == "parking_lot")
            problems = topologies::make_parking_lot(to, {number_of(v_, "switches"), number_of(v_, "hosts_per_switch"),
                                                         host, other("bottleneck_rate", "bottleneck_delay")});
        else if (t_.kind == "leaf_spine")
            problems = topologies::make_leaf_spine(
                to, {number_of(v_, "leaves"), number_of(v_, "spines"), number_of(v_, "hosts_per_leaf"),
                     number_of(v_, "links_per_pair"), host, other("uplink_rate", "uplink_delay")});
        else if (t_.kind == "fat_tree")
            problems = topologies::make_fat_tree(to, fat_tree());
        else if (t_.kind == "hpcc_320")
            problems = topologies::make_fat_tree(to, hpcc_320());
        else if (t_.kind == "rail_optimised")
            problems = topologies::make_rail_optimised(
                to,
                {number_of(v_, "servers"), number_of(v_, "nics_per_server"), number_of(v_, "servers_per_unit"),
                 number_of(v_, "spines"), number_of(v_, "links_per_pair"), host, other("uplink_rate", "uplink_delay")});
        else if (t_.kind == "dragonfly")
            problems = topologies::make_dragonfly(
                to, {number_of(v_, "routers_per_group"), number_of(v_, "hosts_per_router"),
                     number_of(v_, "global_links_per_router"), v_.has("groups") ? number_of(v_, "groups") : 0, host,
                     other("local_rate", "local_delay"), other("global_rate", "global_delay")});
        else
            import();
        for (const Diagnostic& d : problems) {
            const CheckedValue* value = v_.find(d.path);
            sink_.add(value != nullptr ? value->position : t_.position,
                      d.path.empty() ? t_.path : t_.path + "." + d.path, d.problem, d.expected, d.hint);
        }
    }

  private:
    [[nodiscard]] LinkParameters every_link() const {
        return {t_.link.rate.value_or(profile_rate(t_.host)), delay_of(t_.link)};
    }
    [[nodiscard]] LinkParameters other(std::string_view rate, std::string_view delay) const {
        LinkParameters p = every_link();
        if (v_.has(rate)) p.rate = v_.rate(rate);
        if (v_.has(delay)) p.delay = v_.time(delay);
        return p;
    }
    [[nodiscard]] topologies::FatTreeParameters fat_tree() const {
        topologies::FatTreeParameters p;
        p.host_link = every_link();
        p.tor_link = other("uplink_rate", "uplink_delay");
        p.core_link = other("core_rate", "core_delay");
        if (v_.has("k")) {
            const uint32_t half = number_of(v_, "k") / 2;
            p.pods = 2 * half;
            p.tors_per_pod = p.aggs_per_pod = half;
            p.cores = half * half;
            p.hosts_per_tor = static_cast<uint32_t>(half * v_.number("oversubscription"));
            return p;
        }
        p.pods = number_of(v_, "pods");
        p.tors_per_pod = number_of(v_, "tors_per_pod");
        p.aggs_per_pod = number_of(v_, "aggs_per_pod");
        p.cores = number_of(v_, "cores");
        p.hosts_per_tor = number_of(v_, "hosts_per_tor");
        return p;
    }
    [[nodiscard]] topologies::FatTreeParameters hpcc_320() const {
        topologies::FatTreeParameters p = topologies::hpcc_fabric();
        p.host_link = {v_.rate("host_rate"), v_.time("delay")};
        p.tor_link = p.core_link = {v_.rate("uplink_rate"), v_.time("delay")};
        return p;
    }
    void import() {
        const std::string file = v_.text("file");
        const auto text = read_text(file, t_.position, t_.path + ".file", sink_);
        if (!text) return;
        if (t_.kind == "hpcc_file") {
            if (auto read = imports::read_hpcc_topology(*text, file, sink_)) {
                built_.topology = std::move(read->topology);
                built_.hpcc_nodes = std::move(read->nodes);
            }
            return;
        }
        if (auto read = imports::read_ib_netlist(*text, file, imports::IbNetlistOptions{}, sink_))
            built_.topology = std::move(*read);
        built_.port_offset = 0;
    }

    const TopologySpec& t_;
    const Values& v_;
    BuiltTopology& built_;
    DiagnosticSink& sink_;
};

bool has_cable(const LabSpec& lab, size_t host, size_t nic, int port) {
    const LinkEnd end{false, static_cast<int>(host), static_cast<int>(nic), port};
    return std::ranges::any_of(lab.links, [&](const LinkSpec& l) { return l.a == end || l.b == end; });
}

/// A topology that the file wires itself, as labs have it. Of NICs, ports without a cable are left out, but for the
/// first of a host: a host that nothing leads to is a mistake.
void take_lab(const LabSpec& lab, BuiltTopology& built) {
    Topology& to = built.topology;
    std::map<std::tuple<size_t, size_t, int>, uint32_t> number_of;
    sim::BitRate fastest = sim::BitRate::gbps(1);
    for (size_t h = 0; h < lab.hosts.size(); ++h) {
        const HostSpec& host = lab.hosts[h];
        fastest = std::max(fastest, profile_rate(host));
        for (size_t n = 0; n < host.nics.size(); ++n) {
            for (int p = 1; p <= host.nics[n].ports; ++p) {
                const bool is_first = n == 0 && p == 1;
                if (!is_first && !has_cable(lab, h, n, p)) continue;
                number_of[{h, n, p}] = static_cast<uint32_t>(to.hosts.size());
                topologies::Host one;
                one.name = n == 0 && p == 1 ? host.name : fmt::format("{}.{}/{}", host.name, host.nics[n].device, p);
                one.server = static_cast<uint32_t>(h);
                one.rail = static_cast<uint32_t>(n);
                to.hosts.push_back(std::move(one));
                built.host_ports.push_back({static_cast<uint32_t>(h), static_cast<uint32_t>(n), p, &host.nics[n]});
            }
        }
    }
    for (const SwitchSpec& s : lab.switches) to.switches.push_back({.name = s.name});
    for (const LinkSpec& l : lab.links) {
        topologies::Link link;
        sim::BitRate rate = fastest;
        const auto end_of = [&](const LinkEnd& e) -> topologies::LinkEnd {
            if (e.is_switch) return {{true, static_cast<uint32_t>(e.node)}, static_cast<uint32_t>(e.port)};
            rate = std::min(rate, profile_rate(lab.hosts[static_cast<size_t>(e.node)]));
            return {{false, number_of.at({static_cast<size_t>(e.node), static_cast<size_t>(e.nic), e.port})}, 0};
        };
        link.a = end_of(l.a);
        link.b = end_of(l.b);
        link.rate = l.rate.value_or(rate);
        link.delay = delay_of(l);
        for (const FaultSpec& fault : l.faults)
            built.own_faults.push_back({static_cast<uint32_t>(to.links.size()), &fault});
        to.links.push_back(link);
    }
    built.port_offset = 0;
}

void index_names(BuiltTopology& built) {
    for (uint32_t i = 0; i < built.topology.hosts.size(); ++i)
        built.host_numbers.emplace(built.topology.hosts[i].name, i);
    for (uint32_t i = 0; i < built.topology.switches.size(); ++i)
        built.switch_numbers.emplace(built.topology.switches[i].name, i);
}

void adjust_links(const TopologySpec& t, BuiltTopology& built, DiagnosticSink& sink) {
    for (const LinkAdjustment& a : t.adjustments) {
        const auto link = built.find_link(a.link);
        if (!link) {
            report_unknown_place(built, a.link.a, "link at", sink);
            continue;
        }
        topologies::Link& to = built.topology.links[link->link];
        if (a.properties.rate) to.rate = *a.properties.rate;
        to.delay = delay_of(a.properties);
        for (const FaultSpec& fault : a.properties.faults)
            built.own_faults.push_back({link->link, &fault, link->is_turned});
    }
}

/// Frames keep their tags from port to port.
void check_tags(const ScenarioSpec& spec, const BuiltTopology& built, DiagnosticSink& sink) {
    const auto is_tagged = [](const HostPort& port) { return port.spec != nullptr && port.spec->vlan.has_value(); };
    const auto untagged = std::ranges::find_if_not(built.host_ports, is_tagged);
    const auto tagged = std::ranges::find_if(built.host_ports, is_tagged);
    if (untagged == built.host_ports.end() || tagged == built.host_ports.end()) return;
    const auto name = [&](auto at) {
        return built.topology.hosts[static_cast<size_t>(at - built.host_ports.begin())].name;
    };
    sink.add(spec.topology.position, spec.topology.path,
             fmt::format("{} sends tagged frames and {} untagged ones", name(tagged), name(untagged)),
             "'vlan' at every NIC or at none");
}

/// Those of a generated fabric that the file describes one by one.
void check_named_switches(const LabSpec& lab, const BuiltTopology& built, DiagnosticSink& sink) {
    for (const SwitchSpec& s : lab.switches)
        if (!built.switch_numbers.contains(s.name))
            report_unknown_place(built, {s.name, s.path, s.position}, "switch", sink);
}

}  // namespace

void report_unknown_place(const BuiltTopology& topology, const PlaceRef& place, std::string_view what,
                          DiagnosticSink& sink) {
    std::vector<std::string_view> names;
    for (const auto& [name, number] : topology.host_numbers)
        if (what != "switch") names.push_back(name);
    for (const auto& [name, number] : topology.switch_numbers)
        if (what != "host") names.push_back(name);
    sink.add(place.position, place.path, fmt::format("there is no {} {}", what, in_quotes(place.text)),
             names.empty() ? "" : fmt::format("one of the fabric's, such as '{}'", names.front()),
             did_you_mean(place.text.substr(0, place.text.find_first_of("./")), names));
}

std::optional<std::string> read_text(const std::string& file, const SourcePosition& position, const std::string& path,
                                     DiagnosticSink& sink) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    if (in) text << in.rdbuf();
    if (in && !in.bad()) return text.str();
    sink.add(position, path, fmt::format("cannot read '{}': {}", file, std::strerror(errno)),
             "a file that can be read");
    return std::nullopt;
}

std::optional<flow::HostIndex> BuiltTopology::find_host(std::string_view name) const {
    if (const auto it = host_numbers.find(name); it != host_numbers.end()) return it->second;
    // "h3.mlx5_0/1" is the first port of h3.
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto it = host_numbers.find(name.substr(0, dot));
    return it == host_numbers.end() ? std::nullopt : std::optional(it->second);
}

std::string BuiltTopology::port_name(const topologies::LinkEnd& end) const {
    if (!end.node.is_switch) return topology.hosts[end.node.index].name;
    return fmt::format("{}/{}", topology.switches[end.node.index].name, end.port + port_offset);
}

bool BuiltTopology::is_called(const topologies::LinkEnd& end, std::string_view name) const {
    if (topology.name_of(end.node) == name) return true;
    const size_t dot = std::min(name.find('.'), name.find('/'));
    if (dot == std::string_view::npos && end.node.is_switch) return false;
    if (end.node.is_switch) return port_name(end) == name;
    const HostPort& at = host_ports[end.node.index];
    // The scenario's host, where this is another port of it.
    const std::string_view full = topology.hosts[end.node.index].name;
    const std::string_view host = full.substr(0, full.find('.'));
    if (name.substr(0, dot) != host) return false;
    if (dot == std::string_view::npos) return true;
    const std::string_view device = at.spec != nullptr ? std::string_view(at.spec->device) : std::string_view();
    const std::string_view rest = name.substr(dot);
    return rest == fmt::format("/{}", at.port) || rest == fmt::format(".{}", device) ||
           rest == fmt::format(".{}/{}", device, at.port);
}

std::optional<FoundLink> BuiltTopology::find_link(const LinkRef& ref) const {
    for (uint32_t i = 0; i < topology.links.size(); ++i) {
        const topologies::Link& l = topology.links[i];
        const auto joins = [&](const topologies::LinkEnd& first, const topologies::LinkEnd& second) {
            return is_called(first, ref.a.text) && (!ref.b || is_called(second, ref.b->text));
        };
        if (joins(l.a, l.b)) return FoundLink{i, false};
        if (joins(l.b, l.a)) return FoundLink{i, true};
    }
    return std::nullopt;
}

void check_places(const BuiltTopology& topology, std::span<const PlaceRef> places, DiagnosticSink& sink) {
    for (const PlaceRef& place : places) {
        if (topology.find_host(place.text) || topology.switch_numbers.contains(place.text)) continue;
        const auto is_end = [&](const topologies::LinkEnd& end) { return topology.port_name(end) == place.text; };
        const auto is_there = [&](const topologies::Link& l) { return is_end(l.a) || is_end(l.b); };
        if (std::ranges::none_of(topology.topology.links, is_there))
            report_unknown_place(topology, place, "host, switch or port", sink);
    }
}

std::optional<BuiltTopology> build_topology(const ScenarioSpec& spec, DiagnosticSink& sink) {
    BuiltTopology built;
    const size_t before = sink.reports();
    if (spec.topology.is_fabric)
        FabricMaker(spec, built, sink).make();
    else
        take_lab(spec.lab, built);
    if (sink.reports() != before) return std::nullopt;
    index_names(built);
    if (spec.topology.is_fabric) {
        const auto& nics = spec.topology.host.nics;
        for (uint32_t i = 0; i < built.topology.hosts.size(); ++i)
            built.host_ports.push_back({i, 0, 1, nics.empty() ? nullptr : nics.data()});
    }
    const std::vector<HostSpec>& hosts = spec.lab.hosts;
    const HostSpec& like = spec.topology.is_fabric ? spec.topology.host : hosts.front();
    if (!like.nics.empty()) built.layer = layer_of(like.nics.front().link_layer);
    built.switch_template = &spec.topology.switch_;
    built.switches.assign(built.topology.switches.size(), built.switch_template);
    for (const SwitchSpec& s : spec.lab.switches)
        if (const auto it = built.switch_numbers.find(s.name); it != built.switch_numbers.end())
            built.switches[it->second] = &s;
    for (uint32_t i = 0; spec.topology.is_fabric && i < built.topology.links.size(); ++i)
        for (const FaultSpec& fault : spec.topology.link.faults) built.own_faults.push_back({i, &fault});
    adjust_links(spec.topology, built, sink);
    check_tags(spec, built, sink);
    if (!spec.topology.is_fabric) topologies::assign_levels(built.topology);
    if (spec.topology.is_fabric) check_named_switches(spec.lab, built, sink);
    DiagnosticSink own;
    (void)topologies::validate(built.topology, own);
    bool has_sound_links = true;
    for (const Diagnostic& d : own.kept()) {
        // Of the network as a whole: it stands nowhere in the file.
        sink.add(spec.topology.position, spec.topology.path, d.path + ": " + d.problem, d.expected, d.hint);
        has_sound_links = has_sound_links && !d.path.starts_with("links[");
    }
    return has_sound_links ? std::optional(std::move(built)) : std::nullopt;
}

}  // namespace simverbs::scenarios::run
