#include "tools/simverbs/host_gpus.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "models/host/relation.hpp"

namespace simverbs::tools {

namespace {

/// What programs ask of a model, and no platform says. Source: NVIDIA's data sheets and CUDA's table of compute
/// capabilities.
struct GpuModel {
    std::string_view begins;  ///< of the platform's model name
    const char* name;
    uint32_t capability, processors, clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
};
constexpr GpuModel kModels[] = {
    {"H200", "NVIDIA H200", 90, 132, 1'980'000, 3'201'000, 6144, 50U << 20},
    {"H100-PCIE", "NVIDIA H100 PCIe", 90, 114, 1'755'000, 1'593'000, 5120, 50U << 20},
    {"H100", "NVIDIA H100 80GB HBM3", 90, 132, 1'980'000, 2'619'000, 5120, 50U << 20},
    {"A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", 80, 108, 1'410'000, 1'215'000, 5120, 40U << 20},
    {"A100-SXM4", "NVIDIA A100-SXM4-80GB", 80, 108, 1'410'000, 1'593'000, 5120, 40U << 20},
    {"A100-PCIE", "NVIDIA A100-PCIE-40GB", 80, 108, 1'410'000, 1'215'000, 5120, 40U << 20},
    {"RTX-A6000", "NVIDIA RTX A6000", 86, 84, 1'800'000, 8'001'000, 384, 6U << 20},
    {"V100", "Tesla V100-SXM2-16GB", 70, 80, 1'530'000, 877'000, 4096, 6U << 20},
};

/// Where a GPU is on its host's PCI: bridges get bus numbers as firmware gives them, with room in between.
constexpr uint32_t kFirstBus = 0x17, kBusesAGpu = 0x10;

uint16_t numa_node_of(const host::PlatformSpec& platform, host::UpstreamSpec upstream) {
    while (upstream.kind == host::UpstreamSpec::Kind::Switch) upstream = platform.switches[upstream.index].upstream;
    return platform.bridges[upstream.index].numa_node;
}

}  // namespace

server::HostGpusConfig gpus_of(const scenarios::HostInside& inside, uint32_t host) {
    const host::PlatformSpec& platform = inside.spec;
    server::HostGpusConfig config;
    config.numa_nodes = static_cast<uint32_t>(platform.numa_nodes.size());
    config.peermem = inside.driver.peermem;
    config.gdrdrv = inside.driver.gdrdrv;
    config.dma_buf = inside.driver.dma_buf;
    config.topology = host::relation_matrix(platform);
    for (uint32_t n = 0; n < platform.gpus.size(); ++n) {
        const host::GpuSpec& from = platform.gpus[n];
        server::GpuConfig to;
        protocol::GpuInfo& info = to.info;
        const auto model = std::ranges::find_if(
            kModels, [&](const GpuModel& m) { return std::string_view(from.model).starts_with(m.begins); });
        const std::string name = model != std::end(kModels) ? model->name : "NVIDIA " + from.model;
        std::memcpy(info.name, name.data(), std::min(name.size(), sizeof info.name - 1));
        if (model != std::end(kModels)) {
            info.capability = model->capability;
            info.processors = model->processors;
            info.clock_khz = model->clock_khz;
            info.memory_clock_khz = model->memory_clock_khz;
            info.memory_bus_bits = model->memory_bus_bits;
            info.l2_bytes = model->l2_bytes;
        }
        info.uuid[0] = 0x53;
        info.uuid[13] = static_cast<uint8_t>(host >> 8);
        info.uuid[14] = static_cast<uint8_t>(host);
        info.uuid[15] = static_cast<uint8_t>(n);
        info.bytes = from.hbm_bytes;
        info.bar1_bytes = from.bar1_bytes;
        info.pci_bus = kFirstBus + kBusesAGpu * n;
        info.numa_node = numa_node_of(platform, from.upstream);
        info.copy_engines = from.copy_engines;
        to.memory_rate = from.hbm_rate;
        config.gpus.push_back(to);
    }
    return config;
}

}  // namespace simverbs::tools
