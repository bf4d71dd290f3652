// GPU memory in others' hands: IPC handles, dma-bufs, GDRCopy's pins; the kernel's modules.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "verbs_shim/server/gpu/gpu_calls.hpp"

namespace simverbs::server {

using namespace protocol;

namespace {

constexpr uint64_t kPinPage = uint64_t{64} << 10;  ///< of nvidia_p2p_get_pages
constexpr size_t kMostPins = size_t{1} << 16;
constexpr size_t kMostExports = size_t{1} << 16;

/// What a handle between processes carries. The check makes it hard to name what one was not given.
struct Token {
    uint64_t number = 0, check = 0, kind = 0, offset = 0;
};
enum TokenKind : uint64_t { kMemoryToken = 1, kEventToken = 2 };

uint64_t check_of(const GpuRequestScope& s, uint64_t number) {
    uint64_t x = s.call.lab.config().seed ^ number * 0x9E3779B97F4A7C15ULL ^ s.call.client.host;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

void give_token(GpuRequestScope& s, TokenKind kind, GpuHost::Exported&& exported) {
    const Token token{++s.host.last_number, check_of(s, s.host.last_number), kind, 0};
    exported.process = s.call.client.process;
    s.host.exported[token.number] = std::move(exported);
    std::memcpy(s.reply.token, &token, sizeof token);
}

const GpuHost::Exported* find_token(const GpuRequestScope& s, TokenKind kind) {
    Token token;
    std::memcpy(&token, s.request.token, sizeof token);
    if (token.kind != kind || token.check != check_of(s, token.number)) return nullptr;
    const auto it = s.host.exported.find(token.number);
    return it == s.host.exported.end() ? nullptr : &it->second;
}

GpuPin* find_pin(GpuRequestScope& s) {
    const auto it = s.client.pins.find(s.request.handle);
    return it == s.client.pins.end() ? nullptr : &it->second;
}

/// The program's CPU stores to or loads from a mapped window: the call takes what the host says.
int access_window(GpuRequestScope& s,
                  sim::SimTime (host::HostComplex::*access)(host::MemoryId, sim::SimTime, host::MemoryId, uint64_t)) {
    const GpuPin* pin = find_pin(s);
    if (pin == nullptr || s.request.bytes > pin->bytes) return EINVAL;
    const auto end =
        (s.host.complex().*access)(s.call.client.cpu_node, s.call.now, s.host.memory_id(pin->gpu), s.request.bytes);
    s.call.cost_ps = (end - s.call.now).in_ps();
    return 0;
}

}  // namespace

int gpu_ipc_export(GpuRequestScope& s) {
    const GpuAllocation* a = s.client.find(s.request.address, 1);
    if (a == nullptr || a->opened != 0) return kGpuInvalidValue;
    if (s.host.exported.size() >= kMostExports) return kGpuOutOfMemory;
    GpuHost::Exported exported;
    exported.block = a->block;
    exported.gpu = a->gpu;
    exported.at = a->at;
    exported.bytes = a->bytes;
    give_token(s, kMemoryToken, std::move(exported));
    return kGpuSuccess;
}

int gpu_ipc_open(GpuRequestScope& s) {
    const GpuHost::Exported* exported = find_token(s, kMemoryToken);
    const auto block = exported == nullptr ? nullptr : exported->block.lock();
    if (block == nullptr) return kGpuInvalidValue;
    if (exported->process == s.call.client.process) return kGpuInvalidContext;
    GpuPart& part = s.client.parts[exported->gpu];
    if (part.base == 0) return kGpuNotInitialized;
    s.reply.gpu = exported->gpu;
    s.reply.address = part.base + exported->at;
    GpuAllocation& a = s.client.allocations[s.reply.address];
    if (a.block == nullptr) {
        a.block = block;
        a.at = exported->at;
        a.bytes = exported->bytes;
        a.gpu = exported->gpu;
        a.id = ++s.host.last_number;
    }
    ++a.opened;
    const int result = show_block(s, block);
    if (result != kGpuSuccess && --a.opened == 0) s.client.allocations.erase(s.reply.address);
    return result;
}

int gpu_ipc_close(GpuRequestScope& s) {
    const auto it = s.client.allocations.find(s.request.address);
    if (it == s.client.allocations.end() || it->second.opened == 0) return kGpuInvalidValue;
    s.reply.gpu = it->second.gpu;
    if (--it->second.opened != 0) return kGpuSuccess;
    const auto block = it->second.block;
    s.client.allocations.erase(it);
    for (const auto& [address, other] : s.client.allocations)
        if (other.block == block) return kGpuSuccess;
    s.reply.handle = block->at();
    s.reply.bytes = block->bytes();
    s.client.seen_blocks.erase(block.get());
    return kGpuSuccess;
}

int gpu_ipc_export_event(GpuRequestScope& s) {
    const auto it = s.client.events.find(s.request.handle);
    if (it == s.client.events.end()) return kGpuInvalidHandle;
    if ((it->second->flags & kGpuEventInterprocess) == 0) return kGpuInvalidHandle;
    if (s.host.exported.size() >= kMostExports) return kGpuOutOfMemory;
    GpuHost::Exported exported;
    exported.event = it->second;
    exported.gpu = it->second->gpu;
    give_token(s, kEventToken, std::move(exported));
    return kGpuSuccess;
}

int gpu_ipc_open_event(GpuRequestScope& s) {
    const GpuHost::Exported* exported = find_token(s, kEventToken);
    auto event = exported == nullptr ? nullptr : exported->event.lock();
    if (event == nullptr) return kGpuInvalidValue;
    if (exported->process == s.call.client.process) return kGpuInvalidContext;
    s.reply.gpu = event->gpu;
    s.reply.handle = ++s.host.last_number;
    s.client.events[s.reply.handle] = std::move(event);
    return kGpuSuccess;
}

/// The descriptor stands for the memory and shows none of it: an empty file of its size, known by its inode.
int gpu_dma_buf_export(GpuRequestScope& s) {
    constexpr uint64_t kHostPage = 4096;
    if (!s.host.config().dma_buf) return kGpuNotSupported;
    const GpuAllocation* a = s.client.find(s.request.address, s.request.bytes);
    const bool whole_pages = s.request.address % kHostPage == 0 && s.request.bytes % kHostPage == 0;
    // A range may end behind the allocation, in its last page.
    if (a == nullptr && s.request.bytes > 0) a = s.client.find(s.request.address, 1);
    if (a == nullptr || !whole_pages || s.request.bytes == 0) return kGpuInvalidValue;
    const uint64_t at = s.request.address - s.client.parts[a->gpu].base;
    if (s.request.bytes > a->block->at() + a->block->bytes() - at) return kGpuInvalidValue;
    UniqueFd file(::memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.valid() || s.host.dma_bufs.size() >= kMostExports) return kGpuOutOfMemory;
    if (::ftruncate(file.get(), static_cast<off_t>(s.request.bytes)) != 0) return kGpuOutOfMemory;
    (void)::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    struct stat status {};
    UniqueFd copy(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (::fstat(file.get(), &status) != 0 || !copy.valid()) return kGpuOutOfMemory;
    s.host.dma_bufs[{status.st_dev, status.st_ino}] = {
        std::move(file), HeldDescriptor(s.call.client.held_descriptors), s.call.client.process, a->block, a->gpu, at,
        s.request.bytes};
    s.call.fds.push_back(std::move(copy));
    return kGpuSuccess;
}

int gpu_pin(GpuRequestScope& s) {
    if ((s.host.modules() & kModuleGdrdrv) == 0) return ENODEV;
    const GpuAllocation* a = s.client.find(s.request.address, std::max<uint64_t>(s.request.bytes, 1));
    if (a == nullptr || s.request.bytes == 0) {
        s.call.lab.explain(s.call.client,
                           "gdr_pin_buffer: the range is not inside of one allocation of GPU memory of this process.");
        return EINVAL;
    }
    if (s.client.pins.size() >= kMostPins) return ENOMEM;
    const uint64_t base = s.client.parts[a->gpu].base;
    const uint64_t first = s.request.address / kPinPage * kPinPage;
    const uint64_t end = (s.request.address + s.request.bytes + kPinPage - 1) / kPinPage * kPinPage;
    uint64_t pinned = end - first;
    for (const auto& [handle, pin] : s.client.pins) pinned += pin.gpu == a->gpu ? pin.bytes : 0;
    if (pinned > s.host.config().gpus[a->gpu].info.bar1_bytes) {
        s.call.lab.explain(
            s.call.client,
            "gdr_pin_buffer: the GPU's BAR1 window is full (nvidia-smi -q shows its size). Unpin what is "
            "not needed, or pin less.");
        return ENOMEM;
    }
    s.reply.handle = ++s.host.last_number;
    s.reply.address = first;
    s.reply.bytes = end - first;
    s.reply.gpu = a->gpu;
    s.client.pins[s.reply.handle] = {a->block, first, first - base, end - first, a->gpu, false};
    return 0;
}

int gpu_unpin(GpuRequestScope& s) {
    return s.client.pins.erase(s.request.handle) != 0 ? 0 : EINVAL;
}

int gpu_pin_info(GpuRequestScope& s) {
    const GpuPin* pin = find_pin(s);
    if (pin == nullptr) return EINVAL;
    // Who freed the memory, its allocation has gone; the pin still holds the block.
    bool allocated = false;
    for (const auto& [address, a] : s.client.allocations) allocated = allocated || a.block == pin->block;
    s.reply.flags = allocated ? 0 : 1;
    s.reply.address = pin->address;
    s.reply.bytes = pin->bytes;
    s.reply.gpu = pin->gpu;
    return 0;
}

int gpu_pin_map(GpuRequestScope& s) {
    GpuPin* pin = find_pin(s);
    if (pin == nullptr) return EINVAL;
    if (pin->mapped) return EAGAIN;
    UniqueFd file = pin->block->file();
    if (!file.valid()) return ENOMEM;
    pin->mapped = true;
    s.client.looks_at_gpus = true;
    s.reply.value = pin->at - pin->block->at();
    s.reply.bytes = pin->bytes;
    s.call.fds.push_back(std::move(file));
    return 0;
}

int gpu_pin_unmap(GpuRequestScope& s) {
    GpuPin* pin = find_pin(s);
    if (pin == nullptr || !pin->mapped) return EINVAL;
    pin->mapped = false;
    return 0;
}

int gpu_pin_store(GpuRequestScope& s) {
    return access_window(s, &host::HostComplex::cpu_store);
}

int gpu_pin_load(GpuRequestScope& s) {
    return access_window(s, &host::HostComplex::cpu_load);
}

int gpu_modules(GpuRequestScope& s) {
    s.reply.flags = s.host.modules();
    return kGpuSuccess;
}

int gpu_module_load(GpuRequestScope& s) {
    if (s.request.flags != kModulePeermem && s.request.flags != kModuleGdrdrv) return kGpuInvalidValue;
    s.host.modules() |= s.request.flags;
    return kGpuSuccess;
}

int gpu_module_unload(GpuRequestScope& s) {
    if (s.request.flags != kModulePeermem && s.request.flags != kModuleGdrdrv) return kGpuInvalidValue;
    s.host.modules() &= ~s.request.flags;
    return kGpuSuccess;
}

}  // namespace simverbs::server
