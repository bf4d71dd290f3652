// Along which links switches copy packets for groups.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/fabric/routing.hpp"
#include "models/hca/neighbour_table.hpp"
#include "models/switch/switch.hpp"

namespace simverbs::fabric {

/// One tree over all switches of a fabric, as a subnet manager's or a spanning tree protocol's: a packet for a group is
/// copied into all branches that lead to members, and comes to each of them once. Found when the first group has a
/// member; links that go down later do not change it.
class MulticastTree final : public hca::GroupReplicator {
  public:
    /// `links`: all that there are; `switches` as they are numbered there. Must outlive whoever joins groups.
    MulticastTree(std::vector<RoutedLink> links, std::vector<Switch*> switches)
        : links_(std::move(links)), switches_(std::move(switches)) {}

    void set_members(wire::LeafId group, std::span<const wire::LeafId> ports) override;

  private:
    static constexpr uint32_t kNone = 0xFFFFFFFF;
    struct Branch {
        uint32_t node = kNone;  ///< a switch
        PortIndex port = 0, peer_port = 0;
    };
    struct Node {
        std::vector<Branch> neighbours;  ///< over any link
        std::vector<Branch> children;
        PortIndex to_parent = 0;
        uint32_t root = kNone;
    };
    struct Place {
        uint32_t node = kNone;
        PortIndex port = 0;
    };
    void grow();
    /// Visits what can be reached from `first`: each switch once, nearer ones before. `from`: by which link, with
    /// `node` and `port` at its near end.
    std::vector<uint32_t> walk(uint32_t first, std::vector<Branch>& from) const;

    std::vector<RoutedLink> links_;
    std::vector<Switch*> switches_;
    std::vector<Node> nodes_;        ///< by switch; empty: not grown yet
    std::vector<uint32_t> outward_;  ///< all switches, each after its parent
    std::map<wire::LeafId, Place> places_;
};

}  // namespace simverbs::fabric
