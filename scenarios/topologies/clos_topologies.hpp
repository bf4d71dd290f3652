// Folded Clos networks: leaf-spine, fat tree, rail-optimised.
#pragma once

#include <cstdint>

#include "scenarios/topologies/topology_builder.hpp"

namespace simverbs::scenarios::topologies {

/// Two tiers: every leaf has `links_per_pair` links to every spine. Host h is at leaf h / hosts_per_leaf.
struct LeafSpineParameters {
    uint32_t leaves = 4;
    uint32_t spines = 2;
    uint32_t hosts_per_leaf = 4;
    uint32_t links_per_pair = 1;
    LinkParameters host_link;
    LinkParameters fabric_link;
};
[[nodiscard]] Problems make_leaf_spine(Topology& topology, const LeafSpineParameters& parameters);

/// Three tiers. In a pod every ToR has a link to every aggregation switch; aggregation switch j of each pod has a link
/// to each of the j-th group of cores / aggs_per_pod cores. Host h is at ToR h / hosts_per_tor.
struct FatTreeParameters {
    uint32_t pods = 4;
    uint32_t tors_per_pod = 2;
    uint32_t aggs_per_pod = 2;
    uint32_t hosts_per_tor = 2;
    uint32_t cores = 4;  ///< a multiple of aggs_per_pod
    LinkParameters host_link;
    LinkParameters tor_link;   ///< ToR to aggregation
    LinkParameters core_link;  ///< aggregation to core
};
[[nodiscard]] Problems make_fat_tree(Topology& topology, const FatTreeParameters& parameters);

/// k pods of k/2 ToRs and k/2 aggregation switches, k/2 hosts a ToR, (k/2)^2 cores, one kind of link (Al-Fares et al.,
/// SIGCOMM 2008).
struct KAryFatTreeParameters {
    uint32_t k = 4;  ///< even
    LinkParameters link;
};
[[nodiscard]] Problems make_k_ary_fat_tree(Topology& topology, const KAryFatTreeParameters& parameters);

/// The fabric of the HPCC paper's evaluation: 320 hosts at 100 Gb/s, 20 ToRs, 20 aggregation switches in 5 pods,
/// 16 cores, 400 Gb/s between switches, 1 us a link (Li et al., SIGCOMM 2019, and its artifact).
[[nodiscard]] FatTreeParameters hpcc_fabric();

/// Servers with `nics_per_server` NICs. NIC r of each server of a unit is at leaf r of that unit; every leaf has
/// `links_per_pair` links to every spine. Host h is NIC h mod nics_per_server of server h / nics_per_server.
struct RailParameters {
    uint32_t servers = 8;
    uint32_t nics_per_server = 8;
    uint32_t servers_per_unit = 8;  ///< the last unit may have fewer
    uint32_t spines = 4;
    uint32_t links_per_pair = 1;
    LinkParameters host_link;
    LinkParameters fabric_link;
};
[[nodiscard]] Problems make_rail_optimised(Topology& topology, const RailParameters& parameters);

}  // namespace simverbs::scenarios::topologies
