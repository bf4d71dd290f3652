#include "scenarios/topologies/routing_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/check.hpp"

namespace simverbs::scenarios::topologies {

namespace {

constexpr uint32_t kNotReached = UINT32_MAX;

/// A port of a switch that leads to another switch.
struct SwitchEdge {
    uint32_t to;
    uint16_t port;
};

/// Edges of all switches in one array, by switch and port.
struct SwitchGraph {
    std::vector<uint32_t> begin;
    std::vector<SwitchEdge> edges;

    [[nodiscard]] std::span<const SwitchEdge> of(uint32_t node) const {
        return std::span(edges).subspan(begin[node], begin[node + 1] - begin[node]);
    }
};

bool is_dead(const std::vector<bool>& dead_links, std::size_t link) {
    return link < dead_links.size() && dead_links[link];
}

SwitchGraph make_graph(const Topology& topology, const std::vector<bool>& dead_links) {
    std::vector<std::vector<SwitchEdge>> out(topology.switches.size());
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
        const auto& [a, b, rate, delay, loss] = topology.links[i];
        if (!a.node.is_switch || !b.node.is_switch || is_dead(dead_links, i)) continue;
        SIM_CHECK(a.port < kHere && b.port < kHere, a.port, b.port);
        out[a.node.index].push_back({b.node.index, static_cast<uint16_t>(a.port)});
        out[b.node.index].push_back({a.node.index, static_cast<uint16_t>(b.port)});
    }
    SwitchGraph graph;
    graph.begin.push_back(0);
    for (std::vector<SwitchEdge>& edges : out) {
        std::sort(edges.begin(), edges.end(), [](SwitchEdge x, SwitchEdge y) { return x.port < y.port; });
        graph.edges.insert(graph.edges.end(), edges.begin(), edges.end());
        graph.begin.push_back(static_cast<uint32_t>(graph.edges.size()));
    }
    return graph;
}

void place_hosts(RoutingPlan& plan, const Topology& topology, const std::vector<bool>& dead_links) {
    std::vector<uint32_t> switch_of_host(topology.hosts.size(), kNoLeaf);
    plan.port_of_host.assign(topology.hosts.size(), kNoRoute);
    std::vector<bool> is_leaf(topology.switches.size());
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
        LinkEnd host = topology.links[i].a;
        LinkEnd leaf = topology.links[i].b;
        if (host.node.is_switch) std::swap(host, leaf);
        if (host.node.is_switch || !leaf.node.is_switch || is_dead(dead_links, i)) continue;
        if (switch_of_host[host.node.index] != kNoLeaf) continue;
        SIM_CHECK(leaf.port < kHere, leaf.port);
        switch_of_host[host.node.index] = leaf.node.index;
        plan.port_of_host[host.node.index] = static_cast<uint16_t>(leaf.port);
        is_leaf[leaf.node.index] = true;
    }
    std::vector<uint32_t> leaf_of_switch(topology.switches.size(), kNoLeaf);
    for (uint32_t s = 0; s < topology.switches.size(); ++s) {
        if (!is_leaf[s]) continue;
        leaf_of_switch[s] = static_cast<uint32_t>(plan.leaf_switches.size());
        plan.leaf_switches.push_back(s);
    }
    for (const uint32_t s : switch_of_host) plan.leaf_of_host.push_back(s == kNoLeaf ? kNoLeaf : leaf_of_switch[s]);
}

/// Of all switches, to one leaf.
using Distances = std::vector<uint32_t>;

/// Links from every switch to `root`, into `distance`, on paths whose steps (from a switch to one that is nearer) may
/// be taken; `queue` is reused memory.
template <class MayStep>
void measure(const SwitchGraph& graph, uint32_t root, Distances& distance, std::vector<uint32_t>& queue,
             MayStep may_step) {
    std::fill(distance.begin(), distance.end(), kNotReached);
    distance[root] = 0;
    queue.assign(1, root);
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const uint32_t node = queue[head];
        for (const SwitchEdge edge : graph.of(node)) {
            if (distance[edge.to] != kNotReached || !may_step(edge.to, node)) continue;
            distance[edge.to] = distance[node] + 1;
            queue.push_back(edge.to);
        }
    }
}

void measure(const SwitchGraph& graph, uint32_t root, Distances& distance, std::vector<uint32_t>& queue) {
    measure(graph, root, distance, queue, [](uint32_t, uint32_t) { return true; });
}

/// Switches from the top down.
std::vector<uint32_t> by_place(const std::vector<uint32_t>& place) {
    std::vector<uint32_t> order(place.size());
    for (uint32_t s = 0; s < place.size(); ++s) order[place[s]] = s;
    return order;
}

/// The next hops of every switch to one leaf: down wherever a path goes down all the way, for who comes from above must
/// not go up again; else up, towards the nearest switch from which one does.
class UpDownHops {
  public:
    UpDownHops(const SwitchGraph& graph, std::vector<uint32_t> place)
        : graph_(graph),
          place_(std::move(place)),
          order_(by_place(place_)),
          down_(place_.size()),
          total_(place_.size()) {}

    void find(uint32_t leaf) {
        measure(graph_, leaf, down_, queue_, [&](uint32_t from, uint32_t to) { return place_[from] <= place_[to]; });
        for (const uint32_t s : order_) {
            total_[s] = down_[s];
            if (down_[s] != kNotReached) continue;
            for (const SwitchEdge edge : graph_.of(s))
                if (is_up(s, edge) && total_[edge.to] != kNotReached)
                    total_[s] = std::min(total_[s], total_[edge.to] + 1);
        }
    }
    [[nodiscard]] bool reaches(uint32_t s) const { return total_[s] != kNotReached; }
    [[nodiscard]] bool is_next(uint32_t s, const SwitchEdge& edge) const {
        if (down_[s] != kNotReached) return !is_up(s, edge) && down_[edge.to] + 1 == down_[s];
        return is_up(s, edge) && total_[edge.to] + 1 == total_[s];
    }

