// Requests on their ways: what a DMA, a doorbell, an interrupt takes.
#include <algorithm>

#include "models/gpu/bar_window.hpp"
#include "models/host/ancestry.hpp"
#include "models/host/complex.hpp"
#include "sim/check.hpp"

namespace simverbs::host {

using pcie::TlpKind;
using sim::SimTime;

Complex::Arrival Complex::carry(const Way& way, const Transfer& t) {
    const uint32_t tlps = pcie::tlp_count(t.bytes, t.unit);
    const uint32_t data = t.kind == TlpKind::MRd ? 0 : t.bytes;
    const uint32_t wire = data + tlps * pcie::tlp_overhead(t.kind);
    const uint64_t shares = pcie::CreditWindow::shares_of(pcie::credits_of(t.kind, t.bytes, t.unit));
    const auto kind = static_cast<size_t>(t.kind);
    SimTime first = t.first + way.before, last = t.last + way.before;
    SimTime accepted = last;
    pcie::CreditWindow* receiver = nullptr;  // where it waits for the part at hand
    const Hop* const hops = routes_.hops(way);
    for (uint32_t i = 0; i < way.hops; ++i) {
        const Hop& hop = hops[i];
        Part& part = parts_[hop.part];
        const uint32_t load = hop.pcie ? wire : data;
        const SimTime earliest = hop.pcie ? std::max(first, part.credits[kind].room_at(shares)) : first;
        const pcie::Slot slot = part.model == nullptr ? part.reserve(t.now, earliest, part.byte_time.of(load))
                                                      : part.pass({t.kind == TlpKind::MWr, t.address, load, earliest});
        const SimTime out = std::max(slot.end, last);
        if (receiver != nullptr && hop.pcie) receiver->note(shares, slot.first, out);
        part.bytes += data;
        part.wire_bytes += load;
        part.tlps += tlps;
        if (i == 0) accepted = out;
        if (hop.pcie) receiver = &part.credits[kind];
        first = slot.first + hop.latency;
        last = out + hop.latency;
    }
    // The device at the end, or the root complex, takes it as it comes.
    if (receiver != nullptr) receiver->note(shares, first, last);
    return {first, last, accepted, receiver};
}

/// When the IOMMU, or the device itself, knows where the pages of a request lie that is there at `at`.
SimTime Complex::translate(AgentId a, const Way& way, DmaTarget target, SimTime now, SimTime at, uint32_t bytes) {
    if (!way.translated || target.address == DmaTarget::kAnyAddress) return at;
    const IommuSpec& iommu = platform_.iommu;
    const bool ats = slot_of(platform_, a).ats;
    RecentSet& known = ats ? agents_[a].translations : translations_[way.bridge];
    SimTime ready = at;
    const uint64_t last = (target.address + std::max(bytes, 1U) - 1) / iommu.page_bytes;
    for (uint64_t page = target.address / iommu.page_bytes; page <= last; ++page) {
        if (known.touch(page)) continue;
        ++counters_.walks;
        const SimTime span = iommu.miss / std::max(1U, iommu.walkers);
        const SimTime begun = parts_[routes_.parts().walker(way.bridge)].reserve(now, at, span).first;
        // A device's own question travels to the root and back.
        ready = std::max(ready, begun + iommu.miss + (ats ? agents_[a].nominal_mmio * 2 : SimTime::zero()));
    }
    return ready;
}

/// Data of a read that has come to its memory at `at`: when they begin and end to come out of it.
Complex::Arrival Complex::out_of_memory(SimTime now, SimTime at, DmaTarget target, uint32_t bytes) {
    Part& memory = parts_[routes_.parts().memory(target.memory)];
    if (memory.model != nullptr) [[unlikely]] {
        memory.bytes += bytes;
        const pcie::Slot slot = memory.pass({false, target.address, bytes, at});
        return {slot.first, slot.end, at};
    }
    SimTime latency;
    if (is_gpu(target.memory)) {
        latency = platform_.gpus[target.memory - platform_.numa_nodes.size()].hbm_latency;
    } else {
        const NumaNodeSpec& node = platform_.numa_nodes[target.memory];
        const bool cached = in_cache(target, bytes);
        ++(cached ? counters_.llc_hits : counters_.llc_misses);
        if (cached) return {at + node.llc_latency, at + node.llc_latency, at, nullptr};
        latency = node.dram_latency;
    }
    memory.bytes += bytes;
    const pcie::Slot slot = memory.reserve(now, at, memory.byte_time.of(bytes));
    return {slot.first + latency, slot.end + latency, at, nullptr};
}

/// When a write that arrives so is visible.
SimTime Complex::into_memory(SimTime now, const Arrival& a, DmaTarget target, uint32_t bytes) {
    Part& memory = parts_[routes_.parts().memory(target.memory)];
    if (memory.model != nullptr) [[unlikely]] {
        memory.bytes += bytes;
        return std::max(a.last, memory.pass({true, target.address, bytes, a.first}).end);
    }
    SimTime latency;
    if (is_gpu(target.memory)) {
        latency = platform_.gpus[target.memory - platform_.numa_nodes.size()].hbm_latency / 2;
    } else {
        const NumaNodeSpec& node = platform_.numa_nodes[target.memory];
        const bool cached = in_cache(target, bytes);
        if (node.ddio) {
            // What it displaces goes to DRAM, and nobody waits for that.
            if (!cached) {
                memory.bytes += bytes;
                const pcie::Slot slot = memory.reserve(now, a.first, memory.byte_time.of(bytes));
                if (a.receiver != nullptr) a.receiver->delay(slot.end);
            }
            return a.last + node.llc_latency;
        }
        latency = node.dram_latency;
    }
    memory.bytes += bytes;
    const pcie::Slot slot = memory.reserve(now, a.first, memory.byte_time.of(bytes));
    if (a.receiver != nullptr) a.receiver->delay(slot.end);
    return std::max(slot.end, a.last) + latency;
}

Complex::Arrival Complex::read(AgentId a, SimTime now, SimTime asked_at, DmaTarget target, uint32_t bytes) {
    const Way& ask = routes_.request(a, target.memory);
    const Way& answer = routes_.completion(a, target.memory);
    SIM_CHECK(ask.open, a, target.memory);
    const Arrival asked = carry(ask, {TlpKind::MRd, now, asked_at, asked_at, bytes, ask.unit, target.address});
    // The first request is there when its own bytes are; data follow it while others still come.
    SimTime at = asked.last;
    if (ask.hops > 0) at = std::min(at, asked.first + parts_[routes_.hops(ask)->part].byte_time.of(pcie::kMRdOverhead));
    at = translate(a, ask, target, now, at, bytes);
    Arrival data = out_of_memory(now, at, target, bytes);
    data.last = std::max(data.last, data.first + (asked.last - at));
    const Arrival back = carry(answer, {TlpKind::CplD, now, data.first, data.last, bytes, answer.unit, target.address});
    return {back.first, back.last, asked.accepted, nullptr};
}

Complex::Arrival Complex::write(AgentId a, SimTime now, DmaTarget target, uint32_t bytes) {
    const Way& way = routes_.write(a, target.memory);
    SIM_CHECK(way.open, a, target.memory);
    Arrival there = carry(way, {TlpKind::MWr, now, now, now, bytes, way.unit, target.address});
    const SimTime known = translate(a, way, target, now, there.first, bytes);
    there.last = std::max(there.last, known);
    agents_[a].accepted = std::max(agents_[a].accepted, there.accepted);
    there.last = into_memory(now, there, target, bytes);
    return there;
}

SimTime Complex::dma_read(AgentId agent, SimTime now, DmaTarget target, uint32_t bytes) {
    target.memory = resolve(agent, target.memory);
    SimTime& order = agents_[agent].last_read;
    return order = std::max(order, read(agent, now, now, target, bytes).last);
}

SimTime Complex::dma_write(AgentId agent, SimTime now, DmaTarget target, uint32_t bytes) {
    target.memory = resolve(agent, target.memory);
    SimTime& order = agents_[agent].last_write;
    return order = std::max(order, write(agent, now, target, bytes).last);
}

SimTime Complex::interrupt(AgentId agent, SimTime now, MemoryId cpu) {
    constexpr uint32_t kMessageBytes = 4;
    const Way& way = routes_.write(agent, resolve(agent, cpu));
    SimTime& order = agents_[agent].last_write;
    return order = std::max(order, carry(way, {TlpKind::MWr, now, now, now, kMessageBytes, way.unit}).last);
}

SimTime Complex::mmio_write(AgentId agent, SimTime now, uint32_t bytes, MemoryId cpu) {
    const Way& way = routes_.store(resolve(agent, cpu), agent);
    return carry(way, {TlpKind::MWr, now, now, now, bytes, way.unit}).last;
}

SimTime Complex::least_mmio_write(AgentId agent) const {
    SimTime least = SimTime::max();
    for (MemoryId n = 0; n < count_of(platform_.numa_nodes); ++n)
        least = std::min(least, routes_.store(n, agent).latency);
    return least + agents_[agent].nominal_byte.of(pcie::wire_bytes(TlpKind::MWr, 4, pcie::kMWrOverhead));
}

bool Complex::reachable(AgentId agent, MemoryId memory) const {
    return routes_.write(agent, resolve(agent, memory)).open;
}

SimTime Complex::nominal_mmio_write(AgentId agent, uint32_t bytes) const {
    const Agent& a = agents_[agent];
    return a.nominal_mmio + a.nominal_byte.of(pcie::wire_bytes(TlpKind::MWr, bytes, a.nominal_payload));
}

SimTime Complex::nominal_write(AgentId agent, uint32_t bytes) const {
    const Agent& a = agents_[agent];
    return a.nominal_write + a.nominal_byte.of(pcie::wire_bytes(TlpKind::MWr, bytes, a.nominal_payload));
}

SimTime Complex::nominal_read(AgentId agent, uint32_t bytes) const {
    const Agent& a = agents_[agent];
    return a.nominal_read + a.nominal_byte.of(pcie::kMRdOverhead) +
           a.nominal_byte.of(pcie::wire_bytes(TlpKind::CplD, bytes, a.nominal_completion));
}

SimTime Complex::cpu_store(MemoryId cpu, SimTime now, MemoryId gpu, uint64_t bytes) {
    SIM_CHECK(is_gpu(gpu) && bytes <= UINT32_MAX, gpu, bytes);
    const auto g = static_cast<uint16_t>(gpu - platform_.numa_nodes.size());
    const AgentId agent = gpu_agent(g);
    const Way& way = routes_.store(resolve(agent, cpu), agent);
    const CpuSpec& c = platform_.cpu;
    const auto n = static_cast<uint32_t>(bytes);
    const SimTime issued = now + c.store_issue;
    const Arrival there = carry(way, {TlpKind::MWr, now, issued, issued, n, gpu::kLineBytes});
    // The core fills its buffers at its own rate, and waits for all but the last of them to leave.
    const uint32_t kept = std::min(n, c.write_combining);
    const SimTime filled = issued + c.store_rate.time_for(kept);
    const sim::ByteTime rate = parts_[routes_.parts().down(agent)].byte_time;
    const uint32_t kept_wire = pcie::wire_bytes(TlpKind::MWr, kept, gpu::kLineBytes);
    const SimTime left = there.last - way.latency;
    return std::max(issued + c.store_rate.time_for(n), filled + (left - issued) - rate.of(kept_wire));
}

SimTime Complex::cpu_load(MemoryId cpu, SimTime now, MemoryId gpu, uint64_t bytes) {
    SIM_CHECK(is_gpu(gpu) && bytes <= UINT32_MAX, gpu, bytes);
    const auto g = static_cast<uint16_t>(gpu - platform_.numa_nodes.size());
    const AgentId agent = gpu_agent(g);
    cpu = resolve(agent, cpu);
    const Way& ask = routes_.load(cpu, agent);
    const Way& answer = routes_.write(agent, cpu);
    const auto n = static_cast<uint32_t>(bytes);
    const Arrival asked = carry(ask, {TlpKind::MRd, now, now, now, n, gpu::kLineBytes});
    const SimTime at = asked.first + platform_.gpus[g].hbm_latency;
    const Arrival back = carry(answer, {TlpKind::CplD, now, at, at, n, gpu::kLineBytes});
    const SimTime there = platform_.cpu.bridge_latency;
    const SimTime trip = back.first + there - now;
    const SimTime trips = SimTime::ps(static_cast<int64_t>(static_cast<sim::UInt128>(gpu::load_trips(bytes)) *
                                                           static_cast<uint64_t>(trip.in_ps()) / 100));
    return std::max(now + trips, back.last + there);
}

}  // namespace simverbs::host
