// A k-ary fat tree of switches with a TrafficNode at each host, for tests and benchmarks of the bare fabric.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/link/link.hpp"
#include "models/switch/switch.hpp"
#include "sim/engine.hpp"
#include "sim/rng.hpp"
#include "tests/support/traffic_node.hpp"

namespace simverbs::test {

struct FatTreeConfig {
    uint32_t k = 4;  ///< even
    sim::EngineConfig engine;
    link::LinkParams link;
    fabric::SwitchConfig switches;  ///< path and ports are filled in
    TrafficConfig traffic;          ///< self and dest are filled in: a random permutation
};

/// Hosts k³/4, nodes numbered pod by pod (hosts, edge, aggregation), then the cores.
class FatTree {
  public:
    explicit FatTree(const FatTreeConfig& config) : engine(config.engine), config_(config), half_(config.k / 2) {
        const uint32_t host_count = half_ * half_ * config.k;
        const std::vector<uint32_t> dests = permutation(host_count, config.engine.seed);
        for (uint32_t pod = 0; pod < config.k; ++pod) add_pod(pod, dests);
        for (uint32_t c = 0; c < half_ * half_; ++c) cores.push_back(add_switch("core" + std::to_string(c), cut(c)));
        for (uint32_t pod = 0; pod < config.k; ++pod) wire_pod(pod);
        for (uint32_t pod = 0; pod < config.k; ++pod) route_pod(pod);
        for (auto& core : cores) route_core(*core);
    }

    /// Packets sent over links so far.
    [[nodiscard]] uint64_t hops() const {
        uint64_t sum = 0;
        for (const auto& h : hosts) sum += h->sent();
        for (const auto* tier : {&edges, &aggs, &cores})
            for (const auto& s : *tier)
                for (uint32_t p = 0; p < config_.k; ++p) sum += s->counters(p).tx_packets;
        return sum;
    }
    [[nodiscard]] uint64_t received() const {
        uint64_t sum = 0;
        for (const auto& h : hosts) sum += h->received();
        return sum;
    }
    /// Over everything that every host received.
    [[nodiscard]] uint64_t hash() const {
        uint64_t all = 0;
        for (const auto& h : hosts) all = sim::mix64(all ^ h->hash());
        return all;
    }

    sim::Engine engine;
    std::vector<std::unique_ptr<TrafficNode>> hosts;
    std::vector<std::unique_ptr<fabric::Switch>> edges, aggs, cores;
    std::vector<std::unique_ptr<link::Link>> links;

