// The code that stands in for an rdtsc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::clock {

inline constexpr size_t kStubBytes = 64;
/// Of the instruction behind the rdtsc; the longest that displaceable_length() knows has 8.
inline constexpr size_t kMaxDisplaced = 9;

/// False if the processor cannot save what the stub must save.
bool stubs_work();

/// Writes to `out` the stub that will lie at `address`, for the rdtsc at `site` and the `displaced` bytes behind it.
/// Returns the offset of the displaced instruction in it.
size_t write_stub(uint8_t* out, uintptr_t address, const uint8_t* site, size_t displaced);

}  // namespace simverbs::client::clock
