#include "scenarios/topologies/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

namespace simverbs::scenarios::topologies {

namespace {

/// Joined sets of nodes; hosts first, then switches.
class NodeSets {
  public:
    explicit NodeSets(const Topology& topology)
        : hosts_(topology.hosts.size()), parent_(topology.hosts.size() + topology.switches.size()) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    void join(NodeRef a, NodeRef b) { parent_[find(a)] = find(b); }
    std::size_t find(NodeRef node) {
        std::size_t at = node.index + (node.is_switch ? hosts_ : 0);
        while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
        return at;
    }

  private:
    std::size_t hosts_;
    std::vector<std::size_t> parent_;
};

bool node_exists(const Topology& topology, NodeRef node) {
    return node.index < (node.is_switch ? topology.switches.size() : topology.hosts.size());
}

bool check_link(const Topology& topology, std::size_t index, DiagnosticSink& sink) {
    const Link& link = topology.links[index];
    const std::string path = fmt::format("links[{}]", index);
    bool are_ends_right = true;
    for (const LinkEnd& end : {link.a, link.b}) {
        if (node_exists(topology, end.node)) continue;
        sink.add({}, path, fmt::format("{} {} does not exist", end.node.is_switch ? "switch" : "host", end.node.index));
        are_ends_right = false;
    }
    if (are_ends_right && link.a.node == link.b.node) {
        sink.add({}, path, fmt::format("'{}' is linked to itself", topology.name_of(link.a.node)), "two nodes");
    }
    if (link.rate.in_bps() <= 0) sink.add({}, path, fmt::format("a rate of {} b/s", link.rate.in_bps()), "more than 0");
    if (link.delay < sim::SimTime::zero()) {
        sink.add({}, path, fmt::format("a delay of {} ps", link.delay.in_ps()), "0 or more");
    }
    if (!(link.packet_loss >= 0 && link.packet_loss <= 1)) {
        sink.add({}, path, fmt::format("a loss of {:g}", link.packet_loss), "a probability from 0 to 1");
    }
    return are_ends_right;
}

void check_names(const Topology& topology, DiagnosticSink& sink) {
    std::unordered_set<std::string_view> names;
    const auto check = [&](std::string_view kind, const std::string& name) {
        if (name.empty()) sink.add({}, std::string(kind), "a node without a name");
        if (!names.insert(name).second) {
            sink.add({}, fmt::format("{}.{}", kind, name), "the name occurs twice", "a name of its own");
        }
    };
    for (const Host& host : topology.hosts) check("hosts", host.name);
    for (const Switch& each : topology.switches) check("switches", each.name);
}

/// Of what cannot be reached from host 0, one line each.
void check_reach(const Topology& topology, NodeSets& sets, DiagnosticSink& sink) {
    if (topology.hosts.empty()) {
        sink.add({}, "hosts", "the fabric has no hosts", "at least one");
        return;
    }
    const std::size_t everybody = sets.find({false, 0});
    const auto check = [&](std::string_view kind, NodeRef node) {
        if (sets.find(node) == everybody) return;
        sink.add({}, fmt::format("{}.{}", kind, topology.name_of(node)),
                 fmt::format("no way from '{}'", topology.hosts[0].name), "a fabric in one piece");
    };
    for (uint32_t i = 0; i < topology.hosts.size(); ++i) check("hosts", {false, i});
    for (uint32_t i = 0; i < topology.switches.size(); ++i) check("switches", {true, i});
}

}  // namespace

bool validate(const Topology& topology, DiagnosticSink& sink) {
    const std::size_t problems_before = sink.count();
    check_names(topology, sink);
    NodeSets sets(topology);
    std::unordered_set<uint64_t> switch_ports;
    std::unordered_set<uint64_t> host_ports;
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
        if (!check_link(topology, i, sink)) continue;
        const Link& link = topology.links[i];
        for (const LinkEnd& end : {link.a, link.b}) {
            auto& used = end.node.is_switch ? switch_ports : host_ports;
            if (!used.insert(uint64_t{end.node.index} << 32 | end.port).second) {
                sink.add({}, fmt::format("links[{}]", i),
                         fmt::format("port {} of '{}' has two links", end.port, topology.name_of(end.node)),
                         "one link a port");
            }
        }
        sets.join(link.a.node, link.b.node);
    }
    check_reach(topology, sets, sink);
    return sink.count() == problems_before;
}

std::vector<NodeRef> nodes_pod_by_pod(const Topology& topology) {
    std::vector<NodeRef> nodes;
    nodes.reserve(topology.hosts.size() + topology.switches.size());
    for (uint32_t i = 0; i < topology.hosts.size(); ++i) nodes.push_back({false, i});
    for (uint32_t i = 0; i < topology.switches.size(); ++i) nodes.push_back({true, i});
    const auto pod_of = [&](NodeRef node) {
        return node.is_switch ? topology.switches[node.index].pod : topology.hosts[node.index].pod;
    };
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeRef a, NodeRef b) { return pod_of(a) < pod_of(b); });
    return nodes;
}

double oversubscription(const Topology& topology, uint32_t switch_index) {
    const NodeRef self{true, switch_index};
    double down = 0;
    double up = 0;
    for (const Link& link : topology.links) {
        if (link.a.node != self && link.b.node != self) continue;
        const NodeRef other = link.a.node == self ? link.b.node : link.a.node;
        const bool is_up =
            other.is_switch && topology.switches[other.index].level > topology.switches[switch_index].level;
        const bool is_down =
            !other.is_switch || topology.switches[other.index].level < topology.switches[switch_index].level;
        if (is_up) up += static_cast<double>(link.rate.in_bps());
        if (is_down) down += static_cast<double>(link.rate.in_bps());
    }
    return up > 0 ? down / up : std::numeric_limits<double>::infinity();
}

}  // namespace simverbs::scenarios::topologies
