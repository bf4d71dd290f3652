// What one worker thread of the engine owns. Private to the engine.
#pragma once

#include <vector>

#include "sim/activity.hpp"
#include "sim/engine.hpp"
#include "sim/link_ring.hpp"
#include "sim/trace/trace_sink.hpp"

namespace simverbs::sim {

struct alignas(64) Engine::Partition {
    Activity activity;
    std::vector<NodeId> to_run;  ///< of the window that is being run
    std::vector<TraceRecord> trace;
    std::vector<std::vector<ChannelBase*>> outbox;  ///< by the consumer's partition: channels with staged items
};

}  // namespace simverbs::sim
