#include "models/host/routes.hpp"

#include <algorithm>
#include <array>

#include "models/host/ancestry.hpp"
#include "models/pcie/link_rates.hpp"
#include "sim/check.hpp"

namespace simverbs::host {

namespace {

using sim::SimTime;

constexpr uint16_t kNoWay = UINT16_MAX;

}  // namespace

/// A way as it is being drawn: parts, and latency that no part has yet.
struct Routes::Draft {
    std::vector<Hop> hops;
    SimTime before;
    uint16_t payload = 4096;
    bool open = true;
    bool pcie = false;

    void wait(SimTime t) { (hops.empty() ? before : hops.back().latency) += t; }
    void add(PartId part, SimTime latency = SimTime::zero()) { hops.push_back({part, false, latency}); }
    void add_link(PartId part, SimTime latency, const pcie::LinkSpec& link) {
        hops.push_back({part, true, latency});
        payload = std::min(payload, link.max_payload);
        pcie = true;
    }
    /// Read requests take no time where only data counts.
    [[nodiscard]] Draft links_only() const {
        Draft d;
        d.before = before;
        d.open = open;
        d.pcie = pcie;
        d.payload = payload;
        for (const Hop& h : hops)
            if (h.pcie)
                d.hops.push_back(h);
            else
                d.wait(h.latency);
        return d;
    }
};

Routes::Routes(const PlatformSpec& platform)
    : platform_(&platform),
      parts_(platform),
      memories_(static_cast<uint32_t>(platform.numa_nodes.size() + platform.gpus.size())) {
    const auto agents = static_cast<AgentId>(platform.nics.size() + platform.gpus.size());
    const size_t ways = static_cast<size_t>(agents) * memories_;
    for (auto* v : {&writes_, &requests_, &completions_, &stores_, &loads_}) v->resize(ways);
    find_numa_ways();
    for (AgentId a = 0; a < agents; ++a) {
        nearest_.push_back(nearest_node(platform, a));
        add_agent(a);
    }
}

/// Shortest ways by latency, all pairs (Floyd and Warshall).
void Routes::find_numa_ways() {
    const size_t n = platform_->numa_nodes.size();
    std::vector<SimTime> distance(n * n, SimTime::max() / 4);
    numa_next_.assign(n * n, kNoWay);
    for (size_t i = 0; i < n; ++i) distance[i * n + i] = SimTime::zero();
    for (size_t l = 0; l < platform_->numa_links.size(); ++l) {
        const NumaLinkSpec& link = platform_->numa_links[l];
        for (const auto& [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
            if (link.latency < distance[from * n + to]) {
                distance[from * n + to] = link.latency;
                numa_next_[from * n + to] = static_cast<uint16_t>(l);
            }
    }
    for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                if (i != k && distance[i * n + k] + distance[k * n + j] < distance[i * n + j]) {
                    distance[i * n + j] = distance[i * n + k] + distance[k * n + j];
                    numa_next_[i * n + j] = numa_next_[i * n + k];
                }
}

uint16_t Routes::bridge_of(AgentId a) const {
    return bridge_above(*platform_, slot_of(*platform_, a).upstream);
}

/// Up from a device through its own link and those of so many switches above it.
void Routes::climb(Draft& d, AgentId a, size_t links) const {
    const DeviceSlotSpec& device = slot_of(*platform_, a);
    d.add_link(parts_.up(a), device.link_latency, pcie::trained(device.slot, device.device));
    for (const uint16_t s : switches_above(*platform_, a)) {
        if (links-- == 0) break;
        const SwitchSpec& sw = platform_->switches[s];
        d.add_link(parts_.up(parts_.switch_link(s)), sw.latency, sw.slot);
    }
}

/// The same way down.
void Routes::descend(Draft& d, AgentId a, size_t links) const {
    std::vector<uint16_t> above = switches_above(*platform_, a);
    above.resize(std::min(links, above.size()));
    for (auto s = above.rbegin(); s != above.rend(); ++s) {
        const SwitchSpec& sw = platform_->switches[*s];
        d.add_link(parts_.down(parts_.switch_link(*s)), sw.latency, sw.slot);
    }
    const DeviceSlotSpec& device = slot_of(*platform_, a);
    d.add_link(parts_.down(a), device.link_latency, pcie::trained(device.slot, device.device));
}

void Routes::cross_numa(Draft& d, uint16_t from, uint16_t to, bool peer) const {
    const size_t n = platform_->numa_nodes.size();
    while (from != to) {
        const uint16_t l = numa_next_[from * n + to];
        SIM_CHECK(l != kNoWay, from, to);
        const NumaLinkSpec& link = platform_->numa_links[l];
        const bool forward = link.a == from;
        if (peer) d.add(parts_.numa_peer(l, forward));
        d.add(parts_.numa(l, forward), link.latency);
        from = forward ? link.b : link.a;
    }
}

Way Routes::finish(const Draft& d, uint16_t bridge, uint32_t unit) {
    Way w;
    w.first_hop = static_cast<uint32_t>(hops_.size());
    w.hops = static_cast<uint8_t>(d.hops.size());
    w.open = d.open;
    w.translated = d.pcie && platform_->iommu.enabled;
    w.unit = static_cast<uint16_t>(unit);
    w.bridge = bridge;
    w.before = w.latency = d.before;
    for (const Hop& h : d.hops) w.latency += h.latency;
    hops_.insert(hops_.end(), d.hops.begin(), d.hops.end());
    return w;
}

void Routes::add_agent(AgentId a) {
    const auto nodes = static_cast<uint16_t>(platform_->numa_nodes.size());
    for (uint16_t node = 0; node < nodes; ++node) to_host_memory(a, node);
    for (uint16_t g = 0; g < count_of(platform_->gpus); ++g) to_gpu(a, g);
}

void Routes::to_host_memory(AgentId a, MemoryId node) {
    const uint16_t b = bridge_of(a);
    const HostBridgeSpec& bridge = platform_->bridges[b];
    const uint32_t mrrs = slot_of(*platform_, a).max_read_request;
    Draft in;
    climb(in, a, SIZE_MAX);
    in.wait(bridge.latency);
    cross_numa(in, bridge.numa_node, node, false);
    writes_[index(a, node)] = finish(in, b, in.payload);
    requests_[index(a, node)] = finish(in.links_only(), b, mrrs);

    Draft out;
    cross_numa(out, node, bridge.numa_node, false);
    out.wait(bridge.latency);
    descend(out, a, SIZE_MAX);
    completions_[index(a, node)] = finish(out, b, std::min(out.payload, bridge.completion));

    Draft store;
    store.wait(platform_->cpu.bridge_latency);
    cross_numa(store, node, bridge.numa_node, false);
    store.wait(bridge.latency);
    descend(store, a, SIZE_MAX);
    stores_[index(a, node)] = finish(store, b, store.payload);
    loads_[index(a, node)] = finish(store.links_only(), b, mrrs);
}

bool Routes::over_nvlink(AgentId a, uint16_t gpu) {
    if (a < platform_->nics.size()) return false;
    const auto from = static_cast<uint16_t>(a - platform_->nics.size());
    const NvLinkFabricSpec& nv = platform_->nvlink;
    Draft there, back;
    if (from != gpu && nv.switched_links > 0) {
        there.add(parts_.nvlink_out(from), nv.latency + nv.switch_latency);
        there.add(parts_.nvlink_in(gpu));
        back.add(parts_.nvlink_out(gpu), nv.latency + nv.switch_latency);
        back.add(parts_.nvlink_in(from));
    } else if (from != gpu) {
        const auto pair = std::ranges::find_if(
            nv.links, [&](const NvLinkSpec& l) { return (l.a == from && l.b == gpu) || (l.a == gpu && l.b == from); });
        if (pair == nv.links.end()) return false;
        const auto n = static_cast<PartId>(pair - nv.links.begin());
        there.add(parts_.nvlink_pair(n, pair->a == from), nv.latency);
        back.add(parts_.nvlink_pair(n, pair->a != from), nv.latency);
    }
    const size_t at = index(a, static_cast<MemoryId>(platform_->numa_nodes.size() + gpu));
    const uint16_t b = bridge_of(a);
    writes_[at] = finish(there, b, 256);
    requests_[at] = finish(there.links_only(), b, 256);
    completions_[at] = finish(back, b, 256);
    return true;
}

void Routes::to_gpu(AgentId a, uint16_t gpu) {
    if (over_nvlink(a, gpu)) return;
    const auto target = static_cast<AgentId>(platform_->nics.size() + gpu);
    const std::vector<uint16_t> above = switches_above(*platform_, a),
                                above_target = switches_above(*platform_, target);
    const auto turn = std::ranges::find_first_of(above, above_target);
    const uint16_t b = bridge_of(a), b_target = bridge_of(target);
    const HostBridgeSpec &bridge = platform_->bridges[b], &bridge_target = platform_->bridges[b_target];
    const DeviceSlotSpec& device = slot_of(*platform_, a);

    Draft in, out;
    out.add(parts_.bar_reads(gpu));
    // Requests that are not translated yet have to see the IOMMU first.
    const bool direct =
        turn != above.end() && !platform_->switches[*turn].acs && (!platform_->iommu.enabled || device.ats);
    if (direct) {
        const auto below = static_cast<size_t>(turn - above.begin());
        const auto below_target = static_cast<size_t>(std::ranges::find(above_target, *turn) - above_target.begin());
        climb(in, a, below);
        in.wait(platform_->switches[*turn].latency);
        descend(in, target, below_target);
        climb(out, target, below_target);
        out.wait(platform_->switches[*turn].latency);
        descend(out, a, below);
    } else {
        const bool allowed = bridge.peer_to_peer && bridge_target.peer_to_peer;
        const auto cross = [&](Draft& d, uint16_t from, uint16_t to, bool reads) {
            const HostBridgeSpec &f = platform_->bridges[from], &t = platform_->bridges[to];
            d.open = allowed;
            d.wait(f.latency);
            d.add(reads ? parts_.peer_reads(from) : parts_.peer_writes(from));
            if (from == to) return;
            d.add(reads ? parts_.peer_reads(to) : parts_.peer_writes(to));
            cross_numa(d, f.numa_node, t.numa_node, true);
            d.wait(t.latency);
        };
        climb(in, a, SIZE_MAX);
        cross(in, b, b_target, false);
        descend(in, target, SIZE_MAX);
        climb(out, target, SIZE_MAX);
        cross(out, b_target, b, true);
        descend(out, a, SIZE_MAX);
    }
    const size_t at = index(a, static_cast<MemoryId>(platform_->numa_nodes.size() + gpu));
    writes_[at] = finish(in, b, in.payload);
    requests_[at] = finish(in.links_only(), b, device.max_read_request);
    completions_[at] = finish(out, b, out.payload);
}

}  // namespace simverbs::host
