// Work for GPUs: streams, what waits in them, events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "models/host/host_complex.hpp"
#include "models/host/payload_mover.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::server {

struct GpuStream;

/// A point in a stream: reached when all of its first `count` works are done.
struct GpuPoint {
    std::shared_ptr<GpuStream> stream;
    uint64_t count = 0;
};

/// An event as processes share it: the point that was recorded last.
struct GpuEvent {
    uint32_t gpu = 0, flags = 0;
    GpuPoint point;        ///< no stream: never recorded
    sim::SimTime reached;  ///< when the GPU came to the point, if it has
    sim::SimTime visible;  ///< when software can know it
};

/// One end of a copy.
struct GpuPlace {
    host::AddressSpaceId space = 0;
    host::MemoryId memory = host::kNearestMemory;
    uint64_t at = 0;
    bool is_host = false;
    bool pinned = false;           ///< host memory that the GPU reaches by itself
    std::shared_ptr<void> holder;  ///< of the memory, until the copy is over
};

enum class GpuWorkKind : uint8_t { Copy, Fill, Record, HostFunction, Nothing };

struct GpuWork {
    GpuWorkKind kind = GpuWorkKind::Nothing;
    std::vector<GpuPoint> after;
    // Copy, Fill
    GpuPlace from, to;
    uint64_t bytes = 0, rows = 1, from_pitch = 0, to_pitch = 0;
    host::StreamId payload = wire::kNoStream;  ///< held from the time when the source is read
    std::vector<uint8_t> pattern;
    // Record
    std::shared_ptr<GpuEvent> event;
    // HostFunction
    uint64_t function = 0;

    uint8_t engine = 0;
    bool started = false;
    sim::SimTime began;
};

/// Works in order. The front ones may have started: several copies of one engine, or one of anything else.
struct GpuStream {
    uint64_t id = 0;
    uint32_t gpu = 0, process = 0;
    uint64_t number = 0;  ///< order of making
    bool blocking = true, legacy = false;
    std::deque<GpuWork> works;
    size_t started = 0;
    uint64_t submitted = 0, done = 0;
    sim::SimTime reached, visible;  ///< of the last work that is done
    /// Who wants to know: process → the number of works.
    std::map<uint32_t, uint64_t> waiters;
    bool released = false;  ///< its program has destroyed it: what it has been given is still done
    bool ended = false;     ///< its process is gone
};

}  // namespace simverbs::server
