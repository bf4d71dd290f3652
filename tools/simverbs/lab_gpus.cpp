#include "tools/simverbs/lab_gpus.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/host/relation.hpp"

namespace simverbs::tools {

namespace {

/// What CUDA tells of a model; the first whose name begins so. Source: NVIDIA's data sheets.
struct Model {
    std::string_view prefix;
    uint32_t capability, processors, clock_khz, memory_clock_khz, memory_bus_bits, l2_mib;
};
constexpr std::array kModels = {
    Model{"H100", 90, 132, 1'980'000, 2'619'000, 5120, 50}, Model{"A100", 80, 108, 1'410'000, 1'215'000, 5120, 40},
    Model{"V100", 70, 80, 1'530'000, 877'000, 4096, 6},     Model{"RTX-A6000", 86, 84, 1'800'000, 8'001'000, 384, 6},
    Model{"", 90, 132, 1'980'000, 2'619'000, 5120, 50},
};

/// Whose memory it can use: over NVLink, or PCIe within a socket, as CUDA's driver allows it.
uint64_t peers_of(const host::PlatformSpec& platform, uint32_t gpu) {
    const auto agent = [&](uint32_t g) { return static_cast<host::AgentId>(platform.nics.size() + g); };
    uint64_t peers = 0;
    for (uint32_t other = 0; other < platform.gpus.size(); ++other)
        if (other != gpu && relation_between(platform, agent(gpu), agent(other)).distance != host::Distance::Sys)
            peers |= uint64_t{1} << other;
    return peers;
}

}  // namespace

server::HostGpusConfig gpus_of(const scenarios::HostInside* inside) {
    server::HostGpusConfig to;
    if (inside == nullptr) return to;
    const host::PlatformSpec& platform = inside->spec;
    to.numa_nodes = static_cast<uint32_t>(platform.numa_nodes.size());
    to.peermem = inside->driver.peermem;
    to.gdrdrv = inside->driver.gdrdrv;
    to.dma_buf = inside->driver.dma_buf;
    constexpr uint32_t kFirstBus = 0x17, kBusesApart = 0x10;
    for (uint32_t g = 0; g < platform.gpus.size(); ++g) {
        const host::GpuSpec& from = platform.gpus[g];
        const Model& model = *std::find_if(kModels.begin(), kModels.end(),
                                           [&](const Model& m) { return from.model.starts_with(m.prefix); });
        server::GpuConfig gpu;
        const std::string name = "NVIDIA " + from.model;
        name.copy(gpu.info.name, sizeof gpu.info.name - 1);
        gpu.info.uuid[0] = static_cast<uint8_t>(g + 1);
        gpu.info.bytes = from.hbm_bytes;
        gpu.info.bar1_bytes = from.bar1_bytes;
        gpu.info.peers = peers_of(platform, g);
        gpu.info.pci_bus = (kFirstBus + kBusesApart * g) & 0xFF;
        gpu.info.capability = model.capability;
        gpu.info.processors = model.processors;
        gpu.info.clock_khz = model.clock_khz;
        gpu.info.memory_clock_khz = model.memory_clock_khz;
        gpu.info.memory_bus_bits = model.memory_bus_bits;
        gpu.info.l2_bytes = model.l2_mib << 20;
        gpu.info.copy_engines = from.copy_engines;
        gpu.memory_rate = from.hbm_rate;
        to.gpus.push_back(gpu);
    }
    return to;
}

}  // namespace simverbs::tools