  private:
    [[nodiscard]] bool is_up(uint32_t from, const SwitchEdge& edge) const { return place_[edge.to] < place_[from]; }

    const SwitchGraph& graph_;
    std::vector<uint32_t> place_;
    std::vector<uint32_t> order_;
    Distances down_;
    Distances total_;
    std::vector<uint32_t> queue_;
};

std::vector<uint32_t> places_below(const SwitchGraph& graph, const std::vector<uint32_t>& roots) {
    const std::size_t switches = graph.begin.size() - 1;
    std::vector<uint32_t> rank(switches, kNotReached);
    std::vector<uint32_t> queue = roots;
    for (const uint32_t root : roots) rank[root] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        for (const SwitchEdge edge : graph.of(queue[head])) {
            if (rank[edge.to] != kNotReached) continue;
            rank[edge.to] = rank[queue[head]] + 1;
            queue.push_back(edge.to);
        }
    }
    std::vector<uint32_t> order(switches);
    for (uint32_t s = 0; s < switches; ++s) order[s] = s;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return rank[x] < rank[y]; });
    std::vector<uint32_t> place(switches);
    for (uint32_t i = 0; i < switches; ++i) place[order[i]] = i;
    return place;
}

/// With one root there is a path over it between any two switches. With several (the cores of a fat tree) it depends on
/// the wiring; where one is missing, the first root is the only one.
std::vector<uint32_t> find_places(const Topology& topology, const SwitchGraph& graph,
                                  const std::vector<uint32_t>& leaves) {
    uint32_t top = 0;
    for (const Switch& s : topology.switches) top = std::max(top, s.level);
    std::vector<uint32_t> roots;
    for (uint32_t s = 0; s < topology.switches.size(); ++s)
        if (topology.switches[s].level == top) roots.push_back(s);
    if (top == 0) roots.resize(std::min<std::size_t>(roots.size(), 1));  // all alike: any of them
    std::vector<uint32_t> place = places_below(graph, roots);
    if (roots.size() <= 1) return place;
    UpDownHops hops(graph, place);
    for (const uint32_t to : leaves) {
        hops.find(to);
        const auto is_cut_off = [&](uint32_t from) { return !hops.reaches(from); };
        if (std::ranges::any_of(leaves, is_cut_off)) return places_below(graph, {roots.front()});
    }
    return place;
}

/// Gives equal sets of ports the same group.
class GroupTable {
  public:
    explicit GroupTable(SwitchRoutes& routes) : routes_(routes) { routes_.group_begin.assign(1, 0); }
    uint16_t group_of(const std::vector<uint16_t>& ports) {
        if (ports.empty()) return kNoRoute;
        // Neighbouring leaves mostly have the same.
        if (routes_.groups() > 0 && std::ranges::equal(routes_.group(last_), ports)) return last_;
        const auto [found, is_new] = known_.try_emplace(ports, static_cast<uint16_t>(routes_.groups()));
        if (is_new) {
            SIM_CHECK(routes_.groups() < kHere);
            routes_.ports.insert(routes_.ports.end(), ports.begin(), ports.end());
            routes_.group_begin.push_back(static_cast<uint32_t>(routes_.ports.size()));
        }
        return last_ = found->second;
    }

  private:
    SwitchRoutes& routes_;
    std::map<std::vector<uint16_t>, uint16_t> known_;
    uint16_t last_ = 0;
};

}  // namespace

std::vector<uint32_t> up_down_places(const Topology& topology, const std::vector<bool>& dead_links) {
    RoutingPlan plan;
    place_hosts(plan, topology, dead_links);
    return find_places(topology, make_graph(topology, dead_links), plan.leaf_switches);
}

RoutingPlan plan_routes(const Topology& topology, const std::vector<bool>& dead_links, RoutingPolicy policy) {
    RoutingPlan plan;
    place_hosts(plan, topology, dead_links);
    const SwitchGraph graph = make_graph(topology, dead_links);
    const std::size_t switches = topology.switches.size();
    plan.switches.resize(switches);
    std::vector<GroupTable> tables;
    tables.reserve(switches);
    for (SwitchRoutes& routes : plan.switches) {
        routes.group_of_leaf.assign(plan.leaf_switches.size(), kNoRoute);
        tables.emplace_back(routes);
    }
    std::optional<UpDownHops> up_down;
    if (policy == RoutingPolicy::UpDown) up_down.emplace(graph, find_places(topology, graph, plan.leaf_switches));
    std::vector<uint32_t> distance(switches);
    std::vector<uint32_t> queue;
    std::vector<uint16_t> ports;
    for (uint32_t leaf = 0; leaf < plan.leaf_switches.size(); ++leaf) {
        const uint32_t root = plan.leaf_switches[leaf];
        if (up_down)
            up_down->find(root);
        else
            measure(graph, root, distance, queue);
        for (uint32_t s = 0; s < switches; ++s) {
            if (s == root || (up_down ? !up_down->reaches(s) : distance[s] == kNotReached)) continue;
            ports.clear();
            for (const SwitchEdge edge : graph.of(s)) {
                if (up_down ? up_down->is_next(s, edge) : distance[edge.to] + 1 == distance[s])
                    ports.push_back(edge.port);
            }
            plan.switches[s].group_of_leaf[leaf] = tables[s].group_of(ports);
        }
        plan.switches[root].group_of_leaf[leaf] = kHere;
    }
    return plan;
}

}  // namespace simverbs::scenarios::topologies
