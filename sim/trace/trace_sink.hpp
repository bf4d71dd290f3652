// Where traced events go. Handed to the engine; there is no global one.
#pragma once

#include <cstdint>
#include <span>

#include "sim/event_key.hpp"

namespace simverbs::sim {

/// One traced event. `kind`, `a` and `b` mean what the emitting component says.
struct TraceRecord {
    EventKey key;
    uint32_t kind = 0;
    uint64_t a = 0;
    uint64_t b = 0;
};

/// Receives the records of each window sorted by key; records with equal keys keep the order of their emission. The
/// whole sequence is independent of windows and threads. Called between windows, on one thread.
class TraceSink {
  public:
    virtual ~TraceSink() = default;
    virtual void on_records(std::span<const TraceRecord> records) = 0;
};

}  // namespace simverbs::sim
