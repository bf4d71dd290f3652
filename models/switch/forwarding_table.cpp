#include "models/switch/forwarding_table.hpp"

namespace simverbs::fabric {

GroupId ForwardingTable::add_group(std::span<const PortIndex> ports) {
    SIM_CHECK(groups_.size() < 0xFFFF, groups_.size());
    groups_.emplace_back();
    const auto id = static_cast<GroupId>(groups_.size() - 1);
    set_group(id, ports);
    return id;
}

void ForwardingTable::set_group(GroupId group, std::span<const PortIndex> ports) {
    SIM_CHECK(group != 0 && group < groups_.size(), group);
    Group& g = groups_[group];
    // A group that shrinks reuses its place; one that grows moves to the end.
    if (ports.size() > g.count) {
        g.first = static_cast<uint32_t>(ports_.size());
        ports_.insert(ports_.end(), ports.begin(), ports.end());
    } else {
        for (size_t i = 0; i < ports.size(); ++i) ports_[g.first + i] = ports[i];
    }
    g.count = static_cast<uint32_t>(ports.size());
    g.only = ports.empty() ? kNoPort : ports.front();
}

void ForwardingTable::set_route(wire::LeafId leaf, GroupId group) {
    if (places_ != nullptr) end_sharing();
    set_entry(leaf, group);
}

void ForwardingTable::set_entry(uint32_t index, GroupId group) {
    SIM_CHECK(group < groups_.size() || group == kAttached, group);
    if (index >= group_of_.size()) group_of_.resize(index + 1, 0);
    group_of_[index] = group;
}

/// Each leaf gets the route of its place as its own.
void ForwardingTable::end_sharing() {
    const auto places = std::exchange(places_, nullptr);
    const std::vector<GroupId> by_place = std::exchange(group_of_, {});
    place_of_ = nullptr;
    for (wire::LeafId leaf = 0; leaf < leaves_; ++leaf) {
        const uint16_t place = places->place_of[leaf];
        if (place >= by_place.size()) continue;
        const GroupId group = by_place[place];
        set_entry(leaf, group == kAttached ? add_group(places->span_of(leaf)) : group);
    }
}

std::span<const PortIndex> ForwardingTable::ports_of(wire::LeafId leaf) const noexcept {
    const uint32_t index = place_of_ != nullptr && leaf < leaves_ ? place_of_[leaf] : leaf;
    if (index >= group_of_.size()) return {};
    if (group_of_[index] == kAttached) return places_->span_of(leaf);
    const Group& g = groups_[group_of_[index]];
    return std::span(ports_).subspan(g.first, g.count);
}

}  // namespace simverbs::fabric
