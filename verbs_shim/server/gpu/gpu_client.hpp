// What one program has on its host's GPUs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/server/gpu/gpu_memory.hpp"
#include "verbs_shim/server/gpu/gpu_queue.hpp"

namespace simverbs::server {

/// A block that small allocations share.
struct GpuSlab {
    static constexpr uint64_t kGrain = 512;  ///< allocations are aligned to it
    std::shared_ptr<GpuBlock> block;
    RangeAllocator ranges{GpuMemory::kGrain, kGrain};
};

struct GpuAllocation {
    std::shared_ptr<GpuBlock> block;
    std::shared_ptr<GpuSlab> slab;  ///< null: the block is its own, or another process's
    uint64_t at = 0, bytes = 0;     ///< in the GPU's memory
    uint64_t id = 0;
    uint32_t gpu = 0;
    uint32_t opened = 0;  ///< how often, by IPC handle; 0: it is the process's own
};

struct GpuPin {
    std::shared_ptr<GpuBlock> block;
    uint64_t address = 0, at = 0, bytes = 0;
    uint32_t gpu = 0;
    bool mapped = false;
};

/// A program's part of one GPU.
struct GpuPart {
    uint64_t base = 0;  ///< where the process has reserved addresses; 0: it has not
    std::vector<std::shared_ptr<GpuSlab>> slabs;
    uint32_t peers = 0;  ///< bit n: access to GPU n was enabled
    std::shared_ptr<GpuStream> legacy;
};

struct GpuClient {
    std::vector<GpuPart> parts;
    std::map<uint64_t, GpuAllocation> allocations;                 ///< by address in the process
    std::map<uint64_t, std::pair<uint64_t, uint32_t>> registered;  ///< host memory: begin → bytes, GpuHostFlag
    std::map<uint64_t, std::shared_ptr<GpuStream>> streams;
    std::map<uint64_t, std::shared_ptr<GpuEvent>> events;
    std::map<uint64_t, GpuPin> pins;
    std::set<const GpuBlock*> seen_blocks;  ///< that are mapped in the process
    std::deque<uint64_t> ready_functions;   ///< whose turn has come
    std::map<uint64_t, std::shared_ptr<GpuStream>> running_functions;
    uint64_t key = 0;            ///< shared object, bumped whenever a wait of the process may be over
    bool looks_at_gpus = false;  ///< its CPUs may read and write GPU memory: pins, host functions

    /// The allocation that holds all of [address, address + bytes), or nullptr.
    [[nodiscard]] const GpuAllocation* find(uint64_t address, uint64_t bytes) const {
        auto it = allocations.upper_bound(address);
        if (it == allocations.begin()) return nullptr;
        --it;
        const uint64_t offset = address - it->first;
        return offset < it->second.bytes && bytes <= it->second.bytes - offset ? &it->second : nullptr;
    }
    /// The registered host range that holds the address, or end.
    [[nodiscard]] auto registration_at(uint64_t address) const {
        auto it = registered.upper_bound(address);
        if (it == registered.begin()) return registered.end();
        --it;
        return address - it->first < it->second.first ? it : registered.end();
    }
};

}  // namespace simverbs::server
