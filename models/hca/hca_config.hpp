// What an Hca is built from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// Ethernet: the service (Packet::priority) of each DSCP.
using ServiceOfDscp = std::array<uint8_t, 64>;

/// DSCP 8p to 8p + 7: priority p.
[[nodiscard]] constexpr ServiceOfDscp class_selectors() noexcept {
    ServiceOfDscp services{};
    for (size_t dscp = 0; dscp < services.size(); ++dscp) services[dscp] = static_cast<uint8_t>(dscp / 8);
    return services;
}

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
    // Ethernet: see choose_service().
    std::optional<uint16_t> vlan;  ///< its frames have an 802.1Q tag of this VLAN, whose PCP is Packet::priority
    uint8_t priority = 0;          ///< of packets that ask for none
    ServiceOfDscp service_of_dscp = class_selectors();
    uint32_t ethernet_mtu = 4200;  ///< of the interface
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
