#include "tools/simverbs/host_gpus.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "models/host/ancestry.hpp"
#include "models/host/complex.hpp"
#include "models/host/pci_functions.hpp"
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

std::string product_of(const host::GpuSpec& gpu, const GpuModel* model) {
    return model != nullptr ? model->name : "NVIDIA " + gpu.model;
}

const GpuModel* model_of(const host::GpuSpec& gpu) {
    const auto model = std::ranges::find_if(
        kModels, [&](const GpuModel& m) { return std::string_view(gpu.model).starts_with(m.begins); });
    return model != std::end(kModels) ? &*model : nullptr;
}

template <size_t N>
void put(char (&to)[N], std::string_view text) {
    std::memcpy(to, text.data(), std::min(text.size(), N - 1));
}

/// What a device and its slot have in common, for lspci.
void describe_device(protocol::PciInfo& to, const host::PlatformSpec& platform, const host::DeviceSlotSpec& slot) {
    put(to.slot, slot.name);
    to.numa_node = host::nearest_node(platform, slot.upstream);
    to.max_read_request = slot.max_read_request;
}

protocol::PciInfo info_of(const host::PlatformSpec& platform, const host::PciFunction& f,
                          const std::vector<std::string>& rdma_devices) {
    using Kind = host::PciFunction::Kind;
    protocol::PciInfo to;
    to.above = f.above.value_or(UINT32_MAX);
    to.index = f.index;
    to.domain = f.address.domain;
    to.bus = f.address.bus;
    to.device = f.address.device;
    to.function = f.address.function;
    to.first_bus = f.first_bus;
    to.last_bus = f.last_bus;
    to.max_payload = f.trained.max_payload;
    put(to.link, host::link_text(f));
    switch (f.kind) {
        case Kind::RootPort:
            to.kind = protocol::PciKind::RootPort;
            put(to.slot, platform.bridges[f.index].name);
            to.numa_node = platform.bridges[f.index].numa_node;
            break;
        case Kind::UpstreamPort:
        case Kind::DownstreamPort:
            to.kind =
                f.kind == Kind::UpstreamPort ? protocol::PciKind::UpstreamPort : protocol::PciKind::DownstreamPort;
            put(to.slot, platform.switches[f.index].name);
            to.numa_node = host::nearest_node(platform, platform.switches[f.index].upstream);
            if (f.kind == Kind::DownstreamPort && platform.switches[f.index].acs) to.acs_control = protocol::kAcsUsual;
            break;
        case Kind::Nic:
            to.kind = protocol::PciKind::Nic;
            describe_device(to, platform, platform.nics[f.index]);
            if (f.index < rdma_devices.size()) put(to.device_name, rdma_devices[f.index]);
            break;
        case Kind::Gpu:
            to.kind = protocol::PciKind::Gpu;
            describe_device(to, platform, platform.gpus[f.index]);
            put(to.product, product_of(platform.gpus[f.index], model_of(platform.gpus[f.index])));
            break;
    }
    return to;
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
    for (const host::NumaNodeSpec& node : platform.numa_nodes) config.numa.push_back({node.socket, 0, node.bytes});
    const auto functions = host::pci_functions(platform);
    for (uint32_t n = 0; n < platform.gpus.size(); ++n) {
        const host::GpuSpec& from = platform.gpus[n];
        server::GpuConfig to;
        protocol::GpuInfo& info = to.info;
        const GpuModel* const model = model_of(from);
        put(info.name, product_of(from, model));
        if (model != nullptr) {
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
        const auto agent = static_cast<host::AgentId>(platform.nics.size() + n);
        const host::PciAddress address = host::address_of(functions, platform, agent);
        info.pci_domain = address.domain;
        info.pci_bus = address.bus;
        info.pci_device = address.device;
        info.numa_node = host::nearest_node(platform, from.upstream);
        info.copy_engines = from.copy_engines;
        to.memory_rate = from.hbm_rate;
        config.gpus.push_back(to);
    }
    return config;
}

server::GpuTiming timing_of(host::HostNode& node, const std::vector<std::string>& rdma_devices) {
    server::GpuTiming timing;
    timing.complex = &node.complex();
    timing.submit = [&node](const host::CopySpec& copy, sim::SimTime now, host::CopySink& sink) {
        node.submit(copy, now, sink);
    };
    auto* const complex = dynamic_cast<host::Complex*>(&node.complex());
    if (complex == nullptr) return timing;  // a host that is modelled elsewhere
    timing.pci_functions = [complex, rdma_devices] {
        std::vector<protocol::PciInfo> all;
        for (const host::PciFunction& f : host::pci_functions(complex->platform()))
            all.push_back(info_of(complex->platform(), f, rdma_devices));
        return all;
    };
    timing.redirect_peers = [&node, complex](uint16_t switch_index, bool on, sim::SimTime now) {
        node.change_at(now, [complex, switch_index, on] { complex->set_acs(switch_index, on); });
    };
    return timing;
}

}  // namespace simverbs::tools
