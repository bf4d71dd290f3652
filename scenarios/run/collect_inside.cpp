#include "scenarios/run/collect_inside.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/fabric/adapters.hpp"
#include "models/host/complex.hpp"
#include "models/host/relation.hpp"

namespace simverbs::scenarios::run {

using sim::SimTime;

namespace {

std::string_view kind_text(host::PartKind kind) {
    switch (kind) {
        case host::PartKind::PcieLink:
            return "PCIe link";
        case host::PartKind::NumaLink:
            return "NUMA link";
        case host::PartKind::PeerShare:
            return "peers on a NUMA link";
        case host::PartKind::Memory:
            return "memory";
        case host::PartKind::PeerWrites:
            return "peers' writes";
        case host::PartKind::PeerReads:
            return "peers' reads";
        case host::PartKind::Walker:
            return "page walks";
        case host::PartKind::BarReads:
            return "reads of a GPU's window";
        case host::PartKind::NvLink:
            return "NVLink";
    }
    return "";
}

std::string link_text(const pcie::LinkSpec& slot, const pcie::LinkSpec& device) {
    const pcie::LinkSpec trained{std::min(slot.generation, device.generation), std::min(slot.lanes, device.lanes),
                                 std::min(slot.max_payload, device.max_payload)};
    const bool is_less = trained.generation < device.generation || trained.lanes < device.lanes;
    return host::to_string(trained) + (is_less ? ", of " + host::to_string(device) : "");
}

/// The tree of one host: every NUMA node with its bridges, below them switches and devices.
class TreeMaker {
  public:
    TreeMaker(const host::PlatformSpec& platform, const ProgramHost& host, HostInsideRecord& to)
        : platform_(platform), host_(host), to_(to) {}

    void make() {
        for (uint16_t n = 0; n < platform_.numa_nodes.size(); ++n) {
            const uint32_t node = add({InsideKind::NumaNode, platform_.numa_nodes[n].name, {}, {}});
            for (uint16_t b = 0; b < platform_.bridges.size(); ++b) {
                if (platform_.bridges[b].numa_node != n) continue;
                const uint32_t bridge = add({InsideKind::HostBridge, platform_.bridges[b].name, {}, {}, node});
                add_below({host::UpstreamSpec::Kind::HostBridge, b}, bridge);
            }
        }
    }

  private:
    uint32_t add(InsideDevice device) {
        to_.devices.push_back(std::move(device));
        return static_cast<uint32_t>(to_.devices.size() - 1);
    }
    static bool is_at(const host::UpstreamSpec& a, const host::UpstreamSpec& b) {
        return a.kind == b.kind && a.index == b.index;
    }
    void add_below(const host::UpstreamSpec& at, uint32_t parent) {
        for (uint16_t s = 0; s < platform_.switches.size(); ++s) {
            const host::SwitchSpec& made = platform_.switches[s];
            if (!is_at(made.upstream, at)) continue;
            const uint32_t number = add({InsideKind::Switch, made.name, {}, host::to_string(made.slot), parent});
            add_below({host::UpstreamSpec::Kind::Switch, s}, number);
        }
        for (size_t n = 0; n < platform_.nics.size(); ++n) {
            const host::NicSlotSpec& nic = platform_.nics[n];
            if (is_at(nic.upstream, at))
                add({InsideKind::Adapter, nic.name, host_.nics[n].device, link_text(nic.slot, nic.device), parent});
        }
        for (const host::GpuSpec& gpu : platform_.gpus)
            if (is_at(gpu.upstream, at))
                add({InsideKind::Gpu, gpu.name, gpu.model, link_text(gpu.slot, gpu.device), parent});
    }

    const host::PlatformSpec& platform_;
    const ProgramHost& host_;
    HostInsideRecord& to_;
};

InsidePart measured(const host::PartView& view, SimTime end) {
    InsidePart part;
    part.name = view.name;
    part.kind = kind_text(view.kind);
    part.rate = view.rate;
    part.bytes = view.part->bytes;
    part.wire_bytes = view.part->wire_bytes;
    part.tlps = view.part->tlps;
    part.busy = view.part->use.total();
    part.bin = view.part->use.width();
    for (uint32_t i = 0; i < pcie::Utilisation::kBins && part.bin * static_cast<int64_t>(i) < end; ++i)
        part.bins.push_back(view.part->use.bin(i));
    return part;
}

}  // namespace

void name_insides(const BuiltAdapters& adapters, RunResult& result) {
    for (const uint32_t h : adapters.host_of_complex) {
        const ProgramHost& host = adapters.hosts[h];
        HostInsideRecord record;
        record.host = host.name;
        record.platform = host.inside->spec.name;
        TreeMaker(host.inside->spec, host, record).make();
        const auto number = static_cast<uint32_t>(result.insides.size());
        for (uint32_t d = 0; d < record.devices.size(); ++d)
            if (!record.devices[d].link.empty())
                result.pcie_links.push_back({fmt::format("{}/{}", host.name, record.devices[d].name), number, d});
        result.insides.push_back(std::move(record));
    }
}

void collect_insides(const fabric::Adapters& adapters, RunResult& result) {
    for (size_t i = 0; i < result.insides.size(); ++i) {
        const auto* complex = dynamic_cast<const host::Complex*>(&adapters.host(i).complex());
        if (complex == nullptr) continue;
        HostInsideRecord& to = result.insides[i];
        for (const host::PartView& view : complex->parts()) {
            if (view.kind == host::PartKind::PcieLink) {
                for (InsideDevice& device : to.devices) {
                    if (view.name == device.name + " up") device.up = static_cast<uint32_t>(to.parts.size());
                    if (view.name == device.name + " down") device.down = static_cast<uint32_t>(to.parts.size());
                }
            }
            to.parts.push_back(measured(view, result.simulated_time));
        }
    }
}

}  // namespace simverbs::scenarios::run
