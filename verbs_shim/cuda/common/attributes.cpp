// Device attributes by number. Source: CUDA's documentation, CUdevice_attribute and cudaDeviceAttr (the same numbers);
// limits of processors as its table of compute capabilities has them (8.0, 9.0).
#include <cstdio>
#include <cstdlib>

#include "verbs_shim/cuda/common/calls.hpp"

namespace simverbs::cuda {

namespace {

struct Constant {
    int attribute, value;
};

constexpr Constant kConstants[] = {
    {1, 1024},                                 // threads of a block
    {2, 1024},                                 // … x
    {3, 1024},                                 // … y
    {4, 64},                                   // … z
    {5, 2147483647},                           // blocks of a grid: x
    {6, 65535},                                // … y
    {7, 65535},                                // … z
    {8, 49152},                                // shared memory of a block
    {9, 65536},                                // constant memory
    {10, 32},                                  // warp
    {11, 2147483647},                          // pitch
    {12, 65536},                               // registers of a block
    {14, 512},                                 // texture alignment
    {15, 1},                                   // copies overlap with kernels
    {17, 0},                                   // no time limit of kernels
    {18, 0},                                   // not integrated
    {19, 1},                                   // host memory can be mapped
    {20, 0},                                   // compute mode: default
    {31, 1},                                   // concurrent kernels
    {32, 1},                                   // ECC
    {35, 0},                                   // TCC: Windows only
    {39, 2048},                                // threads of a multiprocessor
    {41, 1},                                   // unified addressing
    {78, 1},                                   // stream priorities
    {79, 1},                                   // global L1 cache
    {80, 1},                                   // local L1 cache
    {81, 233472},                              // shared memory of a multiprocessor
    {82, 65536},                               // registers of a multiprocessor
    {83, 1},                                   // managed memory
    {84, 0},                                   // not a board of several
    {86, 0},                                   // no native atomics with the host
    {88, 0},                                   // no pageable memory access
    {89, 1},                                   // concurrent managed access
    {90, 1},                                   // compute preemption
    {91, 1},                                   // registered memory has the same address
    {92, 0},                                   // stream memory operations: none
    {93, 0},          {94, 0},      {95, 1},   // cooperative launch
    {96, 0},          {97, 232448},            // shared memory of a block, opted in
    {98, 1},                                   // remote writes can be flushed
    {99, 1},                                   // host memory can be registered
    {100, 0},         {101, 0},     {102, 0},  // no virtual memory management
    {103, 0},                                  // no handles of it as descriptors
    {106, 32},                                 // blocks of a multiprocessor
    {111, 1024},                               // reserved shared memory of a block
    {113, 0},                                  // no read-only registration
    {115, 0},                                  // no memory pools
    {116, 1},                                  // GPUDirect RDMA
    {117, 1},                                  // flushed from the host
    {118, 100},                                // writes are ordered for their owner
    {120, 1},                                  // clusters
    {125, 1},                                  // IPC events
};

}  // namespace

bool attribute_of(const protocol::GpuInfo& gpu, int attribute, int& value) noexcept {
    switch (attribute) {
        case 13:
            value = static_cast<int>(gpu.clock_khz);
            return true;
        case 16:
            value = static_cast<int>(gpu.processors);
            return true;
        case 33:
            value = static_cast<int>(gpu.pci_bus);
            return true;
        case 34:
            value = static_cast<int>(gpu.pci_device);
            return true;
        case 36:
            value = static_cast<int>(gpu.memory_clock_khz);
            return true;
        case 37:
            value = static_cast<int>(gpu.memory_bus_bits);
            return true;
        case 38:
            value = static_cast<int>(gpu.l2_bytes);
            return true;
        case 40:
            value = static_cast<int>(gpu.copy_engines);
            return true;
        case 50:
            value = static_cast<int>(gpu.pci_domain);
            return true;
        case 75:
            value = static_cast<int>(gpu.capability / 10);
            return true;
        case 76:
            value = static_cast<int>(gpu.capability % 10);
            return true;
        case 124:  // dma-buf
            value = calls()->exports_dma_bufs() ? 1 : 0;
            return true;
        case 134:  // NUMA node of the host
            value = gpu.numa_node;
            return true;
        default:
            break;
    }
    for (const Constant& c : kConstants) {
        if (c.attribute != attribute) continue;
        value = c.value;
        return true;
    }
    // Of the rest this GPU has nothing.
    constexpr int kMostKnown = 160;
    value = 0;
    return attribute > 0 && attribute < kMostKnown;
}

bool pci_id_of(const protocol::GpuInfo& gpu, char* text, int length) noexcept {
    char id[32];
    const int n = std::snprintf(id, sizeof id, "%04x:%02x:%02x.0", gpu.pci_domain, gpu.pci_bus, gpu.pci_device);
    if (text == nullptr || n >= length) return false;
    std::snprintf(text, static_cast<size_t>(length), "%s", id);
    return true;
}

int gpu_at_pci_id(const char* text) noexcept {
    if (text == nullptr) return -1;
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) {
        domain = 0;
        if (std::sscanf(text, "%x:%x.%x", &bus, &device, &function) < 2) return -1;
    }
    for (uint32_t gpu = 0; gpu < calls()->count(); ++gpu) {
        const protocol::GpuInfo& info = *calls()->info(gpu);
        if (info.pci_domain == domain && info.pci_bus == bus && info.pci_device == device) return static_cast<int>(gpu);
    }
    return -1;
}

}  // namespace simverbs::cuda
