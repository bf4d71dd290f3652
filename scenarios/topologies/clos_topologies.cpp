#include "scenarios/topologies/clos_topologies.hpp"

#include <fmt/format.h>

#include <utility>

namespace simverbs::scenarios::topologies {

namespace {

/// Every leaf to every spine.
void add_spines(TopologyBuilder& builder, const std::vector<NodeRef>& leaves, uint32_t spines, uint32_t links_per_pair,
                const LinkParameters& link) {
    std::vector<NodeRef> all;
    for (uint32_t s = 0; s < spines; ++s) all.push_back(builder.add_switch("spine", SwitchTier::Core, 1, kNoPod));
    for (const NodeRef leaf : leaves) {
        for (const NodeRef spine : all) builder.connect(leaf, spine, link, links_per_pair);
    }
}

void check_fat_tree(ParameterChecks& checks, const FatTreeParameters& p) {
    checks.check_count("pods", p.pods, 1);
    checks.check_count("tors_per_pod", p.tors_per_pod, 1);
    checks.check_count("aggs_per_pod", p.aggs_per_pod, 1);
    checks.check_count("hosts_per_tor", p.hosts_per_tor, 1);
    checks.check_count("cores", p.cores, p.pods > 1 ? 1 : 0);
    checks.check_link("host_link", p.host_link);
    checks.check_link("tor_link", p.tor_link);
    checks.check_link("core_link", p.core_link);
    if (p.aggs_per_pod > 0 && p.cores % p.aggs_per_pod != 0) {
        checks.add("cores",
                   fmt::format("{} cores do not divide among {} aggregation switches", p.cores, p.aggs_per_pod),
                   fmt::format("a multiple of {}", p.aggs_per_pod));
    }
    if (!checks.empty()) return;
    const double tors = static_cast<double>(p.pods) * p.tors_per_pod;
    const double aggs = static_cast<double>(p.pods) * p.aggs_per_pod;
    checks.check_size(tors * p.hosts_per_tor, tors + aggs + p.cores,
                      tors * p.hosts_per_tor + tors * p.aggs_per_pod + static_cast<double>(p.pods) * p.cores);
}

/// A pod's hosts and switches; returns its aggregation switches.
std::vector<NodeRef> add_pod(TopologyBuilder& builder, const FatTreeParameters& p, uint32_t pod) {
    std::vector<NodeRef> tors;
    for (uint32_t t = 0; t < p.tors_per_pod; ++t) {
        const NodeRef tor = builder.add_switch("tor", SwitchTier::Leaf, 0, pod);
        for (uint32_t i = 0; i < p.hosts_per_tor; ++i) {
            const uint32_t server = (pod * p.tors_per_pod + t) * p.hosts_per_tor + i;
            builder.connect(builder.add_host(pod, server), tor, p.host_link);
        }
        tors.push_back(tor);
    }
    std::vector<NodeRef> aggs;
    for (uint32_t a = 0; a < p.aggs_per_pod; ++a) {
        aggs.push_back(builder.add_switch("agg", SwitchTier::Aggregation, 1, pod));
        for (const NodeRef tor : tors) builder.connect(tor, aggs.back(), p.tor_link);
    }
    return aggs;
}

}  // namespace

Problems make_leaf_spine(Topology& topology, const LeafSpineParameters& p) {
    ParameterChecks checks;
    checks.check_count("leaves", p.leaves, 1);
    checks.check_count("spines", p.spines, p.leaves > 1 ? 1 : 0);
    checks.check_count("hosts_per_leaf", p.hosts_per_leaf, 1);
    checks.check_count("links_per_pair", p.links_per_pair, 1);
    checks.check_link("host_link", p.host_link);
    checks.check_link("fabric_link", p.fabric_link);
    const double hosts = static_cast<double>(p.leaves) * p.hosts_per_leaf;
    checks.check_size(hosts, static_cast<double>(p.leaves) + p.spines,
                      hosts + static_cast<double>(p.leaves) * p.spines * p.links_per_pair);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    std::vector<NodeRef> leaves;
    for (uint32_t l = 0; l < p.leaves; ++l) {
        leaves.push_back(builder.add_switch("leaf", SwitchTier::Leaf, 0, l));
        for (uint32_t i = 0; i < p.hosts_per_leaf; ++i) {
            builder.connect(builder.add_host(l, l * p.hosts_per_leaf + i), leaves.back(), p.host_link);
        }
    }
    add_spines(builder, leaves, p.spines, p.links_per_pair, p.fabric_link);
    topology = std::move(builder).finish();
    return {};
}

Problems make_fat_tree(Topology& topology, const FatTreeParameters& p) {
    ParameterChecks checks;
    check_fat_tree(checks, p);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    std::vector<std::vector<NodeRef>> aggs;
    for (uint32_t pod = 0; pod < p.pods; ++pod) aggs.push_back(add_pod(builder, p, pod));
    std::vector<NodeRef> cores;
    for (uint32_t c = 0; c < p.cores; ++c) cores.push_back(builder.add_switch("core", SwitchTier::Core, 2, kNoPod));
    const uint32_t cores_per_agg = p.cores / p.aggs_per_pod;
    for (uint32_t pod = 0; pod < p.pods; ++pod) {
        for (uint32_t c = 0; c < p.cores; ++c) builder.connect(aggs[pod][c / cores_per_agg], cores[c], p.core_link);
    }
    topology = std::move(builder).finish();
    return {};
}

Problems make_k_ary_fat_tree(Topology& topology, const KAryFatTreeParameters& p) {
    ParameterChecks checks;
    checks.check_link("link", p.link);
    // k^3 / 4 hosts: the largest k within kMaxHosts.
    constexpr uint32_t kMaxK = 160;
    static_assert(uint64_t{kMaxK} * kMaxK * kMaxK / 4 <= kMaxHosts);
    if (p.k < 2 || p.k % 2 != 0 || p.k > kMaxK) {
        checks.add("k", fmt::format("{} is no number of ports for a fat tree", p.k),
                   fmt::format("an even number from 2 to {}", kMaxK));
    }
    if (!checks.empty()) return checks.problems();
    const uint32_t half = p.k / 2;
    return make_fat_tree(topology, {p.k, half, half, half, half * half, p.link, p.link, p.link});
}

FatTreeParameters hpcc_fabric() {
    const sim::SimTime delay = sim::SimTime::us(1);
    const LinkParameters fabric{sim::BitRate::gbps(400), delay};
    return {5, 4, 4, 16, 16, {sim::BitRate::gbps(100), delay}, fabric, fabric};
}

Problems make_rail_optimised(Topology& topology, const RailParameters& p) {
    ParameterChecks checks;
    checks.check_count("servers", p.servers, 1);
    checks.check_count("nics_per_server", p.nics_per_server, 1);
    checks.check_count("servers_per_unit", p.servers_per_unit, 1);
    // Without spines the rails would be islands.
    const bool has_one_leaf = p.nics_per_server == 1 && p.servers <= p.servers_per_unit;
    checks.check_count("spines", p.spines, has_one_leaf ? 0 : 1);
    checks.check_count("links_per_pair", p.links_per_pair, 1);
    checks.check_link("host_link", p.host_link);
    checks.check_link("fabric_link", p.fabric_link);
    if (!checks.empty()) return checks.problems();
    const uint32_t units = (p.servers + p.servers_per_unit - 1) / p.servers_per_unit;
    const double hosts = static_cast<double>(p.servers) * p.nics_per_server;
    const double leaf_count = static_cast<double>(units) * p.nics_per_server;
    checks.check_size(hosts, leaf_count + p.spines, hosts + leaf_count * p.spines * p.links_per_pair);
    if (!checks.empty()) return checks.problems();
    TopologyBuilder builder;
    std::vector<NodeRef> leaves;
    for (uint32_t server = 0; server < p.servers; ++server) {
        const uint32_t unit = server / p.servers_per_unit;
        for (uint32_t rail = 0; rail < p.nics_per_server; ++rail) {
            if (server % p.servers_per_unit == 0) {
                leaves.push_back(builder.add_switch("leaf", SwitchTier::Leaf, 0, unit));
            }
            builder.connect(builder.add_host(unit, server, rail), leaves[unit * p.nics_per_server + rail], p.host_link);
        }
    }
    add_spines(builder, leaves, p.spines, p.links_per_pair, p.fabric_link);
    topology = std::move(builder).finish();
    return {};
}

}  // namespace simverbs::scenarios::topologies
