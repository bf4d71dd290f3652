// Where a switch sends packets: destination leaf → group of equivalent ports.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/wire/packet.hpp"
#include "sim/check.hpp"
#include "sim/rng.hpp"

namespace simverbs::fabric {

/// Number of a port of a switch, from 0.
using PortIndex = uint32_t;
inline constexpr PortIndex kNoPort = 0xFFFFFFFF;

/// Number of a next-hop group. Group 0 is empty: no route.
using GroupId = uint16_t;

/// Where leaves are attached, the same for all switches of a fabric: thousands of hosts share the routes of their
/// place.
struct LeafPlaces {
    std::vector<uint16_t> place_of;  ///< by leaf: number of the switch that it is attached to, among those with leaves
    std::vector<PortIndex> port_of;  ///< by leaf: the port there

    [[nodiscard]] std::span<const PortIndex> span_of(wire::LeafId leaf) const noexcept { return {&port_of[leaf], 1}; }
};

/// Destinations map to next-hop groups; within a group the flow's hash chooses (ECMP). Groups can be changed while
/// traffic flows (between windows): a dead link leaves its groups, the table itself stays.
class ForwardingTable {
  public:
    /// `salt` makes switches choose independently of each other (no hash polarisation).
    explicit ForwardingTable(uint64_t salt) : multiplier_(sim::mix64(salt) | 1), groups_(1) {}

    /// A new group of ports, in the order given.
    GroupId add_group(std::span<const PortIndex> ports);
    void set_group(GroupId group, std::span<const PortIndex> ports);
    /// Routes are by place from now on (set_place_route), until set_route gives a leaf a route of its own.
    void share_places(std::shared_ptr<const LeafPlaces> places) {
        places_ = std::move(places);
        place_of_ = places_->place_of.data();
        leaves_ = static_cast<uint32_t>(places_->place_of.size());
    }
    /// Sends packets for all leaves of `place` to `group`.
    void set_place_route(uint32_t place, GroupId group) { set_entry(place, group); }
    /// The place of this switch: its leaves are reached by their own ports.
    void set_own_place(uint32_t place) { set_entry(place, kAttached); }
    /// Sends packets for `leaf` to `group`.
    void set_route(wire::LeafId leaf, GroupId group);
    [[nodiscard]] std::span<const PortIndex> ports_of(wire::LeafId leaf) const noexcept;

    /// Bytes that the table takes.
    [[nodiscard]] size_t memory() const noexcept {
        return group_of_.capacity() * sizeof(GroupId) + groups_.capacity() * sizeof(Group) +
               ports_.capacity() * sizeof(PortIndex);
    }

    /// The port for a packet, kNoPort if there is no route. Depends only on destination and flow: a flow keeps its
    /// path, unless `salt` (of a packet or a flowlet) changes.
    [[nodiscard]] PortIndex route(const wire::Packet& packet, uint64_t salt = 0) const noexcept {
        const uint32_t index = place_of_ != nullptr && packet.dest < leaves_ ? place_of_[packet.dest] : packet.dest;
        if (index >= group_of_.size()) [[unlikely]]
            return kNoPort;
        const GroupId id = group_of_[index];
        if (id == kAttached) return places_->port_of[packet.dest];
        const Group& group = groups_[id];
        if (group.count <= 1) return group.count == 1 ? group.only : kNoPort;
        uint64_t flow = (uint64_t{packet.dest} << 16 | packet.flow_hash) + 1;
        if (salt != 0) flow ^= sim::mix64(salt);
        const auto hash = static_cast<uint32_t>((flow * multiplier_) >> 32);
        return ports_[group.first + static_cast<uint32_t>((uint64_t{hash} * group.count) >> 32)];
    }

  private:
    static constexpr GroupId kAttached = 0xFFFF;
    void set_entry(uint32_t index, GroupId group);
    void end_sharing();
    struct Group {
        uint32_t first = 0;  ///< in ports_
        uint32_t count = 0;
        PortIndex only = kNoPort;
    };
    uint64_t multiplier_;
    const uint16_t* place_of_ = nullptr;
    uint32_t leaves_ = 0;
    std::vector<GroupId> group_of_;
    std::vector<Group> groups_;
    std::vector<PortIndex> ports_;
    std::shared_ptr<const LeafPlaces> places_;
};

}  // namespace simverbs::fabric
