// Addresses of a lab: who has this GID, LID or MAC. Changes only between windows; shared by all HCAs of a fabric.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/hca/verbs_types.hpp"
#include "models/wire/mac_address.hpp"
#include "models/wire/packet.hpp"

namespace simverbs::hca {

struct Neighbour {
    wire::LeafId leaf = 0;
    wire::MacAddress mac;
    uint16_t lid = 0;
};

/// GID → MAC (static ARP and neighbour discovery), LID → port, multicast group → member ports.
class NeighbourTable {
  public:
    void add_gid(const Gid& gid, const Neighbour& n) { by_gid_[gid] = n; }
    void remove_gid(const Gid& gid) { by_gid_.erase(gid); }
    void add_lid(uint16_t lid, const Neighbour& n) { by_lid_[lid] = n; }
    void remove_lid(uint16_t lid) { by_lid_.erase(lid); }
    /// `gids`: the port's GID table.
    void add_leaf(wire::LeafId leaf, const Neighbour& n, std::vector<Gid> gids) {
        by_leaf_[leaf] = n;
        gids_of_leaf_[leaf] = std::move(gids);
    }

    /// Entry `index` of a port's GID table is another from now on.
    void set_gid_of(wire::LeafId leaf, uint32_t index, const Gid& gid) {
        std::vector<Gid>& gids = gids_of_leaf_[leaf];
        if (gids.size() <= index) gids.resize(index + 1);
        gids[index] = gid;
    }

    /// nullptr if nobody has it.
    [[nodiscard]] const Neighbour* find_gid(const Gid& gid) const {
        const auto it = by_gid_.find(gid);
        return it == by_gid_.end() ? nullptr : &it->second;
    }
    [[nodiscard]] const Neighbour* find_lid(uint16_t lid) const {
        const auto it = by_lid_.find(lid);
        return it == by_lid_.end() ? nullptr : &it->second;
    }
    [[nodiscard]] const Neighbour* find_leaf(wire::LeafId leaf) const {
        const auto it = by_leaf_.find(leaf);
        return it == by_leaf_.end() ? nullptr : &it->second;
    }

    /// Entry of a port's GID table; zeros if it has none.
    [[nodiscard]] Gid gid_of(wire::LeafId leaf, uint32_t index) const {
        const auto it = gids_of_leaf_.find(leaf);
        return it == gids_of_leaf_.end() || index >= it->second.size() ? Gid{} : it->second[index];
    }

    /// Members of a multicast group, each port once, in LeafId order. Changes only between windows.
    void join(const Gid& mgid, wire::LeafId leaf) { ++groups_[mgid][leaf]; }
    void leave(const Gid& mgid, wire::LeafId leaf) {
        const auto group = groups_.find(mgid);
        if (group == groups_.end()) return;
        const auto member = group->second.find(leaf);
        if (member != group->second.end() && --member->second == 0) group->second.erase(member);
    }
    [[nodiscard]] const std::map<wire::LeafId, uint32_t>* members(const Gid& mgid) const {
        const auto it = groups_.find(mgid);
        return it == groups_.end() ? nullptr : &it->second;
    }

  private:
    std::map<Gid, Neighbour> by_gid_;
    std::unordered_map<uint16_t, Neighbour> by_lid_;
    std::unordered_map<wire::LeafId, Neighbour> by_leaf_;
    std::unordered_map<wire::LeafId, std::vector<Gid>> gids_of_leaf_;
    std::map<Gid, std::map<wire::LeafId, uint32_t>> groups_;
};

}  // namespace simverbs::hca
