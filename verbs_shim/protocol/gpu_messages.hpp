// Requests about a simulated host's GPUs: what CUDA's driver, the modules nvidia_peermem and gdrdrv, and dma-buf do on
// a real one. Results are CUDA's own error numbers, which the runtime and the driver API share.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::protocol {

inline constexpr uint32_t kMaxGpusPerHost = 16;

/// cudaError_t and CUresult where both have the number.
enum GpuResult : int32_t {
    kGpuSuccess = 0,
    kGpuInvalidValue = 1,
    kGpuOutOfMemory = 2,
    kGpuNotInitialized = 3,
    kGpuInvalidMemcpyDirection = 21,
    kGpuInsufficientDriver = 35,
    kGpuInvalidDeviceFunction = 98,
    kGpuNoDevice = 100,
    kGpuInvalidDevice = 101,
    kGpuInvalidImage = 200,
    kGpuInvalidContext = 201,
    kGpuPeerAccessUnsupported = 217,
    kGpuInvalidHandle = 400,
    kGpuNotFound = 500,
    kGpuNotReady = 600,
    kGpuPeerAccessAlreadyEnabled = 704,
    kGpuPeerAccessNotEnabled = 705,
    kGpuContextIsDestroyed = 709,
    kGpuHostMemoryAlreadyRegistered = 712,
    kGpuHostMemoryNotRegistered = 713,
    kGpuNotPermitted = 800,
    kGpuNotSupported = 801,
    kGpuSystemNotReady = 802,
    kGpuUnknown = 999,
};

struct GpuInfo {
    char name[64] = {};  ///< "NVIDIA H100 80GB HBM3"
    uint8_t uuid[16] = {};
    uint64_t bytes = 0;       ///< of its memory
    uint64_t bar1_bytes = 0;  ///< of the window through which CPUs and peers see it
    uint64_t peers = 0;       ///< bit n: it can reach the memory of GPU n of its host
    uint32_t pci_domain = 0, pci_bus = 0, pci_device = 0;
    uint32_t capability = 90;  ///< compute capability, ten times the major number plus the minor one
    uint32_t processors = 132;
    uint32_t clock_khz = 1'980'000, memory_clock_khz = 2'619'000, memory_bus_bits = 5120;
    uint32_t l2_bytes = 50U << 20;
    int32_t numa_node = 0;
    uint32_t copy_engines = 2;
    uint32_t pad = 0;
};

/// OpenGpus: the process begins to use GPUs. ENODEV if its host has none.
struct OpenGpusReply {
    ReplyHeader h;
    uint32_t num_gpus = 0;
    uint32_t dma_buf = 0;  ///< the driver exports memory as dma-bufs
    uint32_t driver_version = 13000;
    uint32_t pad = 0;
    GpuInfo gpus[kMaxGpusPerHost];
    char topology[4096] = {};  ///< what `nvidia-smi topo -m` prints
};
static_assert(sizeof(OpenGpusReply) <= kMaxMessage);

