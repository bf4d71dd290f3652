// The bytes behind a DMA: whose memory it is, and how it is read and written.
#pragma once

#include <cstdint>
#include <span>

namespace simverbs::host {

/// An address space that DMA can reach: one process of a simulated host (or a test's buffer). Dense, chosen by the
/// driver.
using AddressSpaceId = uint32_t;

/// The space of null memory regions: reads as zeros, what is written vanishes. No driver gives this number away.
inline constexpr AddressSpaceId kNullSpace = 0xFFFFFFFF;

/// Real memory behind simulated DMA. Implemented by the shim's server (memory of live processes) and by tests.
/// Called once per coalesced range, never per packet. Both return false if any byte of the range cannot be reached
/// (unmapped, process gone); nothing may be assumed about a partial transfer then.
class HostMemory {
  public:
    virtual ~HostMemory() = default;
    virtual bool read(AddressSpaceId space, uint64_t va, std::span<uint8_t> out) = 0;
    virtual bool write(AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) = 0;
    /// Copies between two address spaces. Implementations with shared mappings do it in one copy.
    virtual bool copy(AddressSpaceId from, uint64_t from_va, AddressSpaceId to, uint64_t to_va, uint64_t bytes) = 0;
};

}  // namespace simverbs::host
