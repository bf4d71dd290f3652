// What an Hca is built from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hca/device_profile.hpp"
#include "models/hca/neighbour_table.hpp"
#include "models/hca/qp/qp_congestion.hpp"
#include "models/hca/verbs_types.hpp"
#include "models/link/service_map.hpp"
#include "models/wire/mac_address.hpp"
#include "models/wire/packet.hpp"
#include "sim/units.hpp"

namespace simverbs::hca {

struct GidEntry {
    Gid gid{};
    GidType type = GidType::Ib;
    std::string netdev;  ///< sysfs gid_attrs/ndevs: "eth0"; empty on InfiniBand
};

struct HcaPortConfig {
    LinkLayer link_layer = LinkLayer::Ethernet;
    wire::LeafId leaf = 0;
    wire::MacAddress mac;  ///< Ethernet only
    uint64_t port_guid = 0;
    uint16_t lid = 0;  ///< InfiniBand only, as are sm_lid and lmc
    uint16_t sm_lid = 0;
    uint8_t lmc = 0;
    std::vector<GidEntry> gids;
    std::vector<uint16_t> pkeys{0xFFFF};
    Mtu max_mtu = Mtu::Mtu4096, active_mtu = Mtu::Mtu4096;
    sim::BitRate rate;
    sim::ByteCount vl_buffer = 0;                       ///< InfiniBand: bytes of each VL, where the link counts credits
    link::ServiceMap classes = link::kOwnClasses;       ///< priority (InfiniBand: VL) by which it sends each service
    link::ServiceMap peer_classes = link::kOwnClasses;  ///< InfiniBand: the neighbour's
    uint8_t priority_of_sl[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

struct HcaConfig {
    std::string name;  ///< path of the component: "h0/mlx5_0"; seeds depend on it, never on creation order
    const DeviceProfile* profile = nullptr;
    uint64_t node_guid = 0;
    std::vector<HcaPortConfig> ports;  ///< port number 1 is ports[0]
    NeighbourTable* neighbours = nullptr;
    CongestionConfig congestion;
    uint64_t seed = 1;
};

}  // namespace simverbs::hca
