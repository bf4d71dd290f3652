// The inside of a host as this project models it: PlatformSpec come to life.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/gpu/copy_queue.hpp"
#include "models/host/host_complex.hpp"
#include "models/host/part.hpp"
#include "models/host/platform_spec.hpp"
#include "models/host/recent_set.hpp"
#include "models/host/relation.hpp"
#include "models/host/routes.hpp"

namespace simverbs::host {

/// Native timing of one host, without SystemC. A request reserves time on every part of its way, once for all its TLPs,
/// with exact bytes; its data leave a part as they come in (cut-through), and wait where the next is busy or slower.
/// What does not fit into a receiver's credits stays on this side of the link and holds up what comes behind.
class Complex final : public HostComplex {
  public:
    /// `platform` must have no problems (check_platform).
    explicit Complex(PlatformSpec platform);
    Complex(const Complex&) = delete;
    Complex& operator=(const Complex&) = delete;
    ~Complex() override;

    sim::SimTime mmio_write(AgentId agent, sim::SimTime now, uint32_t bytes, MemoryId cpu) override;
    [[nodiscard]] sim::SimTime least_mmio_write(AgentId agent) const override;
    sim::SimTime dma_read(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) override;
    sim::SimTime dma_write(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) override;
    sim::SimTime interrupt(AgentId agent, sim::SimTime now, MemoryId cpu) override;
    [[nodiscard]] sim::SimTime accepts_write(AgentId agent) const override { return agents_[agent].accepted; }
    [[nodiscard]] bool reachable(AgentId agent, MemoryId memory) const override;
    [[nodiscard]] sim::SimTime nominal_mmio_write(AgentId agent, uint32_t bytes) const override;
    [[nodiscard]] sim::SimTime nominal_read(AgentId agent, uint32_t bytes) const override;
    [[nodiscard]] sim::SimTime nominal_write(AgentId agent, uint32_t bytes) const override;
    sim::SimTime cpu_store(MemoryId cpu, sim::SimTime now, MemoryId gpu, uint64_t bytes) override;
    sim::SimTime cpu_load(MemoryId cpu, sim::SimTime now, MemoryId gpu, uint64_t bytes) override;
    void submit(const CopySpec& copy, sim::SimTime now, CopySink& sink) override;
    [[nodiscard]] sim::SimTime next_event_time() const override { return next_event_; }
    void run_until(sim::SimTime end) override;

    [[nodiscard]] const PlatformSpec& platform() const noexcept { return platform_; }
    [[nodiscard]] AgentId gpu_agent(uint16_t gpu) const noexcept {
        return static_cast<AgentId>(platform_.nics.size() + gpu);
    }
    [[nodiscard]] MemoryId gpu_memory(uint16_t gpu) const noexcept {
        return static_cast<MemoryId>(platform_.numa_nodes.size() + gpu);
    }
    [[nodiscard]] Relation relation(AgentId a, AgentId b) const { return relation_between(platform_, a, b); }

    /// From `now` on the slot of a device gives another link (a lane fails, a cable of a riser is bad, a repair).
    void set_slot(AgentId agent, const pcie::LinkSpec& slot);
    /// From now on the switch redirects requests between peers to the root, or does not (setpci on ACS Control).
    void set_acs(uint16_t switch_index, bool on);
    void set_iommu(bool on);

    /// From now on `model` (not owned; nullptr: nobody) is in the place of the part of this name, as in parts(). False:
    /// there is none.
    bool replace(std::string_view part, PartModel* model);

    /// What the link of an agent or (from links of agents on) of a switch has trained to.
    [[nodiscard]] pcie::LinkSpec link(uint16_t index) const;
    /// Everything that can be busy, for reports.
    [[nodiscard]] std::vector<PartView> parts() const;
    [[nodiscard]] const Part& up(AgentId agent) const { return parts_[routes_.parts().up(agent)]; }
    [[nodiscard]] const Part& down(AgentId agent) const { return parts_[routes_.parts().down(agent)]; }

    /// Reads that found their data in the cache, and that did not; pages that were not translated yet.
    struct Counters {
        uint64_t llc_hits = 0, llc_misses = 0, walks = 0;
    };
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  private:
    /// A transfer at the end of its way: its first byte, its last; when the first link had taken all of it.
    struct Arrival {
        sim::SimTime first, last, accepted;
        pcie::CreditWindow* receiver = nullptr;  ///< of the last link, where it waits for memory
    };
    struct Transfer {
        pcie::TlpKind kind;
        sim::SimTime now;    ///< nobody asks for an earlier time any more
        sim::SimTime first;  ///< when its first byte can leave
        sim::SimTime last;   ///< when its last byte is there to leave
        uint32_t bytes;
        uint32_t unit;  ///< bytes of data in a TLP
        uint64_t address = DmaTarget::kAnyAddress;
    };
    struct Agent {
        sim::SimTime last_read, last_write;  ///< their order
        sim::SimTime accepted;               ///< its link has taken all writes
        sim::SimTime nominal_mmio, nominal_read, nominal_write;
        sim::ByteTime nominal_byte;
        uint16_t nominal_payload = 256, nominal_completion = 256;
        RecentSet translations;  ///< with ATS
    };
    struct Engine {
        uint16_t gpu;
        gpu::CopyQueue queue;
    };

    void make_parts();
    void make_agents();
    void set_link_rates();
    [[nodiscard]] MemoryId resolve(AgentId a, MemoryId m) const noexcept {
        return m == kNearestMemory ? routes_.nearest(a) : m;
    }
    [[nodiscard]] bool is_gpu(MemoryId m) const noexcept { return m >= platform_.numa_nodes.size(); }

    Arrival carry(const Way& way, const Transfer& transfer);
    sim::SimTime translate(AgentId a, const Way& way, DmaTarget target, sim::SimTime now, sim::SimTime at,
                           uint32_t bytes);
    /// `at`: when it is asked for; no earlier than `now`.
    Arrival read(AgentId a, sim::SimTime now, sim::SimTime at, DmaTarget target, uint32_t bytes);
    Arrival write(AgentId a, sim::SimTime now, DmaTarget target, uint32_t bytes);
    Arrival out_of_memory(sim::SimTime now, sim::SimTime at, DmaTarget target, uint32_t bytes);
    sim::SimTime into_memory(sim::SimTime now, const Arrival& a, DmaTarget target, uint32_t bytes);
    [[nodiscard]] bool in_cache(DmaTarget target, uint32_t bytes);

    void copy_piece(Engine& e);
    void copy_to_peer(Engine& e, sim::SimTime now, DmaTarget to, uint32_t bytes);
    void copy_from_peer(Engine& e, sim::SimTime now, DmaTarget from, uint32_t bytes);
    void find_next_event() noexcept;

    PlatformSpec platform_;
    Routes routes_;
    std::vector<Part> parts_;
    std::vector<Agent> agents_;
    std::vector<RecentSet> caches_;        ///< of NUMA nodes
    std::vector<RecentSet> translations_;  ///< of bridges
    std::vector<Engine> engines_;
    std::vector<uint32_t> first_engine_;
    sim::SimTime next_event_ = sim::SimTime::max();
    uint32_t next_engine_ = 0;
    Counters counters_;
};

}  // namespace simverbs::host
