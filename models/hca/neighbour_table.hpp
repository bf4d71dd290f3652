// Addresses of a lab: who has this GID, LID or MAC. Changes only between windows; shared by all HCAs of a fabric.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
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

/// What copies packets for groups (wire::kFirstGroup) on their way, so that a sender sends one.
class GroupReplicator {
  public:
    virtual ~GroupReplicator() = default;
    /// From now on the group is these ports.
    virtual void set_members(wire::LeafId group, std::span<const wire::LeafId> ports) = 0;
};

/// Who holds addresses that were resolved once.
class LidObserver {
  public:
    virtual ~LidObserver() = default;
    /// From now on the port of `leaf` has the `count` LIDs from `lid` on, and no others.
    virtual void on_lid_change(wire::LeafId leaf, uint16_t lid, uint32_t count) = 0;
};

/// GID → MAC (static ARP and neighbour discovery), LID → port, multicast group → member ports.
class NeighbourTable {
  public:
    void add_gid(const Gid& gid, const Neighbour& n) { by_gid_[gid] = n; }
    void remove_gid(const Gid& gid) { by_gid_.erase(gid); }
    void add_lid(uint16_t lid, const Neighbour& n) { by_lid_[lid] = n; }
    /// `n` has the `count` LIDs from n.lid on, instead of those that it had. Between windows.
    void move_lid(const Neighbour& n, uint32_t count);
    void add_observer(LidObserver& observer) { lid_observers_.insert(&observer); }
    void remove_observer(LidObserver& observer) { lid_observers_.erase(&observer); }
    /// `gids`: the port's GID table.
    void add_leaf(wire::LeafId leaf, const Neighbour& n, std::vector<Gid> gids) {
        by_leaf_[leaf] = n;
        by_mac_[n.mac] = n;
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
    [[nodiscard]] const Neighbour* find_mac(const wire::MacAddress& mac) const {
        const auto it = by_mac_.find(mac);
        return it == by_mac_.end() ? nullptr : &it->second;
    }
    /// All ports, in the order of their MAC addresses.
    [[nodiscard]] std::vector<wire::LeafId> ports() const {
        std::vector<wire::LeafId> found;
        found.reserve(by_mac_.size());
        for (const auto& [mac, n] : by_mac_) found.push_back(n.leaf);
        return found;
    }

    /// Entry of a port's GID table; zeros if it has none.
    [[nodiscard]] Gid gid_of(wire::LeafId leaf, uint32_t index) const {
        const auto it = gids_of_leaf_.find(leaf);
        return it == gids_of_leaf_.end() || index >= it->second.size() ? Gid{} : it->second[index];
    }

    /// A multicast group: member ports, each once, with how often it has joined.
    struct Group {
        std::map<wire::LeafId, uint32_t> members;
        std::optional<wire::LeafId> dest;  ///< where one packet for all of them goes; none: the sender makes the copies
    };
    // These three change only between windows.
    /// Switches copy from now on. Before the first join.
    void set_replicator(GroupReplicator& replicator) noexcept { replicator_ = &replicator; }
    void join(const Gid& mgid, wire::LeafId leaf);
    void leave(const Gid& mgid, wire::LeafId leaf);
    /// nullptr if nobody has joined it.
    [[nodiscard]] const Group* find_group(const Gid& mgid) const {
        const auto it = groups_.find(mgid);
        return it == groups_.end() ? nullptr : &it->second;
    }
    /// Frames for everybody (broadcasts and addresses that nobody has) can be sent from now on. Between windows.
    void begin_to_flood();
    /// Where one frame for all ports goes; none: the sender makes the copies.
    [[nodiscard]] std::optional<wire::LeafId> flood_dest() const noexcept {
        return floods_ ? std::optional(wire::kFirstGroup) : std::nullopt;
    }

  private:
    void tell_members(const Group& group) const;

    std::map<Gid, Neighbour> by_gid_;
    std::unordered_map<uint16_t, Neighbour> by_lid_;
    std::unordered_map<wire::LeafId, Neighbour> by_leaf_;
    std::map<wire::MacAddress, Neighbour> by_mac_;
    std::unordered_map<wire::LeafId, std::vector<Gid>> gids_of_leaf_;
    std::map<Gid, Group> groups_;
    GroupReplicator* replicator_ = nullptr;
    std::set<LidObserver*> lid_observers_;
    std::set<wire::LeafId> dests_;  ///< of groups_
    bool floods_ = false;
};

}  // namespace simverbs::hca
