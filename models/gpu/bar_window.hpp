// What a CPU's copies through a GPU's BAR1 window cost (GDRCopy): write-combined stores, uncached loads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace simverbs::gpu {

/// A write-combining buffer leaves the CPU as one TLP of this size; a streaming load fetches as much.
inline constexpr uint32_t kLineBytes = 64;

/// Hundredths of a load's round trip that gdr_copy_from_mapping takes for 2^n bytes: what the sequence of loads of its
/// copy loop (1…16 bytes each, streaming from 512 bytes on) adds up to. Uncached loads wait for each other, streaming
/// ones overlap up to about eight. Source: NVIDIA/gdrcopy README, gdrcopy_copylat on a Tesla V100 of a DGX-1V; one load
/// (16 bytes) takes 0.8601 us there.
inline constexpr std::array<uint32_t, 25> kLoadTrips = {{
    105,     200,     200,     200,       100,        // 1 … 16 B
    198,     361,     406,     423,       284,        // 32 … 512 B
    326,     542,     928,     1'735,     3'367,      // 1 … 16 KiB
    6'620,   13'266,  27'315,  57'714,    114'582,    // 32 … 512 KiB
    229'125, 458'384, 917'212, 2'134'817, 4'273'786,  // 1 … 16 MiB
}};

/// The same for any size: straight lines between the powers of two, and beyond them.
[[nodiscard]] constexpr uint64_t load_trips(uint64_t bytes) noexcept {
    if (bytes <= 1) return kLoadTrips[0];
    constexpr size_t kLast = kLoadTrips.size() - 1;
    const auto n = static_cast<size_t>(std::bit_width(bytes) - 1);
    if (n >= kLast)
        return kLoadTrips[kLast] * (bytes >> kLast) +
               kLoadTrips[kLast] * (bytes & ((1ULL << kLast) - 1)) / (1ULL << kLast);
    const uint64_t base = 1ULL << n;
    const int64_t step = static_cast<int64_t>(kLoadTrips[n + 1]) - static_cast<int64_t>(kLoadTrips[n]);
    return static_cast<uint64_t>(static_cast<int64_t>(kLoadTrips[n]) +
                                 step * static_cast<int64_t>(bytes - base) / static_cast<int64_t>(base));
}

}  // namespace simverbs::gpu
