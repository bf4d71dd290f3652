#include "scenarios/topologies/small_topologies.hpp"

#include <utility>

namespace simverbs::scenarios::topologies {

namespace {

void add_hosts_at(TopologyBuilder& builder, NodeRef leaf, uint32_t count, uint32_t pod, uint32_t& next_server,
                  const LinkParameters& link) {
    for (uint32_t i = 0; i < count; ++i) builder.connect(builder.add_host(pod, next_server++), leaf, link);
}

}  // namespace

Problems make_back_to_back(Topology& topology, const BackToBackParameters& p) {
    ParameterChecks checks;
    checks.check_link("link", p.link);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    const NodeRef first = builder.add_host(0, 0);
    builder.connect(first, builder.add_host(0, 1), p.link);
    topology = std::move(builder).finish();
    return {};
}

Problems make_single_switch(Topology& topology, const SingleSwitchParameters& p) {
    ParameterChecks checks;
    checks.check_count("hosts", p.hosts, 1);
    checks.check_link("host_link", p.host_link);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    uint32_t server = 0;
    add_hosts_at(builder, builder.add_switch("sw", SwitchTier::Leaf, 0, 0), p.hosts, 0, server, p.host_link);
    topology = std::move(builder).finish();
    return {};
}

Problems make_dumbbell(Topology& topology, const DumbbellParameters& p) {
    ParameterChecks checks;
    checks.check_count("left_hosts", p.left_hosts, 1);
    checks.check_count("right_hosts", p.right_hosts, 1);
    checks.check_link("host_link", p.host_link);
    checks.check_link("bottleneck", p.bottleneck);
    checks.check_size(static_cast<double>(p.left_hosts) + p.right_hosts, 2, 0);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    uint32_t server = 0;
    const NodeRef left = builder.add_switch("sw", SwitchTier::Leaf, 0, 0);
    add_hosts_at(builder, left, p.left_hosts, 0, server, p.host_link);
    const NodeRef right = builder.add_switch("sw", SwitchTier::Leaf, 0, 1);
    add_hosts_at(builder, right, p.right_hosts, 1, server, p.host_link);
    builder.connect(left, right, p.bottleneck);
    topology = std::move(builder).finish();
    return {};
}

Problems make_parking_lot(Topology& topology, const ParkingLotParameters& p) {
    ParameterChecks checks;
    checks.check_count("switches", p.switches, 2);
    checks.check_count("hosts_per_switch", p.hosts_per_switch, 1);
    checks.check_link("host_link", p.host_link);
    checks.check_link("trunk", p.trunk);
    const double hosts = static_cast<double>(p.switches) * p.hosts_per_switch;
    checks.check_size(hosts, p.switches, hosts + p.switches);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    uint32_t server = 0;
    NodeRef last;
    for (uint32_t i = 0; i < p.switches; ++i) {
        const NodeRef here = builder.add_switch("sw", SwitchTier::Leaf, 0, i);
        add_hosts_at(builder, here, p.hosts_per_switch, i, server, p.host_link);
        if (i > 0) builder.connect(last, here, p.trunk);
        last = here;
    }
    topology = std::move(builder).finish();
    return {};
}

}  // namespace simverbs::scenarios::topologies
