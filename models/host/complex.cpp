#include "models/host/complex.hpp"

#include <algorithm>
#include <utility>

#include "models/host/ancestry.hpp"
#include "models/host/check_platform.hpp"
#include "models/pcie/link_rates.hpp"
#include "sim/check.hpp"

namespace simverbs::host {

using sim::SimTime;

namespace {
/// What of a cache DMA finds and replaces as one.
constexpr uint64_t kCacheGranule = 4096;

PlatformSpec checked(PlatformSpec p) {
    const std::vector<PlatformProblem> problems = check_platform(p);
    SIM_CHECK(problems.empty(), problems.front().where, problems.front().problem);
    return p;
}

}  // namespace

Complex::Complex(PlatformSpec platform) : platform_(checked(std::move(platform))), routes_(platform_) {
    make_parts();
    make_agents();
    for (const NumaNodeSpec& n : platform_.numa_nodes) caches_.emplace_back(n.llc_bytes / kCacheGranule);
    for (size_t b = 0; b < platform_.bridges.size(); ++b) translations_.emplace_back(platform_.iommu.entries);
    for (uint16_t g = 0; g < count_of(platform_.gpus); ++g) {
        const GpuSpec& gpu = platform_.gpus[g];
        first_engine_.push_back(static_cast<uint32_t>(engines_.size()));
        for (unsigned e = 0; e < gpu.copy_engines; ++e)
            engines_.push_back({g, gpu::CopyQueue({gpu.copy_overhead, gpu.copy_gap})});
    }
}

Complex::~Complex() = default;

pcie::LinkSpec Complex::link(uint16_t index) const {
    const size_t agents = platform_.nics.size() + platform_.gpus.size();
    if (index >= agents) return platform_.switches[index - agents].slot;
    return pcie::trained(slot_of(platform_, index).slot, slot_of(platform_, index).device);
}

void Complex::make_parts() {
    parts_.resize(routes_.parts().count());
    for (const PartView& v : parts()) {
        Part& p = parts_[static_cast<size_t>(v.part - parts_.data())];
        p.kind = v.kind;
        p.byte_time = sim::ByteTime(v.rate);
    }
}

void Complex::make_agents() {
    const auto count = static_cast<AgentId>(platform_.nics.size() + platform_.gpus.size());
    for (AgentId a = 0; a < count; ++a) {
        const DeviceSlotSpec& d = slot_of(platform_, a);
        const MemoryId near = routes_.nearest(a);
        const NumaNodeSpec& node = platform_.numa_nodes[near];
        const HostBridgeSpec& bridge = platform_.bridges[routes_.write(a, near).bridge];
        const SimTime one_way = d.link_latency + bridge.latency;
        Agent agent{.translations = RecentSet(platform_.iommu.ats_entries)};
        agent.nominal_mmio = platform_.cpu.bridge_latency + one_way;
        agent.nominal_read = one_way * 2 + node.llc_latency;
        agent.nominal_write = one_way + (node.ddio ? node.llc_latency : node.dram_latency);
        agent.nominal_byte = sim::ByteTime(pcie::tlp_rate(d.device));
        agent.nominal_payload = d.device.max_payload;
        agent.nominal_completion = std::min(d.device.max_payload, bridge.completion);
        agents_.push_back(std::move(agent));
    }
}

bool Complex::replace(std::string_view part, PartModel* model) {
    for (const PartView& v : parts()) {
        if (v.name != part) continue;
        parts_[static_cast<size_t>(v.part - parts_.data())].model = model;
        return true;
    }
    return false;
}

void Complex::set_slot(AgentId agent, const pcie::LinkSpec& slot) {
    DeviceSlotSpec& d = agent < platform_.nics.size()
                            ? static_cast<DeviceSlotSpec&>(platform_.nics[agent])
                            : static_cast<DeviceSlotSpec&>(platform_.gpus[agent - platform_.nics.size()]);
    SIM_CHECK(pcie::is_link(slot), slot.generation, slot.lanes, slot.max_payload);
    d.slot = slot;
    const sim::ByteTime rate(pcie::tlp_rate(link(agent)));
    parts_[routes_.parts().up(agent)].byte_time = parts_[routes_.parts().down(agent)].byte_time = rate;
    routes_ = Routes(platform_);
}

void Complex::set_acs(uint16_t switch_index, bool on) {
    platform_.switches.at(switch_index).acs = on;
    routes_ = Routes(platform_);
}

void Complex::set_iommu(bool on) {
    platform_.iommu.enabled = on;
    routes_ = Routes(platform_);
}

bool Complex::in_cache(DmaTarget target, uint32_t bytes) {
    if (target.address == DmaTarget::kAnyAddress) return true;
    bool all = true;
    const uint64_t last = (target.address + std::max(bytes, 1U) - 1) / kCacheGranule;
    for (uint64_t g = target.address / kCacheGranule; g <= last; ++g) all &= caches_[target.memory].touch(g);
    return all;
}

std::vector<PartView> Complex::parts() const {
    const PartNumbers& n = routes_.parts();
    std::vector<PartView> views(n.count());
    const auto set = [&](PartId id, std::string name, PartKind kind, sim::BitRate rate) {
        views[id] = {std::move(name), kind, rate, &parts_[id]};
    };
    const auto both = [&](uint16_t l, const std::string& name) {
        set(n.down(l), name + " down", PartKind::PcieLink, pcie::tlp_rate(link(l)));
        set(n.up(l), name + " up", PartKind::PcieLink, pcie::tlp_rate(link(l)));
    };
    const auto nics = static_cast<uint16_t>(platform_.nics.size());
    for (uint16_t i = 0; i < nics; ++i) both(i, platform_.nics[i].name);
    for (uint16_t i = 0; i < count_of(platform_.gpus); ++i)
        both(static_cast<uint16_t>(nics + i), platform_.gpus[i].name);
    for (uint16_t i = 0; i < count_of(platform_.switches); ++i) both(n.switch_link(i), platform_.switches[i].name);
    for (uint16_t i = 0; i < count_of(platform_.numa_links); ++i) {
        const NumaLinkSpec& l = platform_.numa_links[i];
        for (const bool forward : {true, false}) {
            const std::string name = platform_.numa_nodes[forward ? l.a : l.b].name + " to " +
                                     platform_.numa_nodes[forward ? l.b : l.a].name;
            set(n.numa(i, forward), name, PartKind::NumaLink, l.rate);
            set(n.numa_peer(i, forward), name + ", peers", PartKind::PeerShare, l.peer_rate);
        }
    }
    for (uint16_t i = 0; i < count_of(platform_.numa_nodes); ++i)
        set(n.memory(i), platform_.numa_nodes[i].name, PartKind::Memory, platform_.numa_nodes[i].rate);
    for (uint16_t i = 0; i < count_of(platform_.bridges); ++i) {
        const HostBridgeSpec& b = platform_.bridges[i];
        set(n.peer_writes(i), b.name + " peer writes", PartKind::PeerWrites, b.peer_write_rate);
        set(n.peer_reads(i), b.name + " peer reads", PartKind::PeerReads, b.peer_read_rate);
        set(n.walker(i), b.name + " page walks", PartKind::Walker, sim::BitRate::gbps(1));
    }
    for (uint16_t i = 0; i < count_of(platform_.gpus); ++i) {
        const GpuSpec& g = platform_.gpus[i];
        const auto lanes = platform_.nvlink.switched_links > 0 ? platform_.nvlink.switched_links : 1;
        const sim::BitRate nvlink = sim::BitRate::bps(platform_.nvlink.link_rate.in_bps() * lanes);
        set(n.memory(gpu_memory(i)), g.name + " memory", PartKind::Memory, g.hbm_rate);
        set(n.bar_reads(i), g.name + " BAR reads", PartKind::BarReads, g.bar_read_rate);
        set(n.nvlink_out(i), g.name + " NVLink out", PartKind::NvLink, nvlink);
        set(n.nvlink_in(i), g.name + " NVLink in", PartKind::NvLink, nvlink);
    }
    for (uint16_t i = 0; i < count_of(platform_.nvlink.links); ++i) {
        const NvLinkSpec& l = platform_.nvlink.links[i];
        const sim::BitRate rate = sim::BitRate::bps(platform_.nvlink.link_rate.in_bps() * l.links);
        const std::string a = platform_.gpus[l.a].name, b = platform_.gpus[l.b].name;
        set(n.nvlink_pair(i, true), a + " to " + b + " NVLink", PartKind::NvLink, rate);
        set(n.nvlink_pair(i, false), b + " to " + a + " NVLink", PartKind::NvLink, rate);
    }
    return views;
}

}  // namespace simverbs::host
