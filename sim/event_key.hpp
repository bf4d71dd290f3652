// Keys that order events: (time, phase, source). There is never an insertion counter.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/event_phase.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Logical source of an event, the same in every partitioning: a directed port, or a QP and timer kind. Each source has
/// at most one pending event, so (time, phase, source) is a total order.
using SourceId = uint64_t;

/// The full key, for slow paths (event lists, traces).
struct EventKey {
    SimTime time;
    EventPhase phase = EventPhase::Deliver;
    SourceId source = 0;
    constexpr auto operator<=>(const EventKey&) const noexcept = default;
};

/// Key within one node and one window: time since window start (20 bits, ps) | phase (3) | local source (9).
/// Local sources must be numbered in the order of their SourceIds.
using LocalKey = uint32_t;
inline constexpr int kLocalTimeBits = 20;
inline constexpr int kLocalPhaseBits = 3;
inline constexpr int kLocalSourceBits = 9;
inline constexpr uint32_t kMaxLocalSources = 1U << kLocalSourceBits;
/// No event. Later than every key, as no source number is all ones in the last picosecond's last phase.
inline constexpr LocalKey kNoEvent = 0xFFFFFFFF;
/// Longest window that a LocalKey can express.
inline constexpr SimTime kMaxWindow = SimTime::ps(1 << kLocalTimeBits);

constexpr LocalKey local_key(SimTime since_start, EventPhase phase, uint32_t source) noexcept {
    return (static_cast<uint32_t>(since_start.in_ps()) << (kLocalPhaseBits + kLocalSourceBits)) |
           (static_cast<uint32_t>(phase) << kLocalSourceBits) | source;
}
constexpr SimTime local_key_time(LocalKey key) noexcept {
    return SimTime::ps(key >> (kLocalPhaseBits + kLocalSourceBits));
}
constexpr EventPhase local_key_phase(LocalKey key) noexcept {
    return static_cast<EventPhase>((key >> kLocalSourceBits) & ((1U << kLocalPhaseBits) - 1));
}
constexpr uint32_t local_key_source(LocalKey key) noexcept {
    return key & (kMaxLocalSources - 1);
}

}  // namespace simverbs::sim