  private:
    /// A cyclic permutation: nobody sends to itself.
    static std::vector<uint32_t> permutation(uint32_t n, uint64_t seed) {
        std::vector<uint32_t> order(n);
        for (uint32_t i = 0; i < n; ++i) order[i] = i;
        const sim::Draws draws(seed, sim::component_id("permutation"), sim::DrawPurpose::Workload);
        for (uint32_t i = n; i-- > 1;) std::swap(order[i], order[draws.below(i, i)]);
        return order;
    }
    /// Partition of the i-th core: the cores are spread over all of them.
    [[nodiscard]] unsigned cut(uint32_t core) const {
        return static_cast<unsigned>(uint64_t{core} * config_.engine.threads / (half_ * half_));
    }
    [[nodiscard]] unsigned pod_partition(uint32_t pod) const {
        return static_cast<unsigned>(uint64_t{pod} * config_.engine.threads / config_.k);
    }
    std::unique_ptr<fabric::Switch> add_switch(const std::string& path, unsigned partition) {
        fabric::SwitchConfig c = config_.switches;
        c.path = path;
        c.ports = config_.k;
        auto s = std::make_unique<fabric::Switch>(c, nullptr);
        engine.add_node(*s, partition);
        return s;
    }
    void add_pod(uint32_t pod, const std::vector<uint32_t>& dests) {
        const sim::Draws starts(config_.engine.seed, sim::component_id("starts"), sim::DrawPurpose::Workload);
        for (uint32_t i = 0; i < half_ * half_; ++i) {
            TrafficConfig t = config_.traffic;
            t.self = static_cast<uint32_t>(hosts.size());
            t.dest = dests[t.self];
            // Hosts that start in step would meet at the same picosecond everywhere.
            t.first += sim::SimTime::ps(static_cast<int64_t>(starts.below(1'000'000, t.self)));
            hosts.push_back(std::make_unique<TrafficNode>(t));
            engine.add_node(*hosts.back(), pod_partition(pod));
        }
        for (uint32_t i = 0; i < half_; ++i)
            edges.push_back(add_switch("edge" + std::to_string(pod) + "-" + std::to_string(i), pod_partition(pod)));
        for (uint32_t i = 0; i < half_; ++i)
            aggs.push_back(add_switch("agg" + std::to_string(pod) + "-" + std::to_string(i), pod_partition(pod)));
    }
    void connect(fabric::Switch& upper, uint32_t upper_port, fabric::Switch& lower, uint32_t lower_port) {
        links.push_back(std::make_unique<link::Link>(engine, config_.link, end(lower, lower_port),
                                                     end(upper, upper_port), nullptr));
        lower.attach_port(lower_port, links.back()->wiring_a());
        upper.attach_port(upper_port, links.back()->wiring_b());
    }
    link::LinkEnd end(const fabric::Switch& s, uint32_t port) const {
        return {s.id(), s.config().path + "/" + std::to_string(port), s.config().pipeline_latency};
    }
    // Ports 0 … k/2-1 look down, the others up.
    void wire_pod(uint32_t pod) {
        for (uint32_t e = 0; e < half_; ++e) {
            fabric::Switch& edge = *edges[pod * half_ + e];
            for (uint32_t h = 0; h < half_; ++h) {
                TrafficNode& host = *hosts[(pod * half_ + e) * half_ + h];
                links.push_back(std::make_unique<link::Link>(
                    engine, config_.link, link::LinkEnd{host.id(), "h" + std::to_string(host.id()), {}}, end(edge, h),
                    nullptr));
                host.attach_port(links.back()->wiring_a());
                edge.attach_port(h, links.back()->wiring_b());
            }
            for (uint32_t a = 0; a < half_; ++a) connect(*aggs[pod * half_ + a], e, edge, half_ + a);
        }
        for (uint32_t a = 0; a < half_; ++a)
            for (uint32_t c = 0; c < half_; ++c) connect(*cores[a * half_ + c], pod, *aggs[pod * half_ + a], half_ + c);
    }
    std::vector<fabric::PortIndex> uplinks() const {
        std::vector<fabric::PortIndex> up;
        for (uint32_t i = 0; i < half_; ++i) up.push_back(half_ + i);
        return up;
    }
    void route_pod(uint32_t pod) {
        const uint32_t per_pod = half_ * half_;
        for (uint32_t s = 0; s < half_; ++s) {
            auto& edge = edges[pod * half_ + s]->table();
            auto& agg = aggs[pod * half_ + s]->table();
            const auto edge_up = edge.add_group(uplinks());
            const auto agg_up = agg.add_group(uplinks());
            std::vector<fabric::GroupId> edge_down, agg_down;
            for (fabric::PortIndex p = 0; p < half_; ++p) {
                edge_down.push_back(edge.add_group({&p, 1}));
                agg_down.push_back(agg.add_group({&p, 1}));
            }
            for (uint32_t leaf = 0; leaf < hosts.size(); ++leaf) {
                const bool here = leaf / half_ == pod * half_ + s;
                edge.set_route(leaf, here ? edge_down[leaf % half_] : edge_up);
                agg.set_route(leaf, leaf / per_pod == pod ? agg_down[leaf / half_ % half_] : agg_up);
            }
        }
    }
    void route_core(fabric::Switch& core) {
        std::vector<fabric::GroupId> down;
        for (fabric::PortIndex p = 0; p < config_.k; ++p) down.push_back(core.table().add_group({&p, 1}));
        for (uint32_t leaf = 0; leaf < hosts.size(); ++leaf) core.table().set_route(leaf, down[leaf / (half_ * half_)]);
    }

    FatTreeConfig config_;
    uint32_t half_;
};

}  // namespace simverbs::test
