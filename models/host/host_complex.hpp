// The inside of one host as its devices and its software see it: memories, and what lies between them.
#pragma once

#include <cstdint>

#include "models/host/host_memory.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {

/// A memory of one host: its NUMA nodes' first, then its GPUs', each in the order of the host's description.
using MemoryId = uint16_t;
/// The NUMA node nearest to whoever asks.
inline constexpr MemoryId kNearestMemory = 0xFFFF;

/// A PCIe function that moves data by itself: the host's adapters first, then its GPUs, in the same order.
using AgentId = uint16_t;

/// GPU memory is an address space of its own, and an address in it is an offset into the GPU's memory: several
/// processes may see the same bytes at different addresses. GPU `n` of a simulation (all hosts counted in order) is
/// space kFirstGpuSpace + n; drivers number their processes below.
inline constexpr AddressSpaceId kFirstGpuSpace = 0xF0000000;

/// What a DMA is after.
struct DmaTarget {
    MemoryId memory = kNearestMemory;
    /// Names the first byte: equal for equal bytes, unequal for others of the same host, pages within pages (such as
    /// space << 48 | address). Caches and translations go by it. kAnyAddress: neither ever misses.
    uint64_t address = kAnyAddress;

    static constexpr uint64_t kAnyAddress = UINT64_MAX;
    constexpr DmaTarget(MemoryId m = kNearestMemory, uint64_t a = kAnyAddress) noexcept : memory(m), address(a) {}
};

/// A copy by a GPU's copy engine.
struct CopySpec {
    AgentId gpu = 0;     ///< whose engine does it
    uint8_t engine = 0;  ///< which: an engine does one copy at a time, in the order of submission
    DmaTarget from, to;  ///< one of them in the engine's own GPU
    uint64_t bytes = 0;
    uint64_t cookie = 0;  ///< for CopySink
};

/// Who is told of finished copies: called inside the host's window, in the order of its events.
class CopySink {
  public:
    virtual ~CopySink() = default;
    /// The last byte is in the target memory, and the host's software can know it, at `visible_at`.
    virtual void on_copy_done(uint64_t cookie, sim::SimTime visible_at) = 0;
};

/// Timing of one host: PCIe links and switches, root complexes, memories, GPUs' windows. Belongs to the host's node:
/// calls come in time order. Every transfer is a reservation on each link that it crosses, so that later ones wait.
/// Without one, an adapter has its profile's latencies and a host to itself (HostPort).
class HostComplex {
  public:
    virtual ~HostComplex() = default;

    /// A store by a CPU of NUMA node `cpu` to a register of `agent` (a doorbell) at `now`: when it arrives there.
    virtual sim::SimTime mmio_write(AgentId agent, sim::SimTime now, uint32_t bytes, MemoryId cpu) = 0;
    /// Least time that mmio_write takes from any CPU: the downward latency of programs.
    [[nodiscard]] virtual sim::SimTime least_mmio_write(AgentId agent) const = 0;
    /// A DMA read of `agent` asked for at `now`: when its last completion is back. An agent's reads stay in order.
    virtual sim::SimTime dma_read(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) = 0;
    /// A posted DMA write: when it is visible in the memory. An agent's writes stay in order.
    virtual sim::SimTime dma_write(AgentId agent, sim::SimTime now, DmaTarget target, uint32_t bytes) = 0;
    /// When the agent's link will have taken all its writes so far. Who holds later ones back until then does not get
    /// ahead of others at links that they share, and knows how long its own buffer has been filling.
    [[nodiscard]] virtual sim::SimTime accepts_write(AgentId agent) const = 0;
    /// An MSI-X message, a write behind the agent's earlier ones: when the CPU has it.
    virtual sim::SimTime interrupt(AgentId agent, sim::SimTime now, MemoryId cpu) = 0;

    /// Can `agent`'s requests reach this memory? GPUs are out of reach behind a bridge that refuses peers. Who lets an
    /// agent have a memory (registers it) asks: a request out of reach is the caller's mistake. Copies between GPUs
    /// that do not reach each other go by way of the host's memory.
    [[nodiscard]] virtual bool reachable(AgentId agent, MemoryId memory) const = 0;

    /// What the same takes where `agent` sits in a slot as wide and fast as itself right at a host bridge, the memory
    /// or CPU is the nearest, cached and translated, and nothing else is going on. An adapter's profile contains just
    /// this; what a host adds is the difference. It may be less than nothing (a peer below the same switch).
    [[nodiscard]] virtual sim::SimTime nominal_mmio_write(AgentId agent, uint32_t bytes) const = 0;
    [[nodiscard]] virtual sim::SimTime nominal_read(AgentId agent, uint32_t bytes) const = 0;
    [[nodiscard]] virtual sim::SimTime nominal_write(AgentId agent, uint32_t bytes) const = 0;

    /// A CPU of NUMA node `cpu` stores to or loads from a GPU's BAR1 window (what GDRCopy does): when the last store
    /// has left the CPU, and the last load's data are there. Long copies go in pieces of 64 KiB at most, each when the
    /// last one is over, so that they share links with others.
    virtual sim::SimTime cpu_store(MemoryId cpu, sim::SimTime now, MemoryId gpu, uint64_t bytes) = 0;
    virtual sim::SimTime cpu_load(MemoryId cpu, sim::SimTime now, MemoryId gpu, uint64_t bytes) = 0;

    /// Hands a copy to a GPU's engine; `sink` hears of its end. It shares links with other traffic as it goes: in
    /// pieces, each an event of the host's node.
    virtual void submit(const CopySpec& copy, sim::SimTime now, CopySink& sink) = 0;
    /// When the next piece of a copy has its turn, or a copy ends; SimTime::max() if none is under way.
    [[nodiscard]] virtual sim::SimTime next_event_time() const = 0;
    /// Does all that is due before `end`. The host's node calls it before whatever else happens at `end`.
    virtual void run_until(sim::SimTime end) = 0;
};

}  // namespace simverbs::host
