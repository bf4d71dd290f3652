#include "scenarios/topologies/dragonfly.hpp"

#include <fmt/format.h>

#include <utility>

namespace simverbs::scenarios::topologies {

namespace {

uint64_t dragonfly_groups(const DragonflyParameters& p) {
    const uint64_t most = uint64_t{p.routers_per_group} * p.global_links_per_router + 1;
    return p.groups == 0 ? most : p.groups;
}

void check_dragonfly(ParameterChecks& checks, const DragonflyParameters& p) {
    checks.check_count("routers_per_group", p.routers_per_group, 1);
    checks.check_count("hosts_per_router", p.hosts_per_router, 1);
    checks.check_count("global_links_per_router", p.global_links_per_router, p.groups == 1 ? 0 : 1);
    checks.check_link("host_link", p.host_link);
    checks.check_link("local_link", p.local_link);
    checks.check_link("global_link", p.global_link);
    if (!checks.empty()) return;
    const uint64_t most = uint64_t{p.routers_per_group} * p.global_links_per_router + 1;
    if (p.groups > most) {
        checks.add("groups", fmt::format("{} groups are more than a group's global links reach", p.groups),
                   fmt::format("at most {}", most), "use more global links a router or more routers a group");
        return;
    }
    const auto groups = static_cast<double>(dragonfly_groups(p));
    const double a = p.routers_per_group;
    checks.check_size(groups * a * p.hosts_per_router, groups * a,
                      groups * (a * p.hosts_per_router + a * (a - 1) / 2 + a * p.global_links_per_router / 2));
}

}  // namespace

Problems make_dragonfly(Topology& topology, const DragonflyParameters& p) {
    ParameterChecks checks;
    check_dragonfly(checks, p);
    if (!checks.empty()) return checks.problems();
    const auto groups = static_cast<uint32_t>(dragonfly_groups(p));
    TopologyBuilder builder;
    std::vector<NodeRef> routers;
    for (uint32_t group = 0; group < groups; ++group) {
        for (uint32_t r = 0; r < p.routers_per_group; ++r) {
            const auto index = static_cast<uint32_t>(routers.size());
            routers.push_back(builder.add_switch("router", SwitchTier::Leaf, 0, group));
            for (uint32_t i = 0; i < p.hosts_per_router; ++i) {
                builder.connect(builder.add_host(group, index * p.hosts_per_router + i), routers.back(), p.host_link);
            }
        }
    }
    const auto router = [&](uint32_t group, uint32_t r) { return routers[group * p.routers_per_group + r]; };
    for (uint32_t group = 0; group < groups; ++group) {
        for (uint32_t r = 0; r < p.routers_per_group; ++r) {
            for (uint32_t s = r + 1; s < p.routers_per_group; ++s) {
                builder.connect(router(group, r), router(group, s), p.local_link);
            }
        }
    }
    // Global link x of a group goes to the x-th other group, and on from the first again.
    const uint32_t rounds = groups == 1 ? 0 : p.routers_per_group * p.global_links_per_router / (groups - 1);
    for (uint32_t round = 0; round < rounds; ++round) {
        for (uint32_t i = 0; i < groups; ++i) {
            for (uint32_t j = i + 1; j < groups; ++j) {
                const uint32_t from = round * (groups - 1) + j - 1;
                const uint32_t to = round * (groups - 1) + i;
                builder.connect(router(i, from / p.global_links_per_router), router(j, to / p.global_links_per_router),
                                p.global_link);
            }
        }
    }
    topology = std::move(builder).finish();
    return {};
}

}  // namespace simverbs::scenarios::topologies
