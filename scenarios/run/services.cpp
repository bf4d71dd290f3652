#include "scenarios/run/services.hpp"

#include <algorithm>

namespace simverbs::scenarios::run {

namespace {

constexpr int kPcps = 8;
constexpr int kDscpsOfAPriority = 8;

/// SL2VL: without a table as OpenSM has it with QoS (VL = SL, VL 15 being management's); with one, what it does not
/// name goes by VL 0.
link::ServiceMap sl2vl_table(const NumberPairs& pairs) {
    link::ServiceMap table = link::kOwnClasses;
    constexpr uint8_t kVlOfSl15 = 7;
    table.back() = kVlOfSl15;
    if (!pairs.empty()) table.fill(0);
    for (const auto& [sl, vl] : pairs) table[static_cast<size_t>(sl)] = static_cast<uint8_t>(vl);
    return table;
}

}  // namespace

Services::Services(const BuiltTopology& topology)
    : topology_(topology), is_infiniband_(topology.layer == link::LinkLayer::InfiniBand) {
    are_tagged_ = std::ranges::any_of(
        topology.host_ports, [](const HostPort& port) { return port.spec != nullptr && port.spec->vlan.has_value(); });
    for (int p = 0; p < kPcps; ++p) dscps_[static_cast<size_t>(p)] = p * kDscpsOfAPriority;
}

std::optional<uint8_t> Services::number_of_dscp(int dscp) {
    const auto end = dscps_.begin() + used_;
    if (const auto known = std::find(dscps_.begin(), end, dscp); known != end)
        return static_cast<uint8_t>(known - dscps_.begin());
    if (used_ == dscps_.size()) return std::nullopt;
    dscps_[used_] = dscp;
    return used_++;
}

uint8_t Services::on_the_wire(uint8_t service, flow::HostIndex src) const {
    return are_tagged_ ? by_dscp(dscp_map_of(src))[service] : service;
}

ServiceCodes Services::codes() const {
    ServiceCodes codes;
    for (size_t s = 0; s < used_; ++s) codes.dscps[s] = static_cast<uint8_t>(dscps_[s]);
    if (are_tagged_) codes.vlan = static_cast<uint16_t>(*topology_.host_ports.front().spec->vlan);
    return codes;
}

const NumberPairs& Services::dscp_map_of(flow::HostIndex host) const {
    static const NumberPairs kNoMap;
    const NicSpec* nic = topology_.host_ports[host].spec;
    return nic != nullptr ? nic->dscp_map : kNoMap;
}

link::ServiceMap Services::by_dscp(const NumberPairs& dscp_map) const {
    link::ServiceMap map{};
    for (size_t service = 0; service < used_; ++service) {
        map[service] = static_cast<uint8_t>(dscps_[service] / kDscpsOfAPriority);
        for (const auto& [dscp, priority] : dscp_map)
            if (dscp == dscps_[service]) map[service] = static_cast<uint8_t>(priority);
    }
    return map;
}

link::ServiceMap Services::of_switch(uint32_t index) const {
    const SwitchQueueing& q = topology_.switches[index]->queueing;
    if (is_infiniband_) return sl2vl_table(q.sl2vl);
    if (!are_tagged_) return by_dscp(q.dscp_map);
    link::ServiceMap map = link::kOwnClasses;
    for (const auto& [pcp, priority] : q.pcp_map) map[static_cast<size_t>(pcp)] = static_cast<uint8_t>(priority);
    return map;
}

/// The subnet manager gives adapters the table of the `switch` section; a tag holds the NIC's own priority.
link::ServiceMap Services::of_host(flow::HostIndex host) const {
    if (is_infiniband_) return sl2vl_table(topology_.switch_template->queueing.sl2vl);
    return are_tagged_ ? link::kOwnClasses : by_dscp(dscp_map_of(host));
}

}  // namespace simverbs::scenarios::run
