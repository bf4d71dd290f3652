// The memory of one simulated GPU: blocks of real memory, each shared with the programs that may see it.
#pragma once

#include <cstdint>
#include <memory>

#include "models/host/host_complex.hpp"
#include "models/host/payload_mover.hpp"
#include "verbs_shim/server/client.hpp"
#include "verbs_shim/server/live_memory.hpp"
#include "verbs_shim/server/range_allocator.hpp"

namespace simverbs::server {

class GpuMemory;

/// A range of a GPU's memory with a file of its own behind it, so that who may see one block sees no other. It is given
/// back when nobody names it any more: owners, importers, memory regions, pins.
class GpuBlock {
  public:
    GpuBlock(std::shared_ptr<GpuMemory> memory, uint64_t at, uint64_t bytes, UniqueFd file, HeldDescriptor held)
        : memory_(std::move(memory)), at_(at), bytes_(bytes), file_(std::move(file)), held_(std::move(held)) {}
    GpuBlock(const GpuBlock&) = delete;
    GpuBlock& operator=(const GpuBlock&) = delete;
    ~GpuBlock();

    [[nodiscard]] uint64_t at() const noexcept { return at_; }  ///< offset in the GPU's memory
    [[nodiscard]] uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const GpuMemory& memory() const noexcept { return *memory_; }
    /// A descriptor of the file, for a process.
    [[nodiscard]] UniqueFd file() const;

  private:
    std::shared_ptr<GpuMemory> memory_;
    uint64_t at_, bytes_;
    UniqueFd file_;
    HeldDescriptor held_;
};

class GpuMemory : public std::enable_shared_from_this<GpuMemory> {
  public:
    static constexpr uint64_t kGrain = uint64_t{2} << 20;  ///< of blocks, as large as a GPU's large pages

    GpuMemory(LiveMemory& live, host::AddressSpaceId space, uint32_t gpu, uint64_t bytes);

    /// For `owner`, who pays for the descriptor. Null: no range, or no more descriptors, are left.
    std::shared_ptr<GpuBlock> make_block(const Client& owner, uint64_t bytes);
    [[nodiscard]] host::AddressSpaceId space() const noexcept { return space_; }
    [[nodiscard]] uint32_t gpu() const noexcept { return gpu_; }  ///< number on its host
    [[nodiscard]] uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] uint64_t free_bytes() const noexcept { return ranges_.free_bytes(); }
    /// Whose writes are still on their way to a block that ends; nullptr: nobody's.
    void set_mover(host::PayloadMover* mover) noexcept { mover_ = mover; }

  private:
    friend class GpuBlock;
    LiveMemory* live_;
    host::PayloadMover* mover_ = nullptr;
    host::AddressSpaceId space_;
    uint32_t gpu_;
    uint64_t bytes_;
    RangeAllocator ranges_;
};

}  // namespace simverbs::server
