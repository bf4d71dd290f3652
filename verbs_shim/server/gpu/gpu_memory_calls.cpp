// Memory of GPUs and host memory that they know.
#include <algorithm>

#include "verbs_shim/server/gpu/gpu_calls.hpp"

namespace simverbs::server {

using namespace protocol;

namespace {

/// Allocations up to this size share blocks.
constexpr uint64_t kMostSmall = uint64_t{1} << 20;
constexpr size_t kMostEntries = size_t{1} << 20;  ///< of each table of a program

GpuAllocation small_allocation(GpuRequestScope& s) {
    GpuAllocation a;
    const uint64_t bytes = s.request.bytes;
    for (const auto& slab : s.part().slabs) {
        if (const auto at = slab->ranges.take(bytes)) {
            a.block = slab->block;
            a.slab = slab;
            a.at = slab->block->at() + *at;
            return a;
        }
    }
    auto block = s.host.memory(s.request.gpu).make_block(s.call.client, GpuMemory::kGrain);
    if (block == nullptr) return a;
    auto slab = std::make_shared<GpuSlab>();
    slab->block = block;
    s.part().slabs.push_back(slab);
    a.at = block->at() + *slab->ranges.take(bytes);
    a.block = std::move(block);
    a.slab = std::move(slab);
    return a;
}

}  // namespace

uint32_t gpu_of_address(const GpuClient& client, const GpuHost& host, uint64_t address) {
    for (uint32_t gpu = 0; gpu < client.parts.size(); ++gpu) {
        const uint64_t base = client.parts[gpu].base;
        if (base != 0 && address >= base && address - base < host.config().gpus[gpu].info.bytes) return gpu;
    }
    return kNoItem;
}

int show_block(GpuRequestScope& s, const std::shared_ptr<GpuBlock>& block) {
    s.reply.handle = block->at();
    s.reply.bytes = block->bytes();
    if (s.client.seen_blocks.contains(block.get())) return kGpuSuccess;
    UniqueFd file = block->file();
    if (!file.valid()) return kGpuOutOfMemory;
    s.client.seen_blocks.insert(block.get());
    s.call.fds.push_back(std::move(file));
    return kGpuSuccess;
}

int gpu_place(GpuRequestScope& s) {
    const uint64_t base = s.request.address, bytes = s.host.config().gpus[s.request.gpu].info.bytes;
    uint64_t end = 0;
    if (s.part().base != 0 || base == 0 || base % GpuMemory::kGrain != 0 || __builtin_add_overflow(base, bytes, &end))
        return kGpuInvalidValue;
    for (uint32_t gpu = 0; gpu < s.client.parts.size(); ++gpu) {
        const uint64_t other = s.client.parts[gpu].base;
        if (other != 0 && base < other + s.host.config().gpus[gpu].info.bytes && other < end) return kGpuInvalidValue;
    }
    s.part().base = base;
    return kGpuSuccess;
}

int gpu_memory_info(GpuRequestScope& s) {
    s.reply.bytes = s.host.memory(s.request.gpu).free_bytes();
    s.reply.value = s.host.memory(s.request.gpu).bytes();
    return kGpuSuccess;
}

int gpu_alloc(GpuRequestScope& s) {
    if (s.part().base == 0) return kGpuNotInitialized;
    if (s.request.bytes == 0) return kGpuInvalidValue;
    if (s.client.allocations.size() >= kMostEntries) return kGpuOutOfMemory;
    GpuAllocation a;
    if (s.request.bytes <= kMostSmall) {
        a = small_allocation(s);
    } else {
        a.block = s.host.memory(s.request.gpu).make_block(s.call.client, s.request.bytes);
        if (a.block != nullptr) a.at = a.block->at();
    }
    if (a.block == nullptr) return kGpuOutOfMemory;
    a.bytes = s.request.bytes;
    a.gpu = s.request.gpu;
    a.id = ++s.host.last_number;
    s.reply.address = s.part().base + a.at;
    const int result = show_block(s, a.block);
    if (result != kGpuSuccess) {
        if (a.slab != nullptr) a.slab->ranges.give(a.at - a.block->at(), a.bytes);
        return result;
    }
    s.client.allocations[s.reply.address] = std::move(a);
    return kGpuSuccess;
}

/// As on a real device it waits for all work first; the client has asked for that before.
int gpu_free(GpuRequestScope& s) {
    const auto it = s.client.allocations.find(s.request.address);
    if (it == s.client.allocations.end() || it->second.opened != 0) return kGpuInvalidValue;
    const GpuAllocation& a = it->second;
    s.reply.gpu = a.gpu;
    if (a.slab != nullptr) {
        a.slab->ranges.give(a.at - a.block->at(), a.bytes);
    } else {
        // The process forgets the block: handle and bytes say which.
        s.reply.handle = a.block->at();
        s.reply.bytes = a.block->bytes();
        s.client.seen_blocks.erase(a.block.get());
    }
    s.client.allocations.erase(it);
    return kGpuSuccess;
}

int gpu_host_register(GpuRequestScope& s) {
    uint64_t end = 0;
    const uint64_t begin = s.request.address, bytes = s.request.bytes;
    if (bytes == 0 || __builtin_add_overflow(begin, bytes, &end)) return kGpuInvalidValue;
    if (s.client.registered.size() >= kMostEntries) return kGpuOutOfMemory;
    const auto next = s.client.registered.lower_bound(begin);
    const bool overlaps_next = next != s.client.registered.end() && next->first < end;
    if (overlaps_next || s.client.registration_at(begin) != s.client.registered.end())
        return kGpuHostMemoryAlreadyRegistered;
    s.client.registered[begin] = {bytes, s.request.flags};
    return kGpuSuccess;
}

int gpu_host_unregister(GpuRequestScope& s) {
    const auto it = s.client.registered.find(s.request.address);
    if (it == s.client.registered.end()) return kGpuHostMemoryNotRegistered;
    s.reply.bytes = it->second.first;
    s.reply.flags = it->second.second;
    s.client.registered.erase(it);
    return kGpuSuccess;
}

int gpu_pointer(GpuRequestScope& s) {
    if (const GpuAllocation* a = s.client.find(s.request.address, 1)) {
        s.reply.flags = kGpuDeviceMemory;
        s.reply.gpu = a->gpu;
        s.reply.handle = s.client.parts[a->gpu].base + a->at;
        s.reply.bytes = a->bytes;
        s.reply.value = a->id;
        return kGpuSuccess;
    }
    const auto it = s.client.registration_at(s.request.address);
    if (it == s.client.registered.end()) {
        s.reply.flags = kGpuUnregistered;
        return gpu_of_address(s.client, s.host, s.request.address) == kNoItem ? kGpuSuccess : kGpuInvalidValue;
    }
    s.reply.flags = (it->second.second & kGpuHostManaged) != 0 ? kGpuManagedMemory : kGpuHostMemory;
    s.reply.handle = it->first;
    s.reply.bytes = it->second.first;
    return kGpuSuccess;
}

int gpu_peer_enable(GpuRequestScope& s) {
    if (s.request.value >= s.host.size() || s.request.value == s.request.gpu) return kGpuInvalidDevice;
    const uint64_t bit = uint64_t{1} << s.request.value;
    if ((s.host.config().gpus[s.request.gpu].info.peers & bit) == 0) return kGpuPeerAccessUnsupported;
    if ((s.part().peers & bit) != 0) return kGpuPeerAccessAlreadyEnabled;
    s.part().peers |= static_cast<uint32_t>(bit);
    return kGpuSuccess;
}

int gpu_peer_disable(GpuRequestScope& s) {
    if (s.request.value >= s.host.size()) return kGpuInvalidDevice;
    const auto bit = static_cast<uint32_t>(uint64_t{1} << s.request.value);
    if ((s.part().peers & bit) == 0) return kGpuPeerAccessNotEnabled;
    s.part().peers &= ~bit;
    return kGpuSuccess;
}

int gpu_reset(GpuRequestScope& s) {
    std::erase_if(s.client.allocations, [&](const auto& entry) {
        if (entry.second.gpu != s.request.gpu) return false;
        s.client.seen_blocks.erase(entry.second.block.get());
        return true;
    });
    for (const auto& slab : s.part().slabs) s.client.seen_blocks.erase(slab->block.get());
    s.part().slabs.clear();
    s.part().peers = 0;
    std::erase_if(s.client.events, [&](const auto& entry) { return entry.second->gpu == s.request.gpu; });
    std::erase_if(s.client.streams, [&](const auto& entry) {
        if (entry.second->gpu != s.request.gpu) return false;
        entry.second->released = true;
        return true;
    });
    return kGpuSuccess;
}

}  // namespace simverbs::server
