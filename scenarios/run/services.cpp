#include "scenarios/run/services.hpp"

#include <algorithm>
#include <set>

namespace simverbs::scenarios::run {

namespace {

constexpr int kPcps = 8;
constexpr int kDscpsOfAPriority = 8;

/// SL2VL: what a table does not name goes by VL 0.
link::ServiceMap sl2vl_table(const NumberPairs& pairs) {
    link::ServiceMap table = link::kUsualVls;
    if (!pairs.empty()) table.fill(0);
    for (const auto& [sl, vl] : pairs) table[static_cast<size_t>(sl)] = static_cast<uint8_t>(vl);
    return table;
}

/// Where a map gives a DSCP twice, the last counts.
int priority_of(int dscp, const NumberPairs& dscp_map) {
    int priority = dscp / kDscpsOfAPriority;
    for (const auto& [key, value] : dscp_map)
        if (key == dscp) priority = value;
    return priority;
}

}  // namespace

Services::Services(const BuiltTopology& topology)
    : topology_(topology), is_infiniband_(topology.layer == link::LinkLayer::InfiniBand) {
    are_tagged_ = std::ranges::any_of(
        topology.host_ports, [](const HostPort& port) { return port.spec != nullptr && port.spec->vlan.has_value(); });
    for (int p = 0; p < kPcps; ++p) {
        dscps_[static_cast<size_t>(p)] = p * kDscpsOfAPriority;
        tagged_.push_back({p * kDscpsOfAPriority, p});
    }
}

std::optional<uint8_t> Services::number_of_dscp(int dscp) {
    const auto end = dscps_.begin() + used_;
    if (const auto known = std::find(dscps_.begin(), end, dscp); known != end)
        return static_cast<uint8_t>(known - dscps_.begin());
    if (used_ == dscps_.size()) return std::nullopt;
    dscps_[used_] = dscp;
    return used_++;
}

std::optional<uint8_t> Services::on_the_wire(uint8_t service, flow::HostIndex src) {
    if (!are_tagged_) return service;
    const int dscp = dscps_[service];
    const OnTheWire wanted{dscp, priority_of(dscp, dscp_map_of(src))};
    const auto known = std::ranges::find(tagged_, wanted);
    const auto number = static_cast<uint8_t>(known - tagged_.begin());
    if (number == dscps_.size()) return std::nullopt;
    if (known == tagged_.end()) tagged_.push_back(wanted);
    return number;
}

std::optional<hca::ServiceOfDscp> Services::of_programs(flow::HostIndex host) {
    hca::ServiceOfDscp services{};
    for (size_t dscp = 0; dscp < services.size(); ++dscp) {
        const auto number = static_cast<int>(dscp);
        if (are_tagged_) {
            services[dscp] = static_cast<uint8_t>(priority_of(number, dscp_map_of(host)));
        } else if (const auto service = like_dscp(number)) {
            services[dscp] = *service;
        } else {
            return std::nullopt;
        }
    }
    return services;
}

/// The first service that every node gives the priority that it gives this DSCP, a new one if there is none.
std::optional<uint8_t> Services::like_dscp(int dscp) {
    for (uint8_t s = 0; s < used_; ++s) {
        const auto is_alike = [&](const NumberPairs& map) {
            return priority_of(dscp, map) == priority_of(dscps_[s], map);
        };
        if (std::ranges::all_of(dscp_maps(), is_alike)) return s;
    }
    return number_of_dscp(dscp);
}

const std::vector<NumberPairs>& Services::dscp_maps() {
    if (!dscp_maps_.empty()) return dscp_maps_;
    std::set<NumberPairs> all;
    for (const SwitchSpec* s : topology_.switches) all.insert(s->queueing.dscp_map);
    for (flow::HostIndex host = 0; host < topology_.host_ports.size(); ++host) all.insert(dscp_map_of(host));
    dscp_maps_.assign(all.begin(), all.end());
    return dscp_maps_;
}

ServiceCodes Services::codes() const {
    ServiceCodes codes;
    for (size_t s = 0; s < used_; ++s) codes.dscps[s] = static_cast<uint8_t>(dscps_[s]);
    if (!are_tagged_) return codes;
    codes.vlan = static_cast<uint16_t>(*topology_.host_ports.front().spec->vlan);
    for (size_t s = 0; s < tagged_.size(); ++s) {
        codes.dscps[s] = static_cast<uint8_t>(tagged_[s].dscp);
        codes.pcps[s] = static_cast<uint8_t>(tagged_[s].pcp);
    }
    return codes;
}

const NumberPairs& Services::dscp_map_of(flow::HostIndex host) const {
    static const NumberPairs kNoMap;
    const NicSpec* nic = topology_.host_ports[host].spec;
    return nic != nullptr ? nic->dscp_map : kNoMap;
}

link::ServiceMap Services::by_dscp(const NumberPairs& dscp_map) const {
    link::ServiceMap map{};
    for (size_t service = 0; service < used_; ++service)
        map[service] = static_cast<uint8_t>(priority_of(dscps_[service], dscp_map));
    return map;
}

link::ServiceMap Services::of_switch(uint32_t index) const {
    const SwitchQueueing& q = topology_.switches[index]->queueing;
    if (is_infiniband_) return sl2vl_table(q.sl2vl);
    if (!are_tagged_) return by_dscp(q.dscp_map);
    link::ServiceMap priorities = link::kOwnClasses;
    for (const auto& [pcp, priority] : q.pcp_map) priorities[static_cast<size_t>(pcp)] = static_cast<uint8_t>(priority);
    link::ServiceMap map = pcps();
    for (uint8_t& pcp : map) pcp = priorities[pcp];
    return map;
}

/// The subnet manager gives adapters the table of the `switch` section; a tag holds the NIC's own priority.
link::ServiceMap Services::of_host(flow::HostIndex host) const {
    if (is_infiniband_) return sl2vl_table(topology_.switch_template->queueing.sl2vl);
    return are_tagged_ ? pcps() : by_dscp(dscp_map_of(host));
}

link::ServiceMap Services::pcps() const {
    link::ServiceMap map{};
    for (size_t s = 0; s < tagged_.size(); ++s) map[s] = static_cast<uint8_t>(tagged_[s].pcp);
    return map;
}

}  // namespace simverbs::scenarios::run
