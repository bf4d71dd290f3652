// Blocks of GPU memory in this process: mapped where their addresses say, without access.
#include <sys/mman.h>

#include <cstdlib>

#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::gpu {

using namespace protocol;

namespace {

struct Block {
    uint64_t address = 0, bytes = 0;
    Block* next = nullptr;
};
Block* g_blocks = nullptr;
verbs::Lock g_blocks_lock;

void protect(int protection) {
    const verbs::Guard guard(g_blocks_lock);
    for (const Block* b = g_blocks; b != nullptr; b = b->next)
        raw_syscall(SYS_mprotect, static_cast<long>(b->address), static_cast<long>(b->bytes), protection);
}

/// The reply names a block; if a descriptor came with it, the process has not mapped it yet.
int note_block(const GpuReply& reply, int fd) {
    if (fd < 0) return kGpuSuccess;
    const uint64_t address = base_of(reply.gpu) + reply.handle;
    const long at = raw_syscall(SYS_mmap, static_cast<long>(address), static_cast<long>(reply.bytes), PROT_NONE,
                                MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
    raw_syscall(SYS_close, fd);
    auto* const block = static_cast<Block*>(std::calloc(1, sizeof(Block)));
    if (at != static_cast<long>(address) || block == nullptr) return kGpuOutOfMemory;
    const verbs::Guard guard(g_blocks_lock);
    *block = {address, reply.bytes, g_blocks};
    g_blocks = block;
    return kGpuSuccess;
}

void forget_block(const GpuReply& reply) {
    if (reply.bytes == 0) return;
    const uint64_t address = base_of(reply.gpu) + reply.handle;
    const verbs::Guard guard(g_blocks_lock);
    for (Block** b = &g_blocks; *b != nullptr; b = &(*b)->next) {
        if ((*b)->address != address) continue;
        Block* const gone = *b;
        *b = gone->next;
        raw_syscall(SYS_mmap, static_cast<long>(gone->address), static_cast<long>(gone->bytes), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        std::free(gone);
        return;
    }
}

/// A request whose reply names a block that is this process's from now on.
int open_block(GpuRequest& r, uint64_t* address) {
    GpuReply reply;
    int fd = -1;
    if (const int result = request(&r, &reply, &fd)) return result;
    const turn::InShim in_shim;
    if (const int result = note_block(reply, fd)) return result;
    *address = reply.address;
    return kGpuSuccess;
}

/// A request that gives back what an address was given for.
int close_block(GpuCall call, uint64_t address) {
    GpuRequest r;
    GpuReply reply;
    r.call = call;
    r.address = address;
    if (const int result = request(&r, &reply, nullptr)) return result;
    const turn::InShim in_shim;
    forget_block(reply);
    return kGpuSuccess;
}

}  // namespace

int alloc(uint32_t gpu, uint64_t bytes, uint64_t* address) noexcept {
    GpuRequest r;
    r.call = GpuCall::Alloc;
    r.gpu = gpu;
    r.bytes = bytes;
    return open_block(r, address);
}

int free(uint64_t address) noexcept {
    return close_block(GpuCall::Free, address);
}

int ipc_open(uint32_t gpu, const uint8_t* token, uint64_t* address) noexcept {
    GpuRequest r;
    r.call = GpuCall::IpcOpen;
    r.gpu = gpu;
    __builtin_memcpy(r.token, token, sizeof r.token);
    return open_block(r, address);
}

int ipc_close(uint64_t address) noexcept {
    return close_block(GpuCall::IpcClose, address);
}

int host_alloc(uint64_t bytes, uint32_t flags, uint64_t* address) noexcept {
    if (const int result = open()) return result;
    constexpr uint64_t kPage = 4096;
    const uint64_t length = (bytes + kPage - 1) / kPage * kPage;
    if (bytes == 0 || length < bytes) return kGpuInvalidValue;
    void* const at = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return kGpuOutOfMemory;
    GpuRequest r;
    GpuReply reply;
    r.call = GpuCall::HostRegister;
    r.address = reinterpret_cast<uint64_t>(at);
    r.bytes = length;
    r.flags = flags | kGpuHostAllocated;
    const int result = request(&r, &reply, nullptr);
    if (result != kGpuSuccess)
        ::munmap(at, length);
    else
        *address = r.address;
    return result;
}

int host_free(uint64_t address) noexcept {
    GpuRequest r;
    GpuReply reply;
    r.call = GpuCall::HostUnregister;
    r.address = address;
    const int result = request(&r, &reply, nullptr);
    if (result != kGpuSuccess) return result == kGpuHostMemoryNotRegistered ? kGpuInvalidValue : result;
    if ((reply.flags & kGpuHostAllocated) != 0) ::munmap(reinterpret_cast<void*>(address), reply.bytes);
    return kGpuSuccess;
}

void* map(int fd, uint64_t offset, uint64_t bytes) noexcept {
    const long at = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                static_cast<long>(offset));
    raw_syscall(SYS_close, fd);
    return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(at);
}

void unmap(void* at, uint64_t bytes) noexcept {
    raw_syscall(SYS_munmap, reinterpret_cast<long>(at), static_cast<long>(bytes));
}

void open_memory() noexcept {
    protect(PROT_READ | PROT_WRITE);
}

void close_memory() noexcept {
    protect(PROT_NONE);
}

}  // namespace simverbs::client::gpu
