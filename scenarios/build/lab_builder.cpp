#include "scenarios/build/lab_builder.hpp"

#include <algorithm>

#include "models/wire/gid.hpp"
#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/build/complex_hosts.hpp"
#include "scenarios/build/profile_parameters.hpp"

namespace simverbs::scenarios {

namespace {

/// RoCE path MTU: what is left of the interface's MTU behind IP, UDP, BTH and the largest extension headers.
constexpr sim::ByteCount kRoceHeaders = 80;

hca::Mtu largest_mtu(sim::ByteCount bytes) {
    for (const hca::Mtu mtu : {hca::Mtu::Mtu4096, hca::Mtu::Mtu2048, hca::Mtu::Mtu1024, hca::Mtu::Mtu512}) {
        if (hca::bytes_of(mtu) <= bytes) return mtu;
    }
    return hca::Mtu::Mtu256;
}

hca::Gid gid_bytes(const wire::Gid& gid) {
    return gid.bytes;
}

/// One port's place among all of the lab, from which its addresses follow.
struct Place {
    uint32_t host_number = 1;  ///< host index + 1
    uint32_t port_of_host = 0;
};

uint32_t address_of(const NicSpec& nic, Place place, uint32_t port) {
    if (nic.address) return *nic.address + port;
    return 0x0A000000U | (place.port_of_host & 0xFF) << 16 | (place.host_number & 0xFFFF);
}

wire::MacAddress mac_of(const NicSpec& nic, Place place, uint32_t port) {
    const uint64_t mac =
        nic.mac ? *nic.mac + port : 0x0200'0000'0000ULL | uint64_t{place.port_of_host & 0xFF} << 16 | place.host_number;
    wire::MacAddress to;
    for (size_t i = 0; i < to.bytes.size(); ++i) to.bytes[i] = static_cast<uint8_t>(mac >> (40 - 8 * i));
    return to;
}

uint64_t guid_of(const NicSpec& nic, Place place) {
    // A block of 16 numbers for each NIC below a vendor's prefix: the node's own, then its ports'.
    return nic.guid
               ? *nic.guid
               : 0x0002'C903'00A0'0000ULL + (uint64_t{place.host_number} << 12) + uint64_t{place.port_of_host} * 16;
}

wire::Gid global_ipv6(uint32_t ipv4) {
    return wire::Gid::from_prefix_and_guid(0xFD00'0000'0000'0000, ipv4);  // RFC 4193, fd00::10.0.hi.lo
}

/// RoCE v2 entries come first, as on adapters that have v2 alone; then the same addresses for RoCE v1.
void add_roce_gids(const NicSpec& nic, uint32_t address, const std::string& netdev, hca::HcaPortConfig& port) {
    std::vector<wire::Gid> gids{wire::link_local_gid(port.mac), wire::gid_from_ipv4(address)};
    if (nic.ipv6) gids.push_back(global_ipv6(address));
    for (const auto& [version, type] :
         {std::pair{RoceVersion::V2, hca::GidType::RoceV2}, std::pair{RoceVersion::V1, hca::GidType::RoceV1}}) {
        if (std::find(nic.roce_versions.begin(), nic.roce_versions.end(), version) == nic.roce_versions.end()) continue;
        for (const wire::Gid& gid : gids) port.gids.push_back({gid_bytes(gid), type, netdev});
    }
}

/// The adapters of one host, with their addresses.
class AdapterBuilder {
  public:
    AdapterBuilder(const HostSpec& host, std::vector<fabric::NicSpec>& nics,
                   std::vector<std::unique_ptr<hca::DeviceProfile>>& profiles, DiagnosticSink& sink)
        : host_(host), nics_(nics), profiles_(profiles), sink_(sink) {}

    HostAddresses add_host(uint32_t index) {
        HostAddresses addresses;
        addresses.first_nic = static_cast<uint32_t>(nics_.size());
        Place place{index + 1, 0};
        addresses.ipv4 = host_address(host_, index);
        for (size_t n = 0; n < host_.nics.size(); ++n) {
            const NicSpec& nic = host_.nics[n];
            const bool ethernet = nic.link_layer == LinkLayer::Ethernet;
            addresses.netdevs.push_back((ethernet ? "eth" : "ib") + std::to_string(n));
            if (nic.address && *nic.address >> 24 != 10)
                sink_.add(nic.position, nic.path + ".address", "lies outside the addresses of a lab", "10.x.y.z");
            add_nic(nic, addresses.netdevs.back(), place);
            place.port_of_host += static_cast<uint32_t>(nic.ports);
        }
        return addresses;
    }

  private:
    void add_nic(const NicSpec& nic, const std::string& netdev, Place place) {
        const hca::DeviceProfile* profile = hca::find_profile(nic.profile);
        if (profile == nullptr) {
            sink_.add(nic.profile_position, nic.path + ".profile", "there is no profile '" + nic.profile + "'");
            return;
        }
        profiles_.push_back(std::make_unique<hca::DeviceProfile>(*profile));
        hca::DeviceProfile& own = *profiles_.back();
        apply_parameters(nic.parameters, own, sink_);
        own.attr.phys_port_cnt = static_cast<uint8_t>(nic.ports);
        fabric::NicSpec to;
        to.path = host_.name + "/" + nic.device;
        to.profile = &own;
        to.node_guid = guid_of(nic, place);
        for (int p = 0; p < nic.ports; ++p) {
            const auto port_index = static_cast<uint32_t>(p);
            const Place at{place.host_number, place.port_of_host + port_index};
            hca::HcaPortConfig port;
            port.link_layer =
                nic.link_layer == LinkLayer::Ethernet ? hca::LinkLayer::Ethernet : hca::LinkLayer::InfiniBand;
            port.port_guid = to.node_guid + port_index + 1;
            port.rate = own.default_rate;
            if (nic.link_layer == LinkLayer::Ethernet) {
                port.mac = mac_of(nic, at, port_index);
                port.active_mtu = largest_mtu(nic.mtu - kRoceHeaders);
                port.ethernet_mtu = static_cast<uint32_t>(nic.mtu);
                add_roce_gids(nic, address_of(nic, at, port_index), netdev, port);
                if (nic.vlan) port.vlan = static_cast<uint16_t>(*nic.vlan);
                port.priority = static_cast<uint8_t>(nic.priority);
            } else {
                port.active_mtu = largest_mtu(nic.mtu);
                port.classes = port.peer_classes = link::kUsualVls;
                port.gids.push_back(
                    {gid_bytes(wire::Gid::from_prefix_and_guid(wire::Gid::kLinkLocalPrefix, port.port_guid)),
                     hca::GidType::Ib,
                     {}});
                if (nic.lid && p == 0) port.lid = *nic.lid;
            }
            if (nic.gid && p == 0)
                port.gids.push_back({*nic.gid,
                                     nic.link_layer == LinkLayer::Ethernet ? hca::GidType::RoceV2 : hca::GidType::Ib,
                                     nic.link_layer == LinkLayer::Ethernet ? netdev : std::string{}});
            to.ports.push_back(std::move(port));
        }
        nics_.push_back(std::move(to));
    }

    const HostSpec& host_;
    std::vector<fabric::NicSpec>& nics_;
    std::vector<std::unique_ptr<hca::DeviceProfile>>& profiles_;
    DiagnosticSink& sink_;
};

class Builder {
  public:
    Builder(const LabSpec& lab, DiagnosticSink& sink) : lab_(lab), sink_(sink) {}

    BuiltLab build() {
        built_.fabric.seed = lab_.seed;
        for (uint32_t h = 0; h < lab_.hosts.size(); ++h) {
            const HostSpec& host = lab_.hosts[h];
            built_.hosts.push_back(add_adapters(host, h, built_.fabric.nics, built_.profiles, sink_));
            check_inside(host, sink_);
            if (host.inside != nullptr)
                built_.fabric.hosts.push_back(complex_host(host, built_.hosts.back().first_nic));
        }
        for (const SwitchSpec& s : lab_.switches)
            built_.fabric.switches.push_back({s.name,
                                              s.forwarding == Forwarding::CutThrough
                                                  ? fabric::Forwarding::CutThrough
                                                  : fabric::Forwarding::StoreAndForward,
                                              s.latency, s.buffer});
        for (const LinkSpec& link : lab_.links) add_link(link);
        return std::move(built_);
    }

  private:
    [[nodiscard]] uint32_t nic_index(const LinkEnd& end) const {
        return built_.hosts[static_cast<size_t>(end.node)].first_nic + static_cast<uint32_t>(end.nic);
    }

    [[nodiscard]] fabric::LinkEndSpec end_of(const LinkEnd& end) const {
        if (end.is_switch) return {true, static_cast<uint32_t>(end.node), 1};
        return {false, nic_index(end), static_cast<uint8_t>(end.port)};
    }

    /// The lower of what both ends can do; a switch can do whatever the fastest NIC of the lab can.
    [[nodiscard]] sim::BitRate rate_of(const LinkSpec& link) const {
        if (link.rate) return *link.rate;
        sim::BitRate fastest = sim::BitRate::gbps(1);
        for (const fabric::NicSpec& nic : built_.fabric.nics) fastest = std::max(fastest, nic.profile->default_rate);
        sim::BitRate rate = fastest;
        for (const LinkEnd& end : {link.a, link.b}) {
            if (!end.is_switch) rate = std::min(rate, built_.fabric.nics[nic_index(end)].profile->default_rate);
        }
        return rate;
    }

    void add_link(const LinkSpec& link) {
        if (!sink_.empty()) return;  // a NIC may be missing
        fabric::LinkSpec to;
        to.a = end_of(link.a);
        to.b = end_of(link.b);
        to.params.rate = rate_of(link);
        to.params.propagation = link.delay.value_or(link::kPropagationPerMetre * link.length.in_mm() / 1000);
        for (const LinkEnd& end : {link.a, link.b}) {
            if (end.is_switch) {
                if (lab_.switches[static_cast<size_t>(end.node)].link_layer == LinkLayer::InfiniBand)
                    to.params.layer = link::LinkLayer::InfiniBand;
                continue;
            }
            const NicSpec& nic = lab_.hosts[static_cast<size_t>(end.node)].nics[static_cast<size_t>(end.nic)];
            if (nic.link_layer == LinkLayer::InfiniBand) to.params.layer = link::LinkLayer::InfiniBand;
            to.params.vlan = to.params.vlan || nic.vlan.has_value();
            built_.fabric.nics[nic_index(end)].ports[static_cast<size_t>(end.port) - 1].rate = to.params.rate;
        }
        for (const FaultSpec& fault : link.faults) {
            const FaultWays ways = ways_of(fault.direction, false);
            if (ways.a_to_b) to.faults_a_to_b.push_back(link_fault(fault));
            if (ways.b_to_a) to.faults_b_to_a.push_back(link_fault(fault));
        }
        built_.fabric.links.push_back(std::move(to));
    }

    const LabSpec& lab_;
    DiagnosticSink& sink_;
    BuiltLab built_;
};

}  // namespace

HostAddresses add_adapters(const HostSpec& host, uint32_t index, std::vector<fabric::NicSpec>& nics,
                           std::vector<std::unique_ptr<hca::DeviceProfile>>& profiles, DiagnosticSink& sink) {
    return AdapterBuilder(host, nics, profiles, sink).add_host(index);
}

uint32_t host_address(const HostSpec& host, uint32_t index) {
    const NicSpec none;
    return address_of(host.nics.empty() ? none : host.nics.front(), Place{index + 1, 0}, 0);
}

std::optional<BuiltLab> build_lab(const LabSpec& lab, DiagnosticSink& sink) {
    BuiltLab built = Builder(lab, sink).build();
    if (!sink.empty()) return std::nullopt;
    return built;
}

}  // namespace simverbs::scenarios
