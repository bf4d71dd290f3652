// The memory of live processes, as DMA reaches it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/host/host_memory.hpp"
#include "verbs_shim/server/live_segments.hpp"
#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

/// An address space is a process of the lab. Where its memory is shared (live_segments.hpp), bytes are copied directly.
/// Elsewhere they are moved with process_vm_readv/writev and, where pages are inaccessible to the process itself
/// (memory spinning) or the call is forbidden, through /proc/<pid>/mem.
class LiveMemory final : public host::HostMemory {
  public:
    void add_space(host::AddressSpaceId space, pid_t pid);
    void remove_space(host::AddressSpaceId space);

    bool read(host::AddressSpaceId space, uint64_t va, std::span<uint8_t> out) override;
    bool write(host::AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) override;
    bool copy(host::AddressSpaceId from, uint64_t from_va, host::AddressSpaceId to, uint64_t to_va,
              uint64_t bytes) override;

    /// Maps a memfd of the space's process that lies at [va, va + length) there; false if it is not fit to be shared.
    bool share(host::AddressSpaceId space, uint32_t segment, uint64_t va, uint64_t length, int memfd);
    /// A segment is used as long as somebody holds it. False if there is none of that number.
    bool hold_segment(host::AddressSpaceId space, uint32_t segment);
    void release_segment(host::AddressSpaceId space, uint32_t segment);
    /// The process has other memory there now, whoever holds the segment.
    void forget_segment(host::AddressSpaceId space, uint32_t segment);
    /// The same for all that overlap the range, but for `segment`.
    void forget_others(host::AddressSpaceId space, uint64_t va, uint64_t length, uint32_t segment);

    /// Memory of a device, which is nobody's process: nothing but its blocks can be reached. The files are our own.
    void add_device_space(host::AddressSpaceId space);
    bool add_device_block(host::AddressSpaceId space, uint64_t at, uint64_t length, int memfd);
    void remove_device_block(host::AddressSpaceId space, uint64_t at);

    struct Counts {
        uint64_t reads = 0, read_bytes = 0, writes = 0, written_bytes = 0;
    };
    /// What was moved from and to a space so far.
    [[nodiscard]] Counts counts(host::AddressSpaceId space) const;

  private:
    struct Space {
        pid_t pid = 0;
        bool device = false;
        UniqueFd mem;  ///< /proc/<pid>/mem, opened when first needed
        bool vm_calls_work = true;
        LiveSegments segments;
        Counts counts;
        [[nodiscard]] bool reachable() const noexcept { return pid != 0 || device; }
    };
    Space* find(host::AddressSpaceId space);
    static bool open_mem(Space& space);
    // Without counting; [va, va + size) of the first two may be shared in parts, of the others not at all.
    static bool get(Space& space, uint64_t va, std::span<uint8_t> out);
    static bool put(Space& space, uint64_t va, std::span<const uint8_t> in);
    static bool get_by_kernel(Space& space, uint64_t va, std::span<uint8_t> out);
    static bool put_by_kernel(Space& space, uint64_t va, std::span<const uint8_t> in);
    bool copy_through_bounce(Space& from, uint64_t from_va, Space& to, uint64_t to_va, uint64_t bytes);

    std::unordered_map<host::AddressSpaceId, Space> spaces_;
    std::vector<uint8_t> bounce_;
};

}  // namespace simverbs::server
