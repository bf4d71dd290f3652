#include "models/fabric/multicast_tree.hpp"

#include <utility>

namespace simverbs::fabric {

std::vector<uint32_t> MulticastTree::walk(uint32_t first, std::vector<Branch>& from) const {
    std::vector<bool> seen(nodes_.size());
    from.assign(nodes_.size(), {});
    std::vector<uint32_t> order{first};
    seen[first] = true;
    for (size_t i = 0; i < order.size(); ++i) {
        const uint32_t at = order[i];
        for (const Branch& n : nodes_[at].neighbours) {
            if (seen[n.node]) continue;
            seen[n.node] = true;
            order.push_back(n.node);
            from[n.node] = {at, n.port, n.peer_port};
        }
    }
    return order;
}

/// The root is in the middle of a longest way between two switches: the tree is as low as can be.
void MulticastTree::grow() {
    nodes_.resize(switches_.size());
    for (const RoutedLink& l : links_) {
        if (l.a.is_switch && l.b.is_switch) {
            nodes_[l.a.node].neighbours.push_back({l.b.node, l.a.port, l.b.port});
            nodes_[l.b.node].neighbours.push_back({l.a.node, l.b.port, l.a.port});
        } else if (l.a.is_switch || l.b.is_switch) {
            const RoutedEnd& leaf = l.a.is_switch ? l.b : l.a;
            const RoutedEnd& at = l.a.is_switch ? l.a : l.b;
            places_[leaf.leaf] = {at.node, at.port};
        }
    }
    std::vector<Branch> from;
    for (uint32_t any = 0; any < nodes_.size(); ++any) {
        if (nodes_[any].root != kNone) continue;
        const uint32_t end = walk(any, from).back();
        const uint32_t other = walk(end, from).back();
        std::vector<uint32_t> way{other};
        while (way.back() != end) way.push_back(from[way.back()].node);
        const uint32_t root = way[way.size() / 2];
        for (const uint32_t node : walk(root, from)) {
            outward_.push_back(node);
            nodes_[node].root = root;
            if (node == root) continue;
            const Branch& way_in = from[node];
            nodes_[node].to_parent = way_in.peer_port;
            nodes_[way_in.node].children.push_back({node, way_in.port, way_in.peer_port});
        }
    }
}

void MulticastTree::set_members(wire::LeafId group, std::span<const wire::LeafId> ports) {
    if (nodes_.empty()) grow();
    std::vector<std::vector<PortIndex>> out(nodes_.size());
    std::vector<uint32_t> below(nodes_.size());  // members at a switch and in its branches
    for (const wire::LeafId leaf : ports) {
        const auto place = places_.find(leaf);
        if (place == places_.end()) continue;
        out[place->second.node].push_back(place->second.port);
        ++below[place->second.node];
    }
    for (size_t i = outward_.size(); i-- > 0;) {
        const uint32_t node = outward_[i];
        for (const Branch& child : nodes_[node].children) {
            if (below[child.node] == 0) continue;
            out[node].push_back(child.port);
            below[node] += below[child.node];
        }
    }
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
        const bool is_root = nodes_[node].root == node;
        if (!is_root && below[nodes_[node].root] > below[node]) out[node].push_back(nodes_[node].to_parent);
        switches_[node]->set_group_ports(group, std::move(out[node]));
    }
}

}  // namespace simverbs::fabric
