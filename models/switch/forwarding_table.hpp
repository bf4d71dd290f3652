// Where a switch sends packets: destination leaf → group of equivalent ports.
#pragma once

#include <cstdint>
#include <span>
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

/// Destinations map to next-hop groups; within a group the flow's hash chooses (ECMP). Groups can be changed while
/// traffic flows (between windows): a dead link leaves its groups, the table itself stays.
class ForwardingTable {
  public:
    /// `salt` makes switches choose independently of each other (no hash polarisation).
    explicit ForwardingTable(uint64_t salt) : multiplier_(sim::mix64(salt) | 1), groups_(1) {}

    /// A new group of ports, in the order given.
    GroupId add_group(std::span<const PortIndex> ports);
    void set_group(GroupId group, std::span<const PortIndex> ports);
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
        if (packet.dest >= group_of_.size()) [[unlikely]]
            return kNoPort;
        const Group& group = groups_[group_of_[packet.dest]];
        if (group.count <= 1) return group.count == 1 ? group.only : kNoPort;
        uint64_t flow = (uint64_t{packet.dest} << 16 | packet.flow_hash) + 1;
        if (salt != 0) flow ^= sim::mix64(salt);
        const auto hash = static_cast<uint32_t>((flow * multiplier_) >> 32);
        return ports_[group.first + static_cast<uint32_t>((uint64_t{hash} * group.count) >> 32)];
    }

  private:
    struct Group {
        uint32_t first = 0;  ///< in ports_
        uint32_t count = 0;
        PortIndex only = kNoPort;
    };
    uint64_t multiplier_;
    std::vector<GroupId> group_of_;
    std::vector<Group> groups_;
    std::vector<PortIndex> ports_;
};

}  // namespace simverbs::fabric
