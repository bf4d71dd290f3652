#include "scenarios/topologies/levels.hpp"

#include <algorithm>
#include <cstddef>

namespace simverbs::scenarios::topologies {

namespace {

/// Neighbours of every node; hosts first, then switches.
using Neighbours = std::vector<std::vector<std::size_t>>;

Neighbours neighbours_of(const Topology& topology) {
    Neighbours next(topology.hosts.size() + topology.switches.size());
    const auto number = [&](NodeRef node) { return node.index + (node.is_switch ? topology.hosts.size() : 0); };
    for (const Link& link : topology.links) {
        next[number(link.a.node)].push_back(number(link.b.node));
        next[number(link.b.node)].push_back(number(link.a.node));
    }
    return next;
}

/// Links to the nearest host; switches that no host reaches count as leaves.
void set_levels(Topology& topology, const Neighbours& next) {
    const std::size_t hosts = topology.hosts.size();
    std::vector<bool> is_known(next.size());
    std::vector<std::size_t> queue;
    for (std::size_t h = 0; h < hosts; ++h) {
        is_known[h] = true;
        queue.push_back(h);
    }
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::size_t from = queue[head];
        for (const std::size_t to : next[from]) {
            if (is_known[to]) continue;
            is_known[to] = true;
            topology.switches[to - hosts].level = from < hosts ? 0 : topology.switches[from - hosts].level + 1;
            queue.push_back(to);
        }
    }
}

/// Numbers everything that hangs together with `root` without the core.
void set_pod(Topology& topology, const Neighbours& next, std::size_t root, uint32_t pod, std::vector<bool>& is_known) {
    const std::size_t hosts = topology.hosts.size();
    std::vector<std::size_t> queue{root};
    is_known[root] = true;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::size_t at = queue[head];
        (at < hosts ? topology.hosts[at].pod : topology.switches[at - hosts].pod) = pod;
        for (const std::size_t to : next[at]) {
            if (is_known[to]) continue;
            is_known[to] = true;
            queue.push_back(to);
        }
    }
}

}  // namespace

void assign_levels(Topology& topology) {
    const Neighbours next = neighbours_of(topology);
    for (Switch& each : topology.switches) each.level = 0;
    set_levels(topology, next);
    uint32_t top = 0;
    for (const Switch& each : topology.switches) top = std::max(top, each.level);
    std::vector<bool> is_known(next.size());
    const std::size_t hosts = topology.hosts.size();
    for (std::size_t s = 0; s < topology.switches.size(); ++s) {
        Switch& each = topology.switches[s];
        const bool is_core = top > 0 && each.level == top;
        each.tier = is_core ? SwitchTier::Core : each.level == 0 ? SwitchTier::Leaf : SwitchTier::Aggregation;
        each.pod = kNoPod;
        is_known[hosts + s] = is_core;
    }
    uint32_t pod = 0;
    for (std::size_t node = 0; node < next.size(); ++node) {
        if (!is_known[node]) set_pod(topology, next, node, pod++, is_known);
    }
}

}  // namespace simverbs::scenarios::topologies
