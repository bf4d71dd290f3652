// The ways through a host: which links a request, its data and its completions cross.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/host/host_complex.hpp"
#include "models/host/platform_spec.hpp"

namespace simverbs::host {

/// A part of a host that serves one transfer at a time: a direction of a link, a memory, a bridge's way for peers.
using PartId = uint16_t;

/// Numbers of a host's parts.
class PartNumbers {
  public:
    explicit PartNumbers(const PlatformSpec& p) noexcept
        : agents_(static_cast<PartId>(p.nics.size() + p.gpus.size())),
          switches_(static_cast<PartId>(p.switches.size())),
          numa_links_(static_cast<PartId>(p.numa_links.size())),
          memories_(static_cast<PartId>(p.numa_nodes.size() + p.gpus.size())),
          bridges_(static_cast<PartId>(p.bridges.size())),
          gpus_(static_cast<PartId>(p.gpus.size())),
          nvlinks_(static_cast<PartId>(p.nvlink.links.size())) {}

    /// PCIe links: agents' in their order, then switches'.
    [[nodiscard]] PartId links() const noexcept { return agents_ + switches_; }
    [[nodiscard]] PartId switch_link(PartId s) const noexcept { return agents_ + s; }
    [[nodiscard]] PartId down(PartId link) const noexcept { return 2 * link; }
    [[nodiscard]] PartId up(PartId link) const noexcept { return 2 * link + 1; }
    /// NUMA link n from a to b (`forward`) or back; what peers get of it.
    [[nodiscard]] PartId numa(PartId n, bool forward) const noexcept { return 2 * links() + 4 * n + (forward ? 0 : 1); }
    [[nodiscard]] PartId numa_peer(PartId n, bool forward) const noexcept { return numa(n, forward) + 2; }
    [[nodiscard]] PartId memory(MemoryId m) const noexcept { return 2 * links() + 4 * numa_links_ + m; }
    [[nodiscard]] PartId peer_writes(PartId bridge) const noexcept { return memory(memories_) + 2 * bridge; }
    [[nodiscard]] PartId peer_reads(PartId bridge) const noexcept { return peer_writes(bridge) + 1; }
    [[nodiscard]] PartId walker(PartId bridge) const noexcept { return peer_writes(bridges_) + bridge; }
    [[nodiscard]] PartId bar_reads(PartId gpu) const noexcept { return walker(bridges_) + gpu; }
    [[nodiscard]] PartId nvlink_out(PartId gpu) const noexcept { return bar_reads(gpus_) + gpu; }
    [[nodiscard]] PartId nvlink_in(PartId gpu) const noexcept { return nvlink_out(gpus_) + gpu; }
    [[nodiscard]] PartId nvlink_pair(PartId n, bool forward) const noexcept {
        return nvlink_in(gpus_) + 2 * n + (forward ? 0 : 1);
    }
    [[nodiscard]] PartId count() const noexcept { return nvlink_pair(nvlinks_, true); }

  private:
    PartId agents_, switches_, numa_links_, memories_, bridges_, gpus_, nvlinks_;
};

/// One part on a way, and the time from it to the next.
struct Hop {
    PartId part = 0;
    bool pcie = false;  ///< carries TLPs with their framing, and has a receiver with credits at its end
    sim::SimTime latency;
};

/// A way in one direction.
struct Way {
    uint32_t first_hop = 0;
    uint8_t hops = 0;
    bool open = false;
    bool translated = false;  ///< crosses the IOMMU
    uint16_t unit = 256;      ///< bytes of data in one of its TLPs
    uint16_t bridge = 0;      ///< the requester's
    sim::SimTime before;      ///< from its beginning to its first part
    sim::SimTime latency;     ///< all together, without the time that bytes take
};

/// All ways of a platform.
class Routes {
  public:
    explicit Routes(const PlatformSpec& platform);

    /// An agent's write to a memory; its read requests; their completions.
    [[nodiscard]] const Way& write(AgentId a, MemoryId m) const noexcept { return writes_[index(a, m)]; }
    [[nodiscard]] const Way& request(AgentId a, MemoryId m) const noexcept { return requests_[index(a, m)]; }
    [[nodiscard]] const Way& completion(AgentId a, MemoryId m) const noexcept { return completions_[index(a, m)]; }
    /// A CPU's stores and read requests to an agent, and the agent's completions.
    [[nodiscard]] const Way& store(MemoryId cpu, AgentId a) const noexcept { return stores_[index(a, cpu)]; }
    [[nodiscard]] const Way& load(MemoryId cpu, AgentId a) const noexcept { return loads_[index(a, cpu)]; }
    [[nodiscard]] const Hop* hops(const Way& w) const noexcept { return hops_.data() + w.first_hop; }

    [[nodiscard]] const PartNumbers& parts() const noexcept { return parts_; }
    [[nodiscard]] MemoryId nearest(AgentId a) const noexcept { return nearest_[a]; }

  private:
    struct Draft;
    [[nodiscard]] size_t index(AgentId a, MemoryId m) const noexcept { return static_cast<size_t>(a) * memories_ + m; }
    void find_numa_ways();
    void add_agent(AgentId a);
    void to_host_memory(AgentId a, MemoryId node);
    void to_gpu(AgentId a, uint16_t gpu);
    bool over_nvlink(AgentId a, uint16_t gpu);
    void climb(Draft& d, AgentId a, size_t links) const;
    void descend(Draft& d, AgentId a, size_t links) const;
    void cross_numa(Draft& d, uint16_t from, uint16_t to, bool peer) const;
    Way finish(const Draft& d, uint16_t bridge, uint32_t unit);
    [[nodiscard]] uint16_t bridge_of(AgentId a) const;

    const PlatformSpec* platform_;
    PartNumbers parts_;
    uint32_t memories_;
    std::vector<Hop> hops_;
    std::vector<Way> writes_, requests_, completions_, stores_, loads_;
    std::vector<MemoryId> nearest_;
    std::vector<uint16_t> numa_next_;  ///< link to take from node a to node b
};

}  // namespace simverbs::host
