#include "models/fabric/routing.hpp"

#include <algorithm>
#include <map>

namespace simverbs::fabric {

namespace {

struct Neighbour {
    uint32_t node;
    PortIndex port;  ///< at this side
};
constexpr uint32_t kUnreached = ~0U;

std::vector<uint32_t> distances_to(uint32_t target, const std::vector<std::vector<Neighbour>>& graph) {
    std::vector<uint32_t> distance(graph.size(), kUnreached);
    std::vector<uint32_t> queue{target};
    distance[target] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
        for (const Neighbour& n : graph[queue[i]]) {
            if (distance[n.node] != kUnreached) continue;
            distance[n.node] = distance[queue[i]] + 1;
            queue.push_back(n.node);
        }
    }
    return distance;
}

}  // namespace

void install_shortest_paths(std::span<const RoutedLink> links, std::span<ForwardingTable* const> tables) {
    std::vector<std::vector<Neighbour>> graph(tables.size());
    struct Attached {
        wire::LeafId leaf;
        PortIndex port;
    };
    std::vector<std::vector<Attached>> leaves(tables.size());
    for (const RoutedLink& l : links) {
        if (l.a.is_switch && l.b.is_switch) {
            graph[l.a.node].push_back({l.b.node, l.a.port});
            graph[l.b.node].push_back({l.a.node, l.b.port});
        } else if (l.a.is_switch) {
            leaves[l.a.node].push_back({l.b.leaf, l.a.port});
        } else if (l.b.is_switch) {
            leaves[l.b.node].push_back({l.a.leaf, l.b.port});
        }
    }
    // Destinations behind one switch share their groups; equal groups of ports are one group.
    std::vector<std::map<std::vector<PortIndex>, GroupId>> groups(tables.size());
    const auto group_of = [&](uint32_t node, std::vector<PortIndex> ports) {
        std::ranges::sort(ports);
        const auto [it, fresh] = groups[node].try_emplace(ports, GroupId{0});
        if (fresh) it->second = tables[node]->add_group(ports);
        return it->second;
    };
    for (uint32_t target = 0; target < tables.size(); ++target) {
        if (leaves[target].empty()) continue;
        for (const Attached& leaf : leaves[target]) tables[target]->set_route(leaf.leaf, group_of(target, {leaf.port}));
        const std::vector<uint32_t> distance = distances_to(target, graph);
        for (uint32_t node = 0; node < tables.size(); ++node) {
            if (node == target || distance[node] == kUnreached) continue;
            std::vector<PortIndex> ports;
            for (const Neighbour& n : graph[node])
                if (distance[n.node] + 1 == distance[node]) ports.push_back(n.port);
            const GroupId group = group_of(node, std::move(ports));
            for (const Attached& leaf : leaves[target]) tables[node]->set_route(leaf.leaf, group);
        }
    }
}

}  // namespace simverbs::fabric
