#include "models/hca/neighbour_table.hpp"

namespace simverbs::hca {

void NeighbourTable::move_lid(const Neighbour& n, uint32_t count) {
    std::erase_if(by_lid_, [&](const auto& entry) { return entry.second.leaf == n.leaf; });
    for (uint32_t path = 0; path < count; ++path) add_lid(static_cast<uint16_t>(n.lid + path), n);
    for (LidObserver* observer : lid_observers_) observer->on_lid_change(n.leaf, n.lid, count);
}

void NeighbourTable::join(const Gid& mgid, wire::LeafId leaf) {
    Group& group = groups_[mgid];
    if (group.members.empty() && replicator_ != nullptr) {
        // The first one is all ports.
        wire::LeafId free = wire::kFirstGroup + 1;
        while (dests_.contains(free)) ++free;
        if (free < wire::kFirstGroup + wire::kMostGroups) {
            dests_.insert(free);
            group.dest = free;
        }
    }
    if (++group.members[leaf] == 1) tell_members(group);
}

void NeighbourTable::leave(const Gid& mgid, wire::LeafId leaf) {
    const auto found = groups_.find(mgid);
    if (found == groups_.end()) return;
    Group& group = found->second;
    const auto member = group.members.find(leaf);
    if (member == group.members.end() || --member->second != 0) return;
    group.members.erase(member);
    tell_members(group);
    if (!group.members.empty()) return;
    if (group.dest) dests_.erase(*group.dest);
    groups_.erase(found);
}

void NeighbourTable::tell_members(const Group& group) const {
    if (!group.dest) return;
    std::vector<wire::LeafId> ports;
    for (const auto& [leaf, times] : group.members) ports.push_back(leaf);
    replicator_->set_members(*group.dest, ports);
}

void NeighbourTable::begin_to_flood() {
    if (floods_ || replicator_ == nullptr) return;
    floods_ = true;
    replicator_->set_members(wire::kFirstGroup, ports());
}

}  // namespace simverbs::hca
