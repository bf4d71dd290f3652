#include "scenarios/topologies/shares.hpp"

#include <algorithm>
#include <numeric>

namespace simverbs::scenarios::topologies {

namespace {

/// Links of each host and each switch.
struct Degrees {
    explicit Degrees(const Topology& topology) : hosts(topology.hosts.size()), switches(topology.switches.size()) {
        for (const Link& link : topology.links)
            for (const NodeRef node : {link.a.node, link.b.node}) ++(node.is_switch ? switches : hosts)[node.index];
    }
    std::vector<uint64_t> hosts;
    std::vector<uint64_t> switches;
};

}  // namespace

Shares share_out(const Topology& topology, unsigned threads) {
    const Degrees degrees(topology);
    // Hosts without a pod are each a pod of their own, behind the others.
    std::vector<uint64_t> pods;
    const auto pod_work = [&](uint32_t pod) -> uint64_t& {
        if (pods.size() <= pod) pods.resize(pod + 1);
        return pods[pod];
    };
    for (size_t s = 0; s < topology.switches.size(); ++s)
        if (topology.switches[s].pod != kNoPod) pod_work(topology.switches[s].pod) += degrees.switches[s];
    for (size_t h = 0; h < topology.hosts.size(); ++h)
        if (topology.hosts[h].pod != kNoPod) pod_work(topology.hosts[h].pod) += degrees.hosts[h];
    for (size_t h = 0; h < topology.hosts.size(); ++h)
        if (topology.hosts[h].pod == kNoPod) pods.push_back(degrees.hosts[h]);

    const uint64_t in_pods = std::max(std::accumulate(pods.begin(), pods.end(), uint64_t{0}), uint64_t{1});
    std::vector<unsigned> thread_of_pod;
    std::vector<uint64_t> work(threads);
    uint64_t before = 0;
    for (const uint64_t pod : pods) {
        // Where the middle of the pod lies.
        thread_of_pod.push_back(pod == 0 ? 0 : static_cast<unsigned>((2 * before + pod - 1) * threads / (2 * in_pods)));
        work[thread_of_pod.back()] += pod;
        before += pod;
    }

    Shares shares;
    auto lone = thread_of_pod.end();
    for (const Host& host : topology.hosts) lone -= host.pod == kNoPod ? 1 : 0;
    for (const Host& host : topology.hosts)
        shares.hosts.push_back(host.pod != kNoPod ? thread_of_pod[host.pod] : *lone++);
    const uint64_t in_all = std::accumulate(degrees.switches.begin(), degrees.switches.end(),
                                            std::accumulate(degrees.hosts.begin(), degrees.hosts.end(), uint64_t{0}));
    unsigned filling = 0;
    for (size_t s = 0; s < topology.switches.size(); ++s) {
        if (topology.switches[s].pod != kNoPod) {
            shares.switches.push_back(thread_of_pod[topology.switches[s].pod]);
            continue;
        }
        while (filling + 1 < threads && (2 * work[filling] + degrees.switches[s]) * threads > 2 * in_all) ++filling;
        work[filling] += degrees.switches[s];
        shares.switches.push_back(filling);
    }
    return shares;
}

}  // namespace simverbs::scenarios::topologies