/// What a GpuRequest asks for, and which of its fields say what. `to`, `from` and `address` are addresses of the
/// process; `gpu` is a number on the host.
enum class GpuCall : uint32_t {
    Place,       ///< the process has reserved [address, address + GpuInfo::bytes) for the memory of `gpu`
    MemoryInfo,  ///< of `gpu` → bytes (free), value (total)
    Alloc,  ///< bytes on `gpu` → address; a fd: block [handle, handle + bytes) of GPU memory is new to the process
    Free,   ///< address
    HostRegister,      ///< [address, address + bytes); flags: GpuHostFlag
    HostUnregister,    ///< address
    Pointer,           ///< address → flags (GpuMemoryType), gpu, handle (base), bytes, value (an id)
    Copy,              ///< bytes of each of `rows` rows, from_pitch and to_pitch apart, on `stream` of `gpu`
    Fill,              ///< the same with a pattern: value, of `flags` bytes (1, 2, 4)
    StreamCreate,      ///< on `gpu`; flags 1: does not block the legacy stream → handle
    StreamDestroy,     ///< stream
    StreamQuery,       ///< stream → kGpuNotReady while it has work
    StreamWaitEvent,   ///< stream, handle (event)
    Wait,              ///< stream; or handle (event); or neither: all of `gpu` → see GpuReply::key
    EventCreate,       ///< on `gpu`; flags: GpuEventFlag → handle
    EventDestroy,      ///< handle
    EventRecord,       ///< handle, stream
    EventQuery,        ///< handle
    EventElapsed,      ///< handle (begin), value (end) → time_ps
    PeerEnable,        ///< from `gpu` to the memory of `value`
    PeerDisable,       ///< the same
    IpcExport,         ///< address → token
    IpcOpen,           ///< token, for use on `gpu` → address, and a block as Alloc
    IpcClose,          ///< address
    IpcExportEvent,    ///< handle → token
    IpcOpenEvent,      ///< token → handle
    DmaBufExport,      ///< [address, address + bytes) → a fd
    HostFunction,      ///< stream: its turn comes → the process's helper gets `value` from HostFunctionTake
    HostFunctionTake,  ///< → value; kGpuNotReady: see GpuReply::key
    HostFunctionDone,  ///< value; bytes: how long it took on the GPU, in ps
    Pin,         ///< gdrdrv: [address, address + bytes) → handle, address (of the first page), bytes; errno in result
    Unpin,       ///< handle
    PinInfo,     ///< handle → flags 1: the memory has been freed meanwhile
    PinMap,      ///< handle → a fd: the pinned pages are bytes [value, value + bytes) of it
    PinUnmap,    ///< handle
    PinStore,    ///< handle, bytes: a CPU writes through the mapping; the reply costs what it takes
    PinLoad,     ///< handle, bytes: a CPU reads
    Modules,     ///< → flags: GpuModule of the host
    ModuleLoad,  ///< flags: one GpuModule
    ModuleUnload,  ///< flags: one GpuModule
    Reset,         ///< everything that the process has on `gpu` goes
    PciFunctions,  ///< → a fd: a file of `value` PciInfo, those above before those below
    AcsControl,    ///< value: a downstream port's place in that file; flags: what is written to its ACS Control
    NumaNodes,     ///< → a fd: a file of `value` NumaInfo
    kCount
};

enum GpuMemoryType : uint32_t { kGpuUnregistered = 0, kGpuHostMemory = 1, kGpuDeviceMemory = 2, kGpuManagedMemory = 3 };
/// How registered host memory came to be: `Managed` is host memory that says that it is managed.
enum GpuHostFlag : uint32_t { kGpuHostAllocated = 1, kGpuHostManaged = 2 };
enum GpuEventFlag : uint32_t { kGpuEventBlockingSync = 1, kGpuEventDisableTiming = 2, kGpuEventInterprocess = 4 };
/// Kernel modules of a host with GPUs.
enum GpuModule : uint32_t { kModulePeermem = 1, kModuleGdrdrv = 2 };

/// Streams that nobody creates: the one that waits for all blocking ones and they for it, and each thread's own.
inline constexpr uint64_t kStreamDefault = 0, kStreamLegacy = 1, kStreamPerThread = 2;
/// GpuRequest::flags of Copy.
enum GpuCopyFlag : uint32_t {
    kGpuCopySync = 1,  ///< the caller waits for its end
};
inline constexpr uint32_t kGpuTokenBytes = 64;

struct GpuRequest {
    RequestHeader h;
    GpuCall call = GpuCall::kCount;
    uint32_t gpu = 0;
    uint32_t flags = 0, pad = 0;
    uint64_t stream = 0, handle = 0;
    uint64_t address = 0, to = 0, from = 0;
    uint64_t bytes = 0, rows = 1, to_pitch = 0, from_pitch = 0;
    uint64_t value = 0;
    uint8_t token[kGpuTokenBytes] = {};
};

struct GpuReply {
    ReplyHeader h;
    int32_t result = kGpuSuccess;  ///< GpuResult; of gdrdrv's calls an errno
    uint32_t gpu = 0;
    uint32_t flags = 0, pad = 0;
    uint64_t address = 0, handle = 0, bytes = 0, value = 0;
    int64_t time_ps = 0;
    /// Not 0: not yet. To be asked again when this shared object is no longer `seen`, with `handle` as its `value`.
    uint64_t key = 0, seen = 0;
    uint8_t token[kGpuTokenBytes] = {};
};

}  // namespace simverbs::protocol
