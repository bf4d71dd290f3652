// cudaGetDeviceProperties: three layouts under two names.
#include <cstddef>
#include <cstring>

// For the struct of version 12; its functions are declared in C++ types of their own.
#define SIMVERBS_CUDA_TYPES_ONLY
#include "verbs_shim/cuda/include/cuda_runtime_api.h"
#undef cudaGetDeviceProperties
#include "verbs_shim/cuda/runtime/runtime.hpp"

namespace simverbs::cuda {

using namespace protocol;

namespace {

/// Bytes of the struct until CUDA 11, where it ends behind reservedSharedMemPerBlock, and in CUDA 12.
constexpr size_t kBytesOf11 = offsetof(cudaDeviceProp, hostRegisterSupported);
static_assert(kBytesOf11 == 728 && sizeof(cudaDeviceProp) == 1032);

void copy_dimensions(int (&to)[3], int x, int y, int z) {
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

/// What all versions have.
template <class Properties>
void fill_common(Properties& p, const GpuInfo& gpu) {
    std::memset(&p, 0, sizeof p);
    const auto attribute = [&](int number) {
        int value = 0;
        (void)attribute_of(gpu, number, value);
        return value;
    };
    std::memcpy(p.name, gpu.name, sizeof gpu.name);
    std::memcpy(p.uuid.bytes, gpu.uuid, sizeof gpu.uuid);
    p.totalGlobalMem = gpu.bytes;
    p.sharedMemPerBlock = static_cast<size_t>(attribute(8));
    p.regsPerBlock = attribute(12);
    p.warpSize = attribute(10);
    p.memPitch = static_cast<size_t>(attribute(11));
    p.maxThreadsPerBlock = attribute(1);
    copy_dimensions(p.maxThreadsDim, attribute(2), attribute(3), attribute(4));
    copy_dimensions(p.maxGridSize, attribute(5), attribute(6), attribute(7));
    p.totalConstMem = static_cast<size_t>(attribute(9));
    p.major = attribute(75);
    p.minor = attribute(76);
    p.textureAlignment = static_cast<size_t>(attribute(14));
    p.texturePitchAlignment = 32;
    p.multiProcessorCount = attribute(16);
    p.canMapHostMemory = 1;
    p.surfaceAlignment = 512;
    p.concurrentKernels = attribute(31);
    p.ECCEnabled = attribute(32);
    p.pciBusID = attribute(33);
    p.pciDeviceID = attribute(34);
    p.pciDomainID = attribute(50);
    p.asyncEngineCount = attribute(40);
    p.unifiedAddressing = 1;
    p.memoryBusWidth = attribute(37);
    p.l2CacheSize = attribute(38);
    p.maxThreadsPerMultiProcessor = attribute(39);
    p.streamPrioritiesSupported = 1;
    p.globalL1CacheSupported = 1;
    p.localL1CacheSupported = 1;
    p.sharedMemPerMultiprocessor = static_cast<size_t>(attribute(81));
    p.regsPerMultiprocessor = attribute(82);
    p.managedMemory = 1;
    p.concurrentManagedAccess = attribute(89);
    p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.cooperativeLaunch = 1;
    p.sharedMemPerBlockOptin = static_cast<size_t>(attribute(97));
    p.maxBlocksPerMultiProcessor = attribute(106);
    p.reservedSharedMemPerBlock = static_cast<size_t>(attribute(111));
    p.hostRegisterSupported = 1;
    p.gpuDirectRDMASupported = attribute(116);
    p.gpuDirectRDMAFlushWritesOptions = static_cast<unsigned>(attribute(117));
    p.gpuDirectRDMAWritesOrdering = attribute(118);
    p.ipcEventSupported = 1;
    p.clusterLaunch = attribute(120);
}

#if SIMVERBS_CUDART_MAJOR >= 13

/// CUDA 13: without what the older ones said of clocks, time limits and modes. Textures and surfaces, of which this GPU
/// has none, are counted together.
struct Properties13 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory, textures[25], surfaces[14];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
        unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor,
        streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, deviceNumaConfig,
        deviceNumaId, mpsEnabled, hostNumaId;
    unsigned int gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported, reserved[56];
};

int fill_properties(void* to, size_t, int device) noexcept {
    return run([&] {
        const GpuInfo* const info = device < 0 ? nullptr : calls()->info(static_cast<uint32_t>(device));
        if (to == nullptr || info == nullptr) return to == nullptr ? kGpuInvalidValue : kGpuInvalidDevice;
        Properties13 p;
        fill_common(p, *info);
        std::memcpy(to, &p, sizeof p);
        return kGpuSuccess;
    });
}

#else

/// Fills the first `bytes` of the struct: those behind are not the caller's.
int fill_properties(void* to, size_t bytes, int device) noexcept {
    return run([&] {
        const GpuInfo* const info = device < 0 ? nullptr : calls()->info(static_cast<uint32_t>(device));
        if (to == nullptr || info == nullptr) return to == nullptr ? kGpuInvalidValue : kGpuInvalidDevice;
        cudaDeviceProp p;
        fill_common(p, *info);
        p.clockRate = static_cast<int>(info->clock_khz);
        p.deviceOverlap = 1;
        p.memoryClockRate = static_cast<int>(info->memory_clock_khz);
        std::memcpy(to, &p, bytes);
        return kGpuSuccess;
    });
}

#endif

}  // namespace

}  // namespace simverbs::cuda

using namespace simverbs::cuda;

SIMVERBS_CUDA_EXPORT int cudaGetDeviceProperties(void* properties, int device) {
    return fill_properties(properties, kBytesOf11, device);
}

#if SIMVERBS_CUDART_MAJOR == 12
SIMVERBS_CUDA_EXPORT int cudaGetDeviceProperties_v2(void* properties, int device) {
    return fill_properties(properties, sizeof(cudaDeviceProp), device);
}
#endif
