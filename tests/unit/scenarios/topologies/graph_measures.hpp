// Degrees, distances and cuts of a topology, by the simplest means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::topologies {

inline std::size_t node_number(const Topology& topology, NodeRef node) {
    return node.index + (node.is_switch ? topology.hosts.size() : 0);
}

inline std::vector<int> degrees(const Topology& topology) {
    std::vector<int> count(topology.hosts.size() + topology.switches.size());
    for (const Link& link : topology.links) {
        ++count[node_number(topology, link.a.node)];
        ++count[node_number(topology, link.b.node)];
    }
    return count;
}

/// Links from a node to every other; -1 if there is no way. Nothing goes through a host.
inline std::vector<int> distances_from(const Topology& topology, NodeRef from) {
    std::vector<std::vector<std::size_t>> next(topology.hosts.size() + topology.switches.size());
    for (const Link& link : topology.links) {
        const std::size_t a = node_number(topology, link.a.node);
        const std::size_t b = node_number(topology, link.b.node);
        next[a].push_back(b);
        next[b].push_back(a);
    }
    std::vector<int> distance(next.size(), -1);
    std::vector<std::size_t> queue{node_number(topology, from)};
    distance[queue[0]] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        if (queue[head] < topology.hosts.size() && head > 0) continue;
        for (const std::size_t to : next[queue[head]]) {
            if (distance[to] >= 0) continue;
            distance[to] = distance[queue[head]] + 1;
            queue.push_back(to);
        }
    }
    return distance;
}

/// Most links between two hosts.
inline int diameter(const Topology& topology) {
    int most = 0;
    for (uint32_t h = 0; h < topology.hosts.size(); ++h) {
        const std::vector<int> distance = distances_from(topology, {false, h});
        most = std::max(most, *std::max_element(distance.begin(), distance.begin() + topology.hosts.size()));
    }
    return most;
}

/// Gb/s from the hosts of which `is_source` says so to the others: the largest flow (Ford, Fulkerson).
inline int64_t cut_gbps(const Topology& topology, const std::function<bool(uint32_t)>& is_source) {
    const std::size_t nodes = topology.hosts.size() + topology.switches.size();
    std::vector<std::map<std::size_t, int64_t>> room(nodes + 2);
    for (const Link& link : topology.links) {
        const std::size_t a = node_number(topology, link.a.node);
        const std::size_t b = node_number(topology, link.b.node);
        room[a][b] += link.rate.in_bps() / 1'000'000'000;
        room[b][a] += link.rate.in_bps() / 1'000'000'000;
    }
    constexpr int64_t kPlenty = 1'000'000'000;
    for (uint32_t h = 0; h < topology.hosts.size(); ++h) {
        if (is_source(h)) room[nodes][h] = kPlenty;
        if (!is_source(h)) room[h][nodes + 1] = kPlenty;
    }
    int64_t total = 0;
    while (true) {
        std::vector<std::size_t> came_from(nodes + 2, nodes + 2);
        std::vector<std::size_t> queue{nodes};
        came_from[nodes] = nodes;
        for (std::size_t head = 0; head < queue.size() && came_from[nodes + 1] == nodes + 2; ++head) {
            for (const auto& [to, gbps] : room[queue[head]]) {
                if (gbps <= 0 || came_from[to] != nodes + 2) continue;
                came_from[to] = queue[head];
                queue.push_back(to);
            }
        }
        if (came_from[nodes + 1] == nodes + 2) return total;
        int64_t least = kPlenty;
        for (std::size_t at = nodes + 1; at != nodes; at = came_from[at])
            least = std::min(least, room[came_from[at]][at]);
        for (std::size_t at = nodes + 1; at != nodes; at = came_from[at]) {
            room[came_from[at]][at] -= least;
            room[at][came_from[at]] += least;
        }
        total += least;
    }
}

}  // namespace simverbs::scenarios::topologies
